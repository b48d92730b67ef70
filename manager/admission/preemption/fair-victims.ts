import { compareAdmitted, type Admitted } from '../workload/admitted-index.ts';
import { takesNobodyElsewhere } from './fair-bound.ts';
import { fairPreemption, type FairCandidate, type FairRule, type FairSearch } from './fair-preemption.ts';
import { mostUsedFirst } from '../fair-sharing/local-queue-order.ts';
import type { CandidateSearch } from './preemption-candidates.ts';
import { highestInQueue, mayReclaimFrom, standingInQueue } from './preemption-rules.ts';
import { isBorrowingAny, type QuotaNode } from '../quota/quota-tree.ts';

export type FairVictimSearch = Pick<
  CandidateSearch,
  'preemptor' | 'charges' | 'contested' | 'usage' | 'admitted' | 'helps' | 'cluster' | 'localQueueUsage'
> &
  Pick<FairSearch<Candidate>, 'strategies' | 'fits'> & {
    /** Takes from a usage what it holds; and puts it back. */
    readonly takeAway: (admitted: Admitted, usage: FairSearch<Candidate>['usage']) => void;
    readonly putBack: (admitted: Admitted, usage: FairSearch<Candidate>['usage']) => void;
  };
type Candidate = FairCandidate & { readonly admitted: Admitted };

/** Whom a Workload displaces with fair sharing; undefined where there is no set whose end would be enough. */
export function findFairVictims(search: FairVictimSearch): readonly { readonly admitted: Admitted; readonly rule: FairRule }[] | undefined {
  const { preemptor, charges, contested, usage, strategies, fits, takeAway, putBack } = search;
  const { node } = preemptor.queue;
  if (!displacesItsOwn(search) && takesNobodyElsewhere({ preemptor: { queue: node, charges }, contested, usage })) return undefined;
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
 * Those of its own ClusterQueue that its policy gives up, and those of all others of the tree that borrow of what is contested, as far as its policy for these
 * goes: with fair sharing there is no advantage of being nearer, and no policy for borrowing. In the order of compareAdmitted,
 * in which those of one ClusterQueue take turns by what their LocalQueues have used where that orders them.
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
      const isAllowed = isOwn ? standingInQueue(preemptor, each) !== undefined : mayReclaimFrom(preemptor, each);
      if (isAllowed && helps(each, isOwn)) found.push({ queue: node, charges: each.charges, admitted: each });
    }
  };
  collect(preemptor.queue.preemption.reclaimWithinCohort === 'Never' ? own : rootOf(own));
  found.sort((a, b) => compareAdmitted(a.admitted, b.admitted));
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
