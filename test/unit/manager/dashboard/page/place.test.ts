import { expect, test } from 'vitest';
import { cohortAt, groupIn, parsePlace, takeToken, usageAt } from '../../../../../manager/dashboard/page/place.ts';

test('each page has its address, and a wrong one is lost', () => {
  expect(parsePlace('#/queues')).toEqual({ page: 'queues' });
  expect(parsePlace(cohortAt('a b'))).toEqual({ page: 'queues', cohort: 'a b' });
  expect(parsePlace('#/queues/main')).toEqual({ page: 'queue', name: 'main' });
  expect(parsePlace('#/clusters')).toEqual({ page: 'clusters' });
  expect(parsePlace(usageAt('user', 7))).toEqual({ page: 'usage', by: 'user', days: 7 });
  expect(parsePlace('#/usage')).toEqual({ page: 'usage', by: 'namespace', days: 30 });
  expect(parsePlace('#/nowhere')).toEqual({ page: 'lost', path: '/nowhere' });
});

test('Jobs that all wait are grouped by what they wait for, unless somebody wants it otherwise', () => {
  expect(groupIn({ state: 'Waiting' })).toBe('cause');
  expect(groupIn({ state: 'Waiting,NeverFits', clusterQueue: 'a' })).toBe('cause');
  for (const query of [{}, { state: 'Waiting,Running' }, { state: 'Waiting', cause: 'held' }, { state: 'Waiting', group: 'none' }])
    expect(groupIn(query)).toBe('');
  expect(groupIn({ state: 'Waiting', group: 'user' })).toBe('user');
});

test('a token is taken out of an address', () => {
  expect(takeToken('#/yard?token=a.b-c')).toEqual({ token: 'a.b-c', rest: '#/yard' });
  expect(takeToken('#/jobs?state=Waiting')).toEqual({ token: undefined, rest: '#/jobs?state=Waiting' });
});
