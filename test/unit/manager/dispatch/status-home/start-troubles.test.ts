import { describe, expect, test } from 'vitest';
import { isWaitingToStart, startTrouble } from '../../../../../manager/dispatch/status-home/start-troubles.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { aCondition } from '../../../../support/jobs.ts';

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

const waiting = (reason: string, message?: string): object => ({
  status: { containerStatuses: [{ state: { waiting: { reason, message } } }] },
});
const warning = (reason: string, message: string, lastTimestamp: string): object => ({ type: 'Warning', reason, message, lastTimestamp });

describe('what keeps pods from starting', () => {
  test('is their commonest reason, and the newest warning', () => {
    const pods = [
      waiting('ErrImagePull', 'x'),
      waiting('ImagePullBackOff', 'Back-off pulling image'),
      waiting('ImagePullBackOff', 'Back-off pulling image'),
    ];
    const events = [
      warning('FailedCreate', 'old', '2026-01-01T00:00:00Z'),
      warning('FailedCreate', 'exceeded quota: q', '2026-01-01T00:01:00Z'),
      { type: 'Normal', reason: 'SuccessfulCreate', message: 'made', lastTimestamp: '2026-01-01T00:02:00Z' },
    ];
    expect(startTrouble(pods, events, 7)).toBe('7 pods wait: ImagePullBackOff: Back-off pulling image; FailedCreate: exceeded quota: q');
    expect(startTrouble([waiting('ContainerCreating')], [], 1)).toBe('1 pod waits: ContainerCreating');
    expect(startTrouble([], events, 0)).toBe('FailedCreate: exceeded quota: q');
    expect(startTrouble([], [], 3)).toBeUndefined();
  });

  test('is the first container that waits, those before the others, or that no node takes the pod', () => {
    const init = {
      status: {
        initContainerStatuses: [{ state: { waiting: { reason: 'CreateContainerConfigError', message: 'no secret' } } }],
        containerStatuses: [{ state: { waiting: { reason: 'PodInitializing' } } }],
      },
    };
    expect(startTrouble([init], [], 1)).toBe('1 pod waits: CreateContainerConfigError: no secret');
    const pending = {
      status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available' }] },
    };
    expect(startTrouble([pending], [], 1)).toBe('1 pod waits: Unschedulable: 0/3 nodes are available');
  });

  test('is bounded, on one line, whatever a cluster says', () => {
    const garbage = [
      null,
      'x',
      {},
      { status: 1 },
      { status: { containerStatuses: [1, { state: { waiting: { reason: 7 } } }], conditions: {} } },
    ];
    expect(startTrouble(garbage, garbage, 1)).toBeUndefined();
    const long = 'y'.repeat(100_000);
    const told = startTrouble([waiting(`\u001b[31m${long}`, `a\n${long}`)], [warning(long, long, 'never')], 1);
    expect(told?.length).toBeLessThan(700);
    expect(told).not.toMatch(/\p{Cc}/u);
  });
});
