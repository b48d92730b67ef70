import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { ClusterQueueSpec } from '../../api/cluster-queue.ts';
import type { QuotaNode } from './quota-tree.ts';

/** The preemption policies of a ClusterQueue, in Kueue's words. */
export type PreemptionPolicies = {
  /** Which Workloads of its own may be preempted. */
  readonly withinClusterQueue: 'Never' | 'LowerPriority' | 'LowerOrNewerEqualPriority';
  /** Which Workloads of borrowing queues in the cohort may be preempted. */
  readonly reclaimWithinCohort: 'Never' | 'LowerPriority' | 'Any';
  /** Which of the latter may be preempted if the ClusterQueue borrows afterwards. */
  readonly borrowWithinCohort: { readonly policy: 'Never' | 'LowerPriority'; readonly maxPriorityThreshold?: number };
};

/** The policies of a ClusterQueue; each defaults to Never. */
export const preemptionPolicies = (spec: DeepReadonly<ClusterQueueSpec['preemption']>): PreemptionPolicies => ({
  withinClusterQueue: spec?.withinClusterQueue ?? 'Never',
  reclaimWithinCohort: spec?.reclaimWithinCohort ?? 'Never',
  borrowWithinCohort: {
    policy: spec?.borrowWithinCohort?.policy ?? 'Never',
    ...omitUndefined({ maxPriorityThreshold: spec?.borrowWithinCohort?.maxPriorityThreshold }),
  },
});

/** Whether a Workload of the ClusterQueue may preempt at all: a queue without a Cohort cannot reclaim. */
export const mayPreempt = ({ node, preemption }: { readonly node: QuotaNode; readonly preemption: PreemptionPolicies }): boolean =>
  preemption.withinClusterQueue !== 'Never' || (preemption.reclaimWithinCohort !== 'Never' && node.parent !== undefined);
