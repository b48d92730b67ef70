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
type Candidate = FairCandidate & { readonly admitted: Admitted };

/** The victims of a preemptor with fair sharing; undefined if no set suffices. */
export function findFairVictims(search: FairVictimSearch): readonly { readonly admitted: Admitted; readonly rule: FairRule }[] | undefined {
  const { preemptor, charges, contested, usage, strategies, fits, takeAway, putBack } = search;
  const { node } = preemptor.queue;
  if (!displacesItsOwn(search) && hasNoVictimElsewhere({ preemptor: { queue: node, charges }, contested, usage })) return undefined;
  const victims = fairPreemption<Candidate>({
    preemptor: { queue: node, charges },
    contested,
    candidates: candidatesOf(search),
    strategies,
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
 * Candidates for fair sharing: Workloads of the preemptor's ClusterQueue as its policy allows, and those of all queues in the tree that
 * borrow what is contested, as reclaimWithinCohort allows. A shorter way in the tree gives no advantage, and borrowWithinCohort does not
 * apply. The order, which decides between ClusterQueues of equal share, is Kueue's: Workloads that leave anyway, then other ClusterQueues,
 * then the preemptor's own; within each compareAdmitted, and within one ClusterQueue the usage of its LocalQueues if it asks for that.
 */
function candidatesOf({ preemptor, contested, usage, admitted, helps, cluster, localQueueUsage }: FairVictimSearch): Candidate[] {
  const own = preemptor.queue.node;
  const found: Candidate[] = [];
  const collect = (node: QuotaNode): void => {
    for (const child of node.children) collect(child);
    const { clusterQueue } = node;
    if (clusterQueue === undefined) return;
    const isOwn = node === own;
    if (!isOwn && !isBorrowingAny(node, usage, contested)) return;
    for (const each of cluster === undefined ? admitted.of(clusterQueue) : admitted.on(clusterQueue, cluster)) {
      const isAllowed = isOwn ? eligibilityInQueue(preemptor, each) !== undefined : mayReclaimFrom(preemptor, each);
      if (isAllowed && helps(each, isOwn)) found.push({ queue: node, charges: each.charges, admitted: each });
    }
  };
  collect(preemptor.queue.preemption.reclaimWithinCohort === 'Never' ? own : rootOf(own));
  found.sort(
    (a, b) =>
      Number(b.admitted.leaving) - Number(a.admitted.leaving) ||
      Number(a.queue === own) - Number(b.queue === own) ||
      compareAdmitted(a.admitted, b.admitted),
  );
  if (localQueueUsage === undefined) return found;
  const turns = new Map(
    [...Map.groupBy(found, ({ queue }) => queue)].map(([queue, theirs]) => {
      const byAdmitted = new Map(theirs.map((each) => [each.admitted, each]));
      const ordered = mostUsedFirst([...byAdmitted.keys()], localQueueUsage);
      return [queue, ordered.flatMap((each) => byAdmitted.get(each) ?? []).values()] as const;
    }),
  );
  return found.map((each) => turns.get(each.queue)?.next().value ?? each);
}

const rootOf = (node: QuotaNode): QuotaNode => (node.parent === undefined ? node : rootOf(node.parent));
