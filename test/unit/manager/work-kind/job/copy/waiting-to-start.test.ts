import { expect, test } from 'vitest';
import { isWaitingToStart } from '../../../../../../manager/work-kind/job/copy/waiting-to-start.ts';
import type { Job } from '../../../../../../shared/api/kubernetes.ts';
import { aCondition } from '../../../../../support/jobs.ts';

const aCopy = (status: Job['status'], spec: Partial<Job['spec']> = {}): Job => ({
  metadata: { name: 'sum', namespace: 'team', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { template: {}, ...spec },
  status: status ?? {},
});

test.each<[string, boolean, Job]>([
  ['has told nothing yet', true, aCopy({})],
  ['has pods none of which is ready', true, aCopy({ active: 3, ready: 0 })],
  ['has pods, and does not tell whether they are ready', true, aCopy({ active: 3 })],
  ['has a pod that is ready', false, aCopy({ active: 3, ready: 1 })],
  ['has had one that succeeded', false, aCopy({ active: 1, ready: 0, succeeded: 1 })],
  ['has had one that failed', false, aCopy({ active: 1, ready: 0, failed: 1 })],
  ['is suspended', false, aCopy({}, { suspend: true })],
  ['wants no pods', false, aCopy({}, { parallelism: 0 })],
  ['has come to its end', false, aCopy({ conditions: [aCondition('FailureTarget')] })],
])('a copy that %s waits to start: %s', (_what, expected, copy) => {
  expect(isWaitingToStart(copy)).toBe(expected);
});
