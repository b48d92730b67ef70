import type { Admitted } from '../workload/admitted-index.ts';
import type { QueueSetup } from '../snapshot/snapshot.ts';
import type { Workload } from '../workload/workload.ts';

/** A pending Workload that may preempt. */
export type Preemptor = { readonly workload: Workload; readonly priority: number; readonly queue: QueueSetup };

/** The rule by which a Workload is preempted; Kueue's reasons. */
export const PreemptionRule = {
  /** Same ClusterQueue, and lower priority, or equal priority and queued later. */
  InClusterQueue: 'InClusterQueue',
  /** The Workload uses quota that is nearer to the preemptor's ClusterQueue than to its own. */
  InCohortReclamation: 'InCohortReclamation',
  /** Both ClusterQueues borrow, and the Workload's priority is lower and at most the threshold. */
  InCohortReclaimWhileBorrowing: 'InCohortReclaimWhileBorrowing',
  /** Fair sharing: the Workload's ClusterQueue or Cohort has the greater share. */
  InCohortFairSharing: 'InCohortFairSharing',
} as const;
export type PreemptionRule = (typeof PreemptionRule)[keyof typeof PreemptionRule];

/** How an admitted Workload may be preempted by a preemptor. */
export type Eligibility = {
  readonly rule: PreemptionRule;
  /** Only if the preemptor's ClusterQueue does not borrow afterwards. */
  readonly withoutBorrowing: boolean;
};

/** How a Workload of the preemptor's own ClusterQueue may be preempted; undefined: it may not. */
export function eligibilityInQueue({ priority, workload, queue }: Preemptor, candidate: Admitted): Eligibility | undefined {
  const policy = queue.preemption.withinClusterQueue;
  if (policy === 'Never') return undefined;
  const isNewer =
    policy === 'LowerOrNewerEqualPriority' &&
    candidate.priority === priority &&
    candidate.reservation.workload.queuedSinceMs > workload.queuedSinceMs;
  return candidate.priority < priority || isNewer ? IN_QUEUE : undefined;
}

/**
 * How a Workload of another, borrowing ClusterQueue of the cohort may be preempted; undefined: it may not. `advantage`: the preemptor's
 * requests fit the quota of its ClusterQueue, or of a Cohort below the lowest common one.
 */
export function eligibilityInCohort({ priority, queue }: Preemptor, candidate: Admitted, advantage: boolean): Eligibility | undefined {
  const { borrowWithinCohort } = queue.preemption;
  if (!mayReclaimFrom({ priority, queue }, candidate)) return undefined;
  if (advantage) return RECLAIMED;
  const { policy, maxPriorityThreshold = Number.POSITIVE_INFINITY } = borrowWithinCohort;
  if (policy === 'Never' || candidate.priority >= priority || candidate.priority > maxPriorityThreshold) return RECLAIMED_WITHOUT_BORROWING;
  return RECLAIMED_WHILE_BORROWING;
}

/** Whether the preemptor's reclaimWithinCohort allows this Workload of a borrowing ClusterQueue. */
export function mayReclaimFrom({ priority, queue }: Pick<Preemptor, 'priority' | 'queue'>, candidate: Admitted): boolean {
  const { reclaimWithinCohort } = queue.preemption;
  return reclaimWithinCohort === 'Any' || (reclaimWithinCohort === 'LowerPriority' && candidate.priority < priority);
}

/** The highest priority that may be preempted in the preemptor's own ClusterQueue, and in others. */
export const highestInQueue = ({ priority, queue }: Pick<Preemptor, 'priority' | 'queue'>): number =>
  queue.preemption.withinClusterQueue === 'LowerOrNewerEqualPriority' ? priority : priority - 1;
export const highestInCohort = ({ priority, queue }: Pick<Preemptor, 'priority' | 'queue'>): number =>
  queue.preemption.reclaimWithinCohort === 'Any' ? Number.POSITIVE_INFINITY : priority - 1;

const IN_QUEUE: Eligibility = { rule: PreemptionRule.InClusterQueue, withoutBorrowing: false };
const RECLAIMED: Eligibility = { rule: PreemptionRule.InCohortReclamation, withoutBorrowing: false };
const RECLAIMED_WITHOUT_BORROWING: Eligibility = { rule: PreemptionRule.InCohortReclamation, withoutBorrowing: true };
const RECLAIMED_WHILE_BORROWING: Eligibility = { rule: PreemptionRule.InCohortReclaimWhileBorrowing, withoutBorrowing: false };
