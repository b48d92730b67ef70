import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { ClusterQueueSpec } from '../../api/cluster-queue.ts';
import type { QuotaNode } from './quota-tree.ts';

/** Whom the Jobs of a ClusterQueue may displace, in Kueue's words. */
export type PreemptionPolicies = {
  /** Of its own Jobs. */
  readonly withinClusterQueue: 'Never' | 'LowerPriority' | 'LowerOrNewerEqualPriority';
  /** Of the Jobs of other queues of the cohort that borrow. */
  readonly reclaimWithinCohort: 'Never' | 'LowerPriority' | 'Any';
  /** Of the latter, where the queue itself would borrow afterwards. */
  readonly borrowWithinCohort: { readonly policy: 'Never' | 'LowerPriority'; readonly maxPriorityThreshold?: number };
};

/** What the ClusterQueue says; nobody is displaced of whom it says nothing. */
export const preemptionPolicies = (spec: DeepReadonly<ClusterQueueSpec['preemption']>): PreemptionPolicies => ({
  withinClusterQueue: spec?.withinClusterQueue ?? 'Never',
  reclaimWithinCohort: spec?.reclaimWithinCohort ?? 'Never',
  borrowWithinCohort: {
    policy: spec?.borrowWithinCohort?.policy ?? 'Never',
    ...omitUndefined({ maxPriorityThreshold: spec?.borrowWithinCohort?.maxPriorityThreshold }),
  },
});

/** Whether there may be anybody whom a Job of such a queue displaces: from a cohort nothing is reclaimed where the queue is in none. */
export const mayPreempt = ({ node, preemption }: { readonly node: QuotaNode; readonly preemption: PreemptionPolicies }): boolean =>
  preemption.withinClusterQueue !== 'Never' || (preemption.reclaimWithinCohort !== 'Never' && node.parent !== undefined);
