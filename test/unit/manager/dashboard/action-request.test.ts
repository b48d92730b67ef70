import { expect, test } from 'vitest';
import { parseActionRequest } from '../../../../manager/dashboard/action-request.ts';

const problemOf = (body: unknown): string => {
  const parsed = parseActionRequest(body);
  return 'problem' in parsed ? parsed.problem : 'none';
};

test('what is to be done is taken where it can only be meant so', () => {
  const hold = { action: 'Hold', jobs: ['team/one', 'team/two'], count: 2 };
  expect(parseActionRequest({ ...hold, more: 1 })).toEqual(hold);
  expect(parseActionRequest({ action: 'Drain', cluster: 'eu-1' })).toEqual({ action: 'Drain', cluster: 'eu-1' });
  expect(problemOf('Hold')).toContain('object');
  expect(problemOf({ action: 'Explode' })).toMatch(/^action:/);
  expect(problemOf({ ...hold, count: 3 })).toMatch(/^count: these are 2/);
  expect(problemOf({ ...hold, jobs: ['team/one', 'team/one'] })).toContain('twice');
  expect(problemOf({ ...hold, jobs: [], count: 0 })).toContain('1 to 1000');
  expect(problemOf({ ...hold, jobs: Array.from({ length: 1_001 }, (_, number) => `a/b${number}`), count: 1_001 })).toContain('1 to 1000');
  for (const job of ['one', '../x/y', 'team/one/two', 'team/One', 7])
    expect(problemOf({ ...hold, jobs: [job], count: 1 })).toMatch(/^jobs:/);
  for (const cluster of [undefined, '', 'a/b', '../x']) expect(problemOf({ action: 'Cordon', cluster })).toMatch(/^cluster:/);
});
