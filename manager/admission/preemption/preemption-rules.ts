import type { Admitted } from '../workload/admitted-index.ts';
import type { QueueSetup } from '../snapshot/snapshot.ts';
import type { Workload } from '../workload/workload.ts';

/** A Workload that waits and may displace others. */
export type Preemptor = { readonly workload: Workload; readonly priority: number; readonly queue: QueueSetup };

/** By which rule a Workload is displaced; Kueue's reasons. */
export const PreemptionRule = {
  /** It is of the same ClusterQueue, and of lower priority, or as high and newer. */
  InClusterQueue: 'InClusterQueue',
  /** It uses quota that is nearer to the other one's ClusterQueue than to its own. */
  InCohortReclamation: 'InCohortReclamation',
  /** Both borrow, and its priority is lower, and low enough. */
  InCohortReclaimWhileBorrowing: 'InCohortReclaimWhileBorrowing',
  /** With fair sharing: it is of a ClusterQueue or Cohort of a greater share. */
  InCohortFairSharing: 'InCohortFairSharing',
} as const;
export type PreemptionRule = (typeof PreemptionRule)[keyof typeof PreemptionRule];

/** What may become of an admitted Workload, for the sake of a preemptor. */
export type Standing = {
  readonly rule: PreemptionRule;
  /** Only if the preemptor's ClusterQueue does not borrow afterwards. */
  readonly withoutBorrowing: boolean;
};

/** How it stands with a Workload of the preemptor's own ClusterQueue; undefined: it stays. */
export function standingInQueue({ priority, workload, queue }: Preemptor, candidate: Admitted): Standing | undefined {
  const policy = queue.preemption.withinClusterQueue;
  if (policy === 'Never') return undefined;
  const isNewer =
    policy === 'LowerOrNewerEqualPriority' &&
    candidate.priority === priority &&
    candidate.reservation.workload.createdMs > workload.createdMs;
  return candidate.priority < priority || isNewer ? IN_QUEUE : undefined;
}

/**
 * How it stands with a Workload of another ClusterQueue of the cohort, which is borrowing; undefined: it stays. The preemptor has the `advantage` where what
 * it asks for fits the quota of its own ClusterQueue, or of a cohort below the one that it shares with the other.
 */
export function standingInCohort({ priority, queue }: Preemptor, candidate: Admitted, advantage: boolean): Standing | undefined {
  const { borrowWithinCohort } = queue.preemption;
  if (!mayReclaimFrom({ priority, queue }, candidate)) return undefined;
  if (advantage) return RECLAIMED;
  const { policy, maxPriorityThreshold = Number.POSITIVE_INFINITY } = borrowWithinCohort;
  if (policy === 'Never' || candidate.priority >= priority || candidate.priority > maxPriorityThreshold) return RECLAIMED_WITHOUT_BORROWING;
  return RECLAIMED_WHILE_BORROWING;
}

/** Whether its policy for other ClusterQueues of the cohort lets it displace this one, which is of one that borrows. */
export function mayReclaimFrom({ priority, queue }: Pick<Preemptor, 'priority' | 'queue'>, candidate: Admitted): boolean {
  const { reclaimWithinCohort } = queue.preemption;
  return reclaimWithinCohort === 'Any' || (reclaimWithinCohort === 'LowerPriority' && candidate.priority < priority);
}

/** Nobody of higher priority is displaced in the preemptor's own ClusterQueue, and nobody in others. */
export const highestInQueue = ({ priority, queue }: Pick<Preemptor, 'priority' | 'queue'>): number =>
  queue.preemption.withinClusterQueue === 'LowerOrNewerEqualPriority' ? priority : priority - 1;
export const highestInCohort = ({ priority, queue }: Pick<Preemptor, 'priority' | 'queue'>): number =>
  queue.preemption.reclaimWithinCohort === 'Any' ? Number.POSITIVE_INFINITY : priority - 1;

const IN_QUEUE: Standing = { rule: PreemptionRule.InClusterQueue, withoutBorrowing: false };
const RECLAIMED: Standing = { rule: PreemptionRule.InCohortReclamation, withoutBorrowing: false };
const RECLAIMED_WITHOUT_BORROWING: Standing = { rule: PreemptionRule.InCohortReclamation, withoutBorrowing: true };
const RECLAIMED_WHILE_BORROWING: Standing = { rule: PreemptionRule.InCohortReclaimWhileBorrowing, withoutBorrowing: false };
