import { describe, expect, test } from 'vitest';
import { startTrouble } from '../../../../../manager/dispatch/status-home/start-troubles.ts';

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
