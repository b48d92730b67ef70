import { compareAdmitted, type Admitted } from '../workload/admitted-index.ts';
import { hasNoVictimElsewhere } from './fair-bound.ts';
import { fairPreemption, type FairCandidate, type FairRule, type FairSearch } from './fair-preemption.ts';
import { mostUsedFirst } from '../fair-sharing/local-queue-order.ts';
import type { CandidateSearch } from './preemption-candidates.ts';
import { highestInQueue, mayReclaimFrom, eligibilityInQueue } from './preemption-rules.ts';
import { isBorrowingAny, type QuotaNode } from '../quota/quota-tree.ts';

export type FairVictimSearch = Pick<
  CandidateSearch,
  'preemptor' | 'charges' | 'contested' | 'usage' | 'admitted' | 'helps' | 'cluster' | 'localQueueUsage'
> &
  Pick<FairSearch<Candidate>, 'strategies' | 'fits'> & {
    /** Removes an admitted Workload from a usage, and restores it. */
    readonly takeAway: (admitted: Admitted, usage: FairSearch<Candidate>['usage']) => void;
    readonly putBack: (admitted: Admitted, usage: FairSearch<Candidate>['usage']) => void;
  };
/** `turn`: the Workload whose place it has among those of other ClusterQueues. */
type Candidate = FairCandidate & { readonly admitted: Admitted; readonly turn: Admitted };

/** The victims of a preemptor with fair sharing; undefined if no set suffices. */
export function findFairVictims(search: FairVictimSearch): readonly { readonly admitted: Admitted; readonly rule: FairRule }[] | undefined {
  const { preemptor, charges, contested, usage, strategies, fits, takeAway, putBack } = search;
  const { node } = preemptor.queue;
  if (!displacesItsOwn(search) && hasNoVictimElsewhere({ preemptor: { queue: node, charges }, contested, usage })) return undefined;
  const victims = fairPreemption<Candidate>({
    preemptor: { queue: node, charges },
    contested,
    candidatesOf: (queue) => candidatesOf(search, queue),
    compare: (a, b) => compareCandidates(a, b, node),
    strategies,
    preemptedFor: preemptor.workload.record?.preempted?.clusterQueue,
    usage,
    fits,
    remove: (from, { admitted }) => takeAway(admitted, from),
    restore: (to, { admitted }) => putBack(admitted, to),
  });
  return victims.length === 0 ? undefined : victims.map(({ candidate, rule }) => ({ admitted: candidate.admitted, rule }));
}

const displacesItsOwn = ({ preemptor, admitted }: FairVictimSearch): boolean =>
  preemptor.queue.preemption.withinClusterQueue !== 'Never' && admitted.holdsAny(preemptor.queue.name, highestInQueue(preemptor));

/**
 * Candidates for fair sharing in one ClusterQueue: of the preemptor's own as its policy allows, and of another one in the tree that borrows
 * what is contested, as reclaimWithinCohort allows. A shorter way in the tree gives no advantage, and borrowWithinCohort does not apply.
 * Candidates are in the order of compareAdmitted, or of the usage of their LocalQueues if the ClusterQueue asks for that.
 */
function candidatesOf(
  { preemptor, contested, usage, admitted, helps, cluster, localQueueUsage }: FairVictimSearch,
  queue: QuotaNode,
): readonly Candidate[] {
  const { node: own, preemption } = preemptor.queue;
  const { clusterQueue = '' } = queue;
  const isOwn = queue === own;
  if (!isOwn && (preemption.reclaimWithinCohort === 'Never' || !isBorrowingAny(queue, usage, contested))) return [];
  const list = cluster === undefined ? admitted.of(clusterQueue) : admitted.on(clusterQueue, cluster);
  const allowed = list.filter(
    (each) => (isOwn ? eligibilityInQueue(preemptor, each) !== undefined : mayReclaimFrom(preemptor, each)) && helps(each, isOwn),
  );
  return mostUsedFirst(allowed, localQueueUsage).map((each, place) => ({
    queue,
    charges: each.charges,
    admitted: each,
    turn: allowed[place] ?? each,
  }));
}

/**
 * The order of candidates of ClusterQueues with equal shares is Kueue's: Workloads that leave anyway, then other ClusterQueues, then the
 * preemptor's own; within each compareAdmitted.
 */
const compareCandidates = ({ turn: a, queue }: Candidate, { turn: b, queue: other }: Candidate, own: QuotaNode): number =>
  Number(b.leaving) - Number(a.leaving) || Number(queue === own) - Number(other === own) || compareAdmitted(a, b);
