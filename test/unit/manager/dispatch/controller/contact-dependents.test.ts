import { expect, test } from 'vitest';
import { createContactDependents } from '../../../../../manager/dispatch/controller/contact-dependents.ts';

test('a Job is found under each cluster that it depends on, and under no other', () => {
  const dependents = createContactDependents();
  dependents.set('team/a', ['eu-1', 'us-2']);
  dependents.set('team/b', ['eu-1']);
  expect([dependents.of('eu-1'), dependents.of('us-2'), dependents.of('us-3')]).toEqual([['team/a', 'team/b'], ['team/a'], []]);
});

test('what a Job depends on is replaced, and forgotten once it is nothing', () => {
  const dependents = createContactDependents();
  dependents.set('team/a', ['eu-1', 'us-2']);
  dependents.set('team/a', ['us-2', 'us-3']);
  expect([dependents.of('eu-1'), dependents.of('us-2'), dependents.of('us-3')]).toEqual([[], ['team/a'], ['team/a']]);
  dependents.set('team/a', []);
  expect([dependents.of('us-2'), dependents.of('us-3')]).toEqual([[], []]);
});
