import { expect, test } from 'vitest';
import type { SubmissionQueueObject } from '../../../../manager/api/submission-queue.ts';
import { submissionQueueStatus, type QueueFacts } from '../../../../manager/submission/submission-queue-status.ts';

const NOW = Date.UTC(2026, 0, 1);
const FACTS: QueueFacts = { problem: undefined, impersonationProblem: undefined, backlog: 3, parked: 2, accepted: 5, refused: 1 };
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
