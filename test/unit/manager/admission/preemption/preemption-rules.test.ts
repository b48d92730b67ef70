import { describe, expect, test } from 'vitest';
import { preemptionPolicies, type PreemptionPolicies } from '../../../../../manager/admission/quota/preemption-policies.ts';
import { eligibilityInCohort, eligibilityInQueue, type Preemptor } from '../../../../../manager/admission/preemption/preemption-rules.ts';
import { admittedOf } from './preemption-world.ts';
import { aClusterQueue, aSnapshot, aWorkload, queueOf } from '../setup.ts';

const preemptor = (policies: Partial<PreemptionPolicies>, priority = 5): Preemptor => ({
  workload: aWorkload('in', {}, { createdMs: 10_000 }),
  priority,
  queue: {
    ...queueOf(aSnapshot([aClusterQueue('main', { default: '1' })], []), 'main'),
    preemption: { ...preemptionPolicies(undefined), ...policies },
  },
});
const holding = (priority: number, created = 0) => admittedOf({ name: 'x', queue: 'main', requests: { cpu: '1' }, priority, created });

test('a ClusterQueue that says nothing preempts nobody', () => {
  expect([eligibilityInQueue(preemptor({}), holding(0)), eligibilityInCohort(preemptor({}), holding(0), true)]).toEqual([
    undefined,
    undefined,
  ]);
});

test.each<[PreemptionPolicies['withinClusterQueue'], number, number, boolean]>([
  ['Never', 4, 20, false],
  ['LowerPriority', 4, 0, true],
  ['LowerPriority', 5, 20, false],
  ['LowerPriority', 6, 20, false],
  ['LowerOrNewerEqualPriority', 4, 0, true],
  ['LowerOrNewerEqualPriority', 5, 20, true],
  ['LowerOrNewerEqualPriority', 5, 10, false],
  ['LowerOrNewerEqualPriority', 5, 5, false],
  ['LowerOrNewerEqualPriority', 6, 20, false],
])('within its queue, %s: one of priority %i for one of 5, made at %i and 10: %s', (withinClusterQueue, priority, created, goes) => {
  const standing = eligibilityInQueue(preemptor({ withinClusterQueue }), holding(priority, created));
  expect(standing).toEqual(goes ? { rule: 'InClusterQueue', withoutBorrowing: false } : undefined);
});

test('who has lost its place in the queue preempts nobody that has queued longer since, whenever the Jobs were made', () => {
  const evicted = {
    ...preemptor({ withinClusterQueue: 'LowerOrNewerEqualPriority' }),
    workload: aWorkload('in', {}, { createdMs: 10_000, queuedSinceMs: 30_000 }),
  };
  expect([20, 40].map((created) => eligibilityInQueue(evicted, holding(5, created)) !== undefined)).toEqual([false, true]);
});

describe('in the cohort', () => {
  const reclaimed = { rule: 'InCohortReclamation', withoutBorrowing: false };
  const unlessBorrowing = { rule: 'InCohortReclamation', withoutBorrowing: true };
  const whileBorrowing = { rule: 'InCohortReclaimWhileBorrowing', withoutBorrowing: false };
  const upTo3 = { policy: 'LowerPriority', maxPriorityThreshold: 3 } as const;
  test.each<[string, Partial<PreemptionPolicies>, number, boolean, unknown]>([
    ['Never', { reclaimWithinCohort: 'Never' }, 0, true, undefined],
    ['LowerPriority, below', { reclaimWithinCohort: 'LowerPriority' }, 4, true, reclaimed],
    ['LowerPriority, equal', { reclaimWithinCohort: 'LowerPriority' }, 5, true, undefined],
    ['Any, above', { reclaimWithinCohort: 'Any' }, 9, true, reclaimed],
    ['Any, without advantage', { reclaimWithinCohort: 'Any' }, 0, false, unlessBorrowing],
    ['to the threshold', { reclaimWithinCohort: 'Any', borrowWithinCohort: upTo3 }, 3, false, whileBorrowing],
    ['above the threshold', { reclaimWithinCohort: 'Any', borrowWithinCohort: upTo3 }, 4, false, unlessBorrowing],
    ['no threshold', { reclaimWithinCohort: 'Any', borrowWithinCohort: { policy: 'LowerPriority' } }, 4, false, whileBorrowing],
    ['no threshold, equal', { reclaimWithinCohort: 'Any', borrowWithinCohort: { policy: 'LowerPriority' } }, 5, false, unlessBorrowing],
    ['the threshold says nothing of an advantage', { reclaimWithinCohort: 'Any', borrowWithinCohort: upTo3 }, 9, true, reclaimed],
  ])('%s', (_, policies, priority, advantage, standing) => {
    expect(eligibilityInCohort(preemptor(policies), holding(priority), advantage)).toEqual(standing);
  });
});
