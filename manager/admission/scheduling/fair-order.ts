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
  /** The nomination of this one, or of another of its ClusterQueue, is to come: which of them take part, and in what order, is open. */
  readonly isWaiting?: true;
};

/**
 * The order of one cycle with fair sharing, Kueue's tournament. In every Cohort, children are compared by the share that each has after
 * the admission of its own winner; the least share wins, up to the root. Nominees whose child does not borrow what they request go
 * first. Ties go by priority and age. Each decision changes the shares.
 *
 * A decision changes the usage of one ClusterQueue and its Cohorts, so only the matches on that path are played again. A heap in each
 * Cohort keeps the rest: ordering n nominees in a tree of depth d costs n * d * (d + log n). A tree is played once its first head may be
 * next, and who waits is nominated only when it wins the first match: a cycle that ends early has not nominated the others.
 */
export interface FairOrder<T extends Contender> {
  /** Removes and returns the next nominee; undefined after the last. The decision about the previous nominee must be charged by then. */
  next(): T | undefined;
  /** The usage of this ClusterQueue has changed otherwise, for example by a preemption. */
  changed(queue: QuotaNode): void;
}

/**
 * Nominees of one ClusterQueue take part one after the other, in the order given. `usage` is read whenever shares are computed, so it
 * includes the charges of the cycle so far. `nominate`: of those of one ClusterQueue who wait, with the same charges, those who take part,
 * in order.
 */
export function createFairOrder<T extends Contender, W extends Contender & { readonly isWaiting: true } = never>(
  contenders: Iterable<T | W>,
  usage: Usage,
  nominate: (waiting: readonly W[]) => readonly T[] = () => [],
): FairOrder<T> {
  const brackets = new Map<string, Bracket<T | W>>();
  const trees = new IndexedHeap<Match<T | W>>(({ id }) => id, compareTrees);
  let before: QuotaNode | undefined;
  /** Remaining contenders of each ClusterQueue, the first last. */
  const remaining = new Map<string, (T | W)[]>();
  /** ClusterQueues of trees that are not played yet, by root. */
  const unplayed = new Map<string, QuotaNode[]>();

  const bracketOf = (node: QuotaNode): Bracket<T | W> => {
    const known = brackets.get(node.id);
    if (known !== undefined) return known;
    const bracket: Bracket<T | W> = new IndexedHeap<Match<T | W>>(({ id }) => id, compareMatches);
    brackets.set(node.id, bracket);
    return bracket;
  };
  const isWaiting = (contender: T | W): contender is W => contender.isWaiting === true;
  const isNominated = (contender: T | W): contender is T => !isWaiting(contender);

  /** Sets whom a node sends into the match of its Cohort, or of the trees. */
  const enter = (node: QuotaNode, match: Match<T | W> | undefined): void => {
    const matches = node.parent === undefined ? trees : bracketOf(node.parent);
    if (match === undefined) matches.delete(node.id);
    else matches.set(match);
  };
  const matchOf = (node: QuotaNode, contender: T | W): Match<T | W> => ({
    id: node.id,
    contender,
    share: node.parent === undefined ? undefined : shareAfter(node, contender.node, usage, contender.charges),
  });
  /** A ClusterQueue whose contenders wait sends the one that goes furthest, so that none of them would go before it. */
  const enterQueue = (queue: QuotaNode): void => {
    const list = remaining.get(queue.id) ?? [];
    let first: Match<T | W> | undefined;
    for (const contender of list.at(-1)?.isWaiting === true ? list : list.slice(-1)) {
      const match = matchOf(queue, contender);
      if (first === undefined || compareMatches(match, first) < 0) first = match;
    }
    enter(queue, first);
  };
  const enterCohort = (cohort: QuotaNode): void => {
    const winner = winnerOf(cohort);
    enter(cohort, winner && matchOf(cohort, winner));
  };

  const nominateWaiting = (queue: QuotaNode): void => {
    const waiting = (remaining.get(queue.id) ?? []).filter(isWaiting).toReversed();
    remaining.set(queue.id, nominate(waiting).toReversed());
    enterQueue(queue);
  };

  /** The winner is nominated: a contender that waits, which only a ClusterQueue sends, is nominated first. */
  const winnerOf = (cohort: QuotaNode): T | undefined => {
    const bracket = bracketOf(cohort);
    for (let first = bracket.peek(); first !== undefined; first = bracket.peek()) {
      if (isNominated(first.contender)) return first.contender;
      nominateWaiting(first.contender.node);
    }
    return undefined;
  };

  /** Plays the matches again from a ClusterQueue up to its root. */
  const replay = (queue: QuotaNode): void => {
    if (unplayed.has(queue.rootId)) return;
    enterQueue(queue);
    for (let node = queue.parent; node !== undefined; node = node.parent) enterCohort(node);
  };

  /** Plays all matches of a tree, lower ones first. */
  const playAll = (queues: readonly QuotaNode[]): void => {
    const cohorts = new Set<QuotaNode>();
    for (const queue of queues) {
      enterQueue(queue);
      for (let node = queue.parent; node !== undefined && !cohorts.has(node); node = node.parent) cohorts.add(node);
    }
    for (const cohort of [...cohorts].toSorted((a, b) => a.height - b.height)) enterCohort(cohort);
  };

  for (const contender of contenders) {
    const { node } = contender;
    const others = remaining.get(node.id);
    if (others === undefined) {
      remaining.set(node.id, [contender]);
      const queues = unplayed.get(node.rootId);
      if (queues === undefined) unplayed.set(node.rootId, [node]);
      else queues.push(node);
    } else others.unshift(contender);
    // The first contender of all is a bound: no other of its tree goes before it.
    const match = { id: node.rootId, contender, share: undefined };
    const first = trees.get(node.rootId);
    if (first === undefined || compareTrees(match, first) < 0) trees.set(match);
  }
  const winner = (): T | undefined => {
    for (let first = trees.peek(); first !== undefined; first = trees.peek()) {
      const queues = unplayed.get(first.id);
      if (queues !== undefined) {
        unplayed.delete(first.id);
        trees.delete(first.id);
        playAll(queues);
      } else if (isNominated(first.contender)) return first.contender;
      else nominateWaiting(first.contender.node);
    }
    return undefined;
  };

  return {
    next: () => {
      if (before !== undefined) replay(before);
      const next = winner();
      before = next?.node;
      if (next !== undefined) remaining.get(next.node.id)?.pop();
      return next;
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
