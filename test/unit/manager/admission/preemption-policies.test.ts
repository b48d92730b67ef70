import { expect, test } from 'vitest';
import { preemptionPolicies } from '../../../../manager/admission/preemption-policies.ts';

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
