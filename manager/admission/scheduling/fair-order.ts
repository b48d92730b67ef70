import { IndexedHeap } from '../../../shared/kube/indexed-heap.ts';
import { borrowsAnyOf, compareShares, shareAfter, type Share } from '../preemption/fair-sharing.ts';
import type { Charge } from '../flavors/flavor-assigner.ts';
import { compareQueued, type QueuedWorkload } from '../workload/ordering.ts';
import type { QuotaNode } from '../quota/quota-tree.ts';
import type { Usage } from '../quota/usage.ts';

/** Who takes part: a nominee of one ClusterQueue, and what it would be charged. */
export type Contender = {
  readonly node: QuotaNode;
  readonly charges: readonly Charge[];
  readonly head: QueuedWorkload;
  /** Whatever the shares: others have made room for it. */
  readonly goesFirst?: boolean;
};

/**
 * The order of one cycle with fair sharing, as Kueue's: a tournament. In every Cohort its children are compared by the share that each would have
 * after the admission of its own winner, and the least wins; so one nominee comes up to the root. Before that those whose child does not
 * borrow what they ask for go first, and after it the higher priority and the older Job. Once the winner is decided on, the shares are others.
 *
 * A decision changes the usage of one ClusterQueue and of the Cohorts above it, so only the matches on that way are played again: a heap in each
 * Cohort keeps the others, and an order of n nominees in a tree of depth d costs n * d * (d + log n).
 */
export interface FairOrder<T extends Contender> {
  /** The next in order, which no longer takes part; undefined when all have had their turn. What was decided for the one before must be charged by now. */
  next(): T | undefined;
  /** The usage of this ClusterQueue has changed otherwise: what stops is no longer charged, for instance. */
  changed(queue: QuotaNode): void;
}

/**
 * Those of one ClusterQueue take part one after the other, as they are given. `usage` is read whenever shares are computed, so what the cycle charges to it
 * counts from then on.
 */
export function createFairOrder<T extends Contender>(contenders: Iterable<T>, usage: Usage): FairOrder<T> {
  const brackets = new Map<string, Bracket<T>>();
  const trees = new IndexedHeap<Match<T>>(({ id }) => id, compareTrees);
  let before: QuotaNode | undefined;

  const bracketOf = (node: QuotaNode): Bracket<T> => {
    const known = brackets.get(node.id);
    if (known !== undefined) return known;
    const bracket: Bracket<T> = new IndexedHeap<Match<T>>(({ id }) => id, compareMatches);
    brackets.set(node.id, bracket);
    return bracket;
  };

  /** Plays the matches again from a node up to its root, with `winner` for the node itself. */
  const play = (start: QuotaNode, winner: T | undefined): void => {
    let node = start;
    let best = winner;
    while (node.parent !== undefined) {
      const bracket = bracketOf(node.parent);
      if (best === undefined) bracket.delete(node.id);
      else bracket.set({ id: node.id, contender: best, share: shareAfter(node, best.node, usage, best.charges) });
      best = bracket.peek()?.contender;
      node = node.parent;
    }
    if (best === undefined) trees.delete(node.id);
    else trees.set({ id: node.id, contender: best, share: undefined });
  };

  /** Of each ClusterQueue, the first last. */
  const remaining = new Map<string, T[]>();
  const replay = (queue: QuotaNode): void => play(queue, remaining.get(queue.id)?.at(-1));

  for (const contender of contenders) {
    const others = remaining.get(contender.node.id);
    if (others === undefined) remaining.set(contender.node.id, [contender]);
    else others.unshift(contender);
  }
  for (const [first] of remaining.values()) if (first !== undefined) replay(first.node);
  return {
    next: () => {
      if (before !== undefined) replay(before);
      const winner = trees.peek()?.contender;
      before = winner?.node;
      if (winner !== undefined) remaining.get(winner.node.id)?.pop();
      return winner;
    },
    changed: replay,
  };
}

/** One child of a Cohort, with its own winner and the share that it would have then. */
type Match<T> = { readonly id: string; readonly contender: T; readonly share: Share | undefined };
type Bracket<T> = IndexedHeap<Match<T>>;

function compareMatches<T extends Contender>(a: Match<T>, b: Match<T>): number {
  const byRight = compareRights(a, b);
  if (byRight !== 0) return byRight;
  if (a.share !== undefined && b.share !== undefined) {
    const [aBorrows, bBorrows] = [borrowsAnyOf(a.share, a.contender.charges), borrowsAnyOf(b.share, b.contender.charges)];
    if (aBorrows !== bBorrows) return aBorrows ? 1 : -1;
    const byShare = compareShares(a.share, b.share);
    if (byShare !== 0) return byShare;
  }
  return compareQueued(a.contender.head, b.contender.head);
}

/** Trees share no quota, but the room on clusters: priority and age decide. */
const compareTrees = <T extends Contender>(a: Match<T>, b: Match<T>): number =>
  compareRights(a, b) || compareQueued(a.contender.head, b.contender.head);

const compareRights = <T extends Contender>({ contender: a }: Match<T>, { contender: b }: Match<T>): number =>
  Number(b.goesFirst === true) - Number(a.goesFirst === true);
