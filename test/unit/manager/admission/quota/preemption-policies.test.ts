import { expect, test } from 'vitest';
import { mayPreempt, preemptionPolicies } from '../../../../../manager/admission/quota/preemption-policies.ts';
import { aClusterQueue, aSnapshot, queueOf } from '../setup.ts';

const NEVER = { withinClusterQueue: 'Never', reclaimWithinCohort: 'Never', borrowWithinCohort: { policy: 'Never' } };

test('of what a ClusterQueue does not say it says Never', () => {
  expect(preemptionPolicies(undefined)).toEqual(NEVER);
  expect(preemptionPolicies({ borrowWithinCohort: {} })).toEqual(NEVER);
  expect(preemptionPolicies({ reclaimWithinCohort: 'Any' })).toEqual({ ...NEVER, reclaimWithinCohort: 'Any' });
});

test('a threshold of 0 is one', () => {
  const borrowWithinCohort = { policy: 'LowerPriority', maxPriorityThreshold: 0 } as const;
  expect(preemptionPolicies({ reclaimWithinCohort: 'Any', borrowWithinCohort }).borrowWithinCohort).toEqual(borrowWithinCohort);
});

test('who may preempt at all: within its queue, or in a cohort', () => {
  const queues = {
    none: {},
    alone: { preemption: { reclaimWithinCohort: 'Any' } },
    shared: { cohortName: 'all', preemption: { reclaimWithinCohort: 'Any' } },
    own: { preemption: { withinClusterQueue: 'LowerPriority' } },
  } as const;
  const snapshot = aSnapshot(
    Object.entries(queues).map(([name, spec]) => aClusterQueue(name, { default: '1' }, spec)),
    [],
  );
  expect(Object.keys(queues).filter((name) => mayPreempt(queueOf(snapshot, name)))).toEqual(['shared', 'own']);
});
