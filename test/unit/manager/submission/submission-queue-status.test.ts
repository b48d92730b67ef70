import { expect, test } from 'vitest';
import type { SubmissionQueueObject } from '../../../../manager/api/submission-queue.ts';
import { submissionQueueStatus, type QueueFacts } from '../../../../manager/submission/submission-queue-status.ts';

const NOW = Date.UTC(2026, 0, 1);
const FACTS: QueueFacts = {
  problem: undefined,
  impersonationProblem: undefined,
  withdrawalProblem: undefined,
  troubles: undefined,
  prefix: 'switchyard:tenant:team',
  backlog: 3,
  parked: 2,
  accepted: 5,
  refused: 1,
};
const object = (status?: SubmissionQueueObject['status']) => ({
  metadata: { namespace: 'team', name: 'batch', uid: 'u', generation: 2 } as SubmissionQueueObject['metadata'],
  ...(status === undefined ? {} : { status }),
});
const told = (facts: Partial<QueueFacts>, status?: SubmissionQueueObject['status'], nowMs = NOW) =>
  submissionQueueStatus(object(status), { ...FACTS, ...facts }, nowMs);

test('a queue from which submissions become Jobs is ready, with its counts', () => {
  expect(told({})).toEqual({
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Serving',
        message: 'Submissions become Jobs.',
        lastTransitionTime: '2026-01-01T00:00:00Z',
        observedGeneration: 2,
      },
    ],
    prefix: 'switchyard:tenant:team',
    backlog: 3,
    parked: 2,
    accepted: 5,
    refused: 1,
  });
});

test.each<[Partial<QueueFacts>, string, string]>([
  [{ problem: { reason: 'PrefixTaken', message: 'x' }, backlog: undefined }, 'False', 'PrefixTaken'],
  [{ impersonationProblem: 'x' }, 'False', 'ImpersonationForbidden'],
  [{ backlog: undefined }, 'Unknown', 'Unreachable'],
])('one with %j is %s: %s', (facts, status, reason) => {
  expect(told(facts)?.conditions?.[0]).toMatchObject({ status, reason });
});

test('Jobs that cannot be deleted are a condition of their own, which stays once it was there', () => {
  const before = told({ withdrawalProblem: 'x' });
  expect(before?.conditions).toMatchObject([
    { type: 'Ready', status: 'True' },
    { type: 'JobsWithdrawn', status: 'False', reason: 'DeleteForbidden', message: 'x' },
  ]);
  expect(told({}, before)?.conditions).toMatchObject([
    { type: 'Ready', status: 'True' },
    { type: 'JobsWithdrawn', status: 'True', reason: 'Deleted' },
  ]);
});

test('what has been told is not told again, and the time is that of the change', () => {
  const before = told({});
  expect(told({}, before, NOW + 60_000)).toBeUndefined();
  const counted = told({ parked: 3 }, before, NOW + 60_000);
  expect(counted).toMatchObject({ parked: 3, conditions: before?.conditions });
  expect(told({ backlog: undefined }, before, NOW + 60_000)).toMatchObject({
    backlog: 3,
    conditions: [{ status: 'Unknown', lastTransitionTime: '2026-01-01T00:01:00Z' }],
  });
});

test('what is wrong with Redis stands beside it: the gravest as the reason, all in words; and stays when nobody has looked since', () => {
  const troubles = [
    { reason: 'ReadOnly', message: 'it is a replica', works: false },
    { reason: 'NotDurable', message: 'it keeps nothing', works: true },
  ] as const;
  const before = told({ troubles });
  expect(before?.conditions?.map(({ type, status, reason, message }) => [type, status, reason, message])).toEqual([
    ['Ready', 'True', 'Serving', 'Submissions become Jobs.'],
    ['RedisHealthy', 'False', 'ReadOnly', 'it is a replica; it keeps nothing'],
  ]);
  expect(told({ troubles }, before)).toBeUndefined();
  expect(told({}, before)).toBeUndefined();
  expect(told({ parked: 9 }, before)?.conditions).toHaveLength(2);
  const well = told({ troubles: [] }, before, NOW + 60_000)?.conditions?.[1];
  expect(well).toMatchObject({ type: 'RedisHealthy', status: 'True', reason: 'Healthy', lastTransitionTime: '2026-01-01T00:01:00Z' });
});
