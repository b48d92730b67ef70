import { expect, test } from 'vitest';
import { decideCanary, type CanaryJobSeen, type CanarySeen } from '../../../../manager/canary/decide-canary.ts';

const MINUTE = 60_000;
const aJob = (parts: Partial<CanaryJobSeen> = {}): CanaryJobSeen => ({
  createdMs: 0,
  admitted: true,
  ended: false,
  deleting: false,
  ...parts,
});
const decided = (parts: Partial<CanarySeen>, atMinutes: number): string => {
  const seen: CanarySeen = { cluster: 'Ready', job: undefined, dueMs: undefined, ...parts };
  const plan = decideCanary(seen, { intervalMs: 10 * MINUTE, timeoutMs: 5 * MINUTE }, atMinutes * MINUTE);
  return plan.kind === 'Remove' ? `Remove ${plan.outcome}` : plan.kind;
};

test.each<[string, Partial<CanarySeen>, number, string]>([
  ['the first starts when it is due', { dueMs: MINUTE }, 1, 'Start'],
  ['and no sooner', { dueMs: MINUTE }, 0.9, 'None'],
  ['none starts on a cluster that takes no Jobs', { cluster: 'NotReady' }, 1, 'None'],
  ['none starts on a cluster that is gone', { cluster: 'Gone' }, 1, 'None'],
  ['one that is under way is waited for', { job: aJob(), dueMs: 0 }, 4.9, 'None'],
  ['one that takes too long has failed', { job: aJob() }, 5, 'Remove timeout'],
  ['one that never left its queue says nothing of the cluster', { job: aJob({ admitted: false }) }, 5, 'Remove not_admitted'],
  ['one whose cluster is cordoned accuses nobody', { cluster: 'NotReady', job: aJob() }, 9, 'Remove withdrawn'],
  ['one that has ended stays until the next is due', { job: aJob({ ended: true }), dueMs: 0 }, 9.9, 'None'],
  ['and goes then', { job: aJob({ ended: true }) }, 10, 'Remove undefined'],
  ['and goes with its cluster', { cluster: 'Gone', job: aJob({ ended: true }) }, 1, 'Remove undefined'],
  ['the next waits until the one before is gone', { job: aJob({ ended: true, deleting: true }), dueMs: 0 }, 20, 'None'],
  ['a Job of somebody else that has the name is left alone', { job: 'Foreign', dueMs: 0 }, 99, 'None'],
])('%s', (_, seen, atMinutes, plan) => {
  expect(decided(seen, atMinutes)).toBe(plan);
});
