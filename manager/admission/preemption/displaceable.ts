import { plus, ZERO, type Amount } from '../../api/amount.ts';
import type { AdmittedIndex } from '../workload/admitted-index.ts';
import { highestInCohort, highestInQueue } from './preemption-rules.ts';
import { borrowingReach, isBorrowingAny, subtreeQuota, type FlavorResource, type QuotaNode } from '../quota/quota-tree.ts';
import type { QueueSetup } from '../snapshot/snapshot.ts';
import type { Usage } from '../quota/usage.ts';

/**
 * What others hold that Workloads of a ClusterQueue may displace, at most: of its own those of lower priority, and of those queues of its tree that borrow. A bound, by sums that are
 * kept anyway: whether a least set of them is really enough, preemption.ts finds out.
 */
export type Displaceable = {
  /** The quota that one who asks for so much could get back. The more it asks for, the less: by then it would borrow itself. */
  readonly quota: (key: FlavorResource, amount: Amount) => Amount;
  /** Whether there is anybody at all; where nobody is, no room can be made on any cluster, either. */
  readonly isAny: boolean;
};

/** For Workloads of up to this priority. */
export type DisplaceableBy = (queue: QueueSetup, priority: number) => Displaceable;

export function createDisplaceable(usage: Usage, admitted: AdmittedIndex): DisplaceableBy {
  const borrowersOf = new Map<string, readonly string[]>();
  const sums = new Map<string, Amount>();
  const known = new Map<QueueSetup, Map<number, Displaceable>>();

  const borrowersIn = (root: QuotaNode): readonly string[] => {
    const found = borrowersOf.get(root.id);
    if (found !== undefined) return found;
    const keys = [...root.subtree.keys()];
    const borrowers: string[] = [];
    const collect = (node: QuotaNode): void => {
      for (const child of node.children) {
        if (child.clusterQueue === undefined) collect(child);
        else if (isBorrowingAny(child, usage, keys)) borrowers.push(child.clusterQueue);
      }
    };
    collect(root);
    borrowersOf.set(root.id, borrowers);
    return borrowers;
  };
  const heldByBorrowers = (root: QuotaNode, key: FlavorResource, upTo: number): Amount => {
    const name = `${upTo} ${key} ${root.id}`;
    const found = sums.get(name);
    if (found !== undefined) return found;
    let sum = ZERO;
    for (const each of borrowersIn(root)) sum = plus(sum, admitted.quotaHeld(each, undefined, key, upTo));
    sums.set(name, sum);
    return sum;
  };

  const displaceableBy: DisplaceableBy = (queue, priority) => {
    const { name, node, preemption, mayPreemptWhileBorrowing } = queue;
    const asked = { priority, queue };
    const ownUpTo = preemption.withinClusterQueue === 'Never' ? Number.NEGATIVE_INFINITY : highestInQueue(asked);
    const othersUpTo = highestInCohort(asked);
    const root = preemption.reclaimWithinCohort === 'Never' ? undefined : rootAbove(node);
    const mayReclaim = (key: FlavorResource, amount: Amount, own: Amount): boolean =>
      mayPreemptWhileBorrowing ||
      usage.get(node.id, key) - own + amount <= subtreeQuota(node, key) ||
      borrowingReach(node, usage, key, amount).reclaimable;
    return {
      isAny: admitted.holdsAny(name, ownUpTo) || (root !== undefined && borrowersIn(root).some((each) => each !== name)),
      quota: (key, amount) => {
        const own = admitted.quotaHeld(name, undefined, key, ownUpTo);
        // Its own counts twice where it borrows itself: it is a bound.
        return root === undefined || !mayReclaim(key, amount, own) ? own : plus(own, heldByBorrowers(root, key, othersUpTo));
      },
    };
  };
  return (queue, priority) => {
    const byPriority = known.get(queue) ?? new Map<number, Displaceable>();
    known.set(queue, byPriority);
    const found = byPriority.get(priority) ?? displaceableBy(queue, priority);
    byPriority.set(priority, found);
    return found;
  };
}

function rootAbove(node: QuotaNode): QuotaNode | undefined {
  let root = node.parent;
  while (root?.parent !== undefined) root = root.parent;
  return root;
}
