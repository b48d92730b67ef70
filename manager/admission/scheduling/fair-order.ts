import { IndexedHeap } from '../../../shared/kube/indexed-heap.ts';
import { borrowsAnyOf, compareShares, shareAfter, type Share } from '../preemption/fair-sharing.ts';
import type { Charge } from '../flavors/flavor-assigner.ts';
import { compareQueued, type QueuedWorkload } from '../workload/ordering.ts';
import type { QuotaNode } from '../quota/quota-tree.ts';
import type { Usage } from '../quota/usage.ts';

/** A nominee of one ClusterQueue, and the charges of its admission. */
export type Contender = {
  readonly node: QuotaNode;
  readonly charges: readonly Charge[];
  readonly head: QueuedWorkload;
  /** Workloads have been preempted for it: it goes first whatever the shares. */
  readonly goesFirst?: boolean;
};

/**
 * The order of one cycle with fair sharing, Kueue's tournament. In every Cohort, children are compared by the share that each has after
 * the admission of its own winner; the least share wins, up to the root. Nominees whose child does not borrow what they request go
 * first. Ties go by priority and age. Each decision changes the shares.
 *
 * A decision changes the usage of one ClusterQueue and its Cohorts, so only the matches on that path are played again. A heap in each
 * Cohort keeps the rest: ordering n nominees in a tree of depth d costs n * d * (d + log n).
 */
export interface FairOrder<T extends Contender> {
  /** Removes and returns the next nominee; undefined after the last. The decision about the previous nominee must be charged by then. */
  next(): T | undefined;
  /** The usage of this ClusterQueue has changed otherwise, for example by a preemption. */
  changed(queue: QuotaNode): void;
}

/**
 * Nominees of one ClusterQueue take part one after the other, in the order given. `usage` is read whenever shares are computed, so it
 * includes the charges of the cycle so far.
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

  /** Plays the matches again from a ClusterQueue up to its root, with `winner` as its nominee. */
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

  /** Remaining nominees of each ClusterQueue, the first last. */
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

/** One child of a Cohort, with its winner and its share after that admission. */
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

/** Trees share no quota, only clusters, so priority and age order them. */
const compareTrees = <T extends Contender>(a: Match<T>, b: Match<T>): number =>
  compareRights(a, b) || compareQueued(a.contender.head, b.contender.head);

const compareRights = <T extends Contender>({ contender: a }: Match<T>, { contender: b }: Match<T>): number =>
  Number(b.goesFirst === true) - Number(a.goesFirst === true);
