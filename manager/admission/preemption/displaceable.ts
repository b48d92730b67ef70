import { plus, ZERO, type Amount } from '../../api/amount.ts';
import type { AdmittedIndex } from '../workload/admitted-index.ts';
import { hasNoVictimElsewhere } from './fair-bound.ts';
import { highestInCohort, highestInQueue } from './preemption-rules.ts';
import { borrowingReach, isBorrowingAny, subtreeQuota, type FlavorResource, type QuotaNode } from '../quota/quota-tree.ts';
import type { QueueSetup } from '../snapshot/snapshot.ts';
import type { Usage } from '../quota/usage.ts';

/**
 * Upper bounds of what preemption may yield to Workloads of a ClusterQueue: its own Workloads of lower priority, and those of borrowing
 * queues of its tree. They derive from sums kept anyway; preemption.ts finds the victims.
 */
export type Displaceable = {
  /**
   * The quota that a request of this amount may get by preemption. It decreases with the amount, because a larger request borrows itself.
   */
  readonly quota: (key: FlavorResource, amount: Amount) => Amount;
  /** Whether there is any candidate; without one, no cluster can gain room either. */
  readonly isAny: boolean;
};

/** Bounds for Workloads of at most this priority. */
export type DisplaceableBy = (queue: QueueSetup, priority: number) => Displaceable;

/** `isFair`: with fair sharing, only sides with a share that is at least that of the preemptor's side give anything. */
export function createDisplaceable(usage: Usage, admitted: AdmittedIndex, isFair = false): DisplaceableBy {
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
    // A Workload that displaces others of its own ClusterQueue first lowers the share of that queue.
    const mayGet = isFair && !admitted.holdsAny(name, ownUpTo) ? createFairLimits(node, usage) : () => true;
    const mayReclaim = (key: FlavorResource, amount: Amount, own: Amount): boolean =>
      mayPreemptWhileBorrowing ||
      usage.get(node.id, key) - own + amount <= subtreeQuota(node, key) ||
      borrowingReach(node, usage, key, amount).reclaimable;
    return {
      isAny: admitted.holdsAny(name, ownUpTo) || (root !== undefined && borrowersIn(root).some((each) => each !== name)),
      quota: (key, amount) => {
        const own = admitted.quotaHeld(name, undefined, key, ownUpTo);
        // The ClusterQueue's own quota counts twice if it borrows itself, which keeps the sum an upper bound.
        return root === undefined || !mayReclaim(key, amount, own) || !mayGet(key, amount)
          ? own
          : plus(own, heldByBorrowers(root, key, othersUpTo));
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

/**
 * Whether a request of this amount, beyond what is free, may find a victim in another ClusterQueue. A larger request has a larger share, so
 * that it finds none where a smaller one does not.
 */
function createFairLimits(queue: QuotaNode, usage: Usage): (key: FlavorResource, amount: Amount) => boolean {
  const limits = new Map<FlavorResource, { most: Amount; tooMuch: number }>();
  return (key, amount) => {
    const known = limits.get(key) ?? { most: ZERO, tooMuch: Number.POSITIVE_INFINITY };
    limits.set(key, known);
    if (amount <= known.most || amount >= known.tooMuch) return amount <= known.most;
    const isTooMuch = hasNoVictimElsewhere({ preemptor: { queue, charges: [[key, amount]] }, contested: [key], usage });
    if (isTooMuch) known.tooMuch = amount;
    else known.most = amount;
    return !isTooMuch;
  };
}

function rootAbove(node: QuotaNode): QuotaNode | undefined {
  let root = node.parent;
  while (root?.parent !== undefined) root = root.parent;
  return root;
}
