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
  return new Tournament(contenders, usage, nominate);
}

class Tournament<T extends Contender, W extends Contender & { readonly isWaiting: true }> implements FairOrder<T> {
  readonly #usage: Usage;
  readonly #nominate: (waiting: readonly W[]) => readonly T[];
  readonly #brackets = new Map<string, Bracket<T | W>>();
  readonly #trees = new IndexedHeap<Match<T | W>>(({ id }) => id, compareTrees);
  #before: QuotaNode | undefined;
  /** Remaining contenders of each ClusterQueue, the first last. */
  readonly #remaining = new Map<string, (T | W)[]>();
  /** ClusterQueues of trees that are not played yet, by root. */
  readonly #unplayed = new Map<string, QuotaNode[]>();

  constructor(contenders: Iterable<T | W>, usage: Usage, nominate: (waiting: readonly W[]) => readonly T[]) {
    this.#usage = usage;
    this.#nominate = nominate;
    for (const contender of contenders) this.#add(contender);
  }

  next(): T | undefined {
    if (this.#before !== undefined) this.changed(this.#before);
    const next = this.#winner();
    this.#before = next?.node;
    if (next !== undefined) this.#remaining.get(next.node.id)?.pop();
    return next;
  }

  /** Plays the matches again from a ClusterQueue up to its root. */
  changed(queue: QuotaNode): void {
    if (this.#unplayed.has(queue.rootId)) return;
    this.#enterQueue(queue);
    for (let node = queue.parent; node !== undefined; node = node.parent) this.#enterCohort(node);
  }

  #add(contender: T | W): void {
    const { node } = contender;
    const others = this.#remaining.get(node.id);
    if (others === undefined) {
      this.#remaining.set(node.id, [contender]);
      const queues = this.#unplayed.get(node.rootId);
      if (queues === undefined) this.#unplayed.set(node.rootId, [node]);
      else queues.push(node);
    } else others.unshift(contender);
    // The first contender of all is a bound: no other of its tree goes before it.
    const match = { id: node.rootId, contender, share: undefined };
    const first = this.#trees.get(node.rootId);
    if (first === undefined || compareTrees(match, first) < 0) this.#trees.set(match);
  }

  #bracketOf(node: QuotaNode): Bracket<T | W> {
    const known = this.#brackets.get(node.id);
    if (known !== undefined) return known;
    const bracket: Bracket<T | W> = new IndexedHeap<Match<T | W>>(({ id }) => id, compareMatches);
    this.#brackets.set(node.id, bracket);
    return bracket;
  }

  /** Sets whom a node sends into the match of its Cohort, or of the trees. */
  #enter(node: QuotaNode, match: Match<T | W> | undefined): void {
    const matches = node.parent === undefined ? this.#trees : this.#bracketOf(node.parent);
    if (match === undefined) matches.delete(node.id);
    else matches.set(match);
  }

  #matchOf(node: QuotaNode, contender: T | W): Match<T | W> {
    const share = node.parent === undefined ? undefined : shareAfter(node, contender.node, this.#usage, contender.charges);
    return { id: node.id, contender, share };
  }

  /** A ClusterQueue whose contenders wait sends the one that goes furthest, so that none of them would go before it. */
  #enterQueue(queue: QuotaNode): void {
    const list = this.#remaining.get(queue.id) ?? [];
    let first: Match<T | W> | undefined;
    for (const contender of list.at(-1)?.isWaiting === true ? list : list.slice(-1)) {
      const match = this.#matchOf(queue, contender);
      if (first === undefined || compareMatches(match, first) < 0) first = match;
    }
    this.#enter(queue, first);
  }

  #enterCohort(cohort: QuotaNode): void {
    const winner = this.#winnerOf(cohort);
    this.#enter(cohort, winner && this.#matchOf(cohort, winner));
  }

  #nominateWaiting(queue: QuotaNode): void {
    const waiting = (this.#remaining.get(queue.id) ?? []).filter(isWaiting<T, W>).toReversed();
    this.#remaining.set(queue.id, this.#nominate(waiting).toReversed());
    this.#enterQueue(queue);
  }

  /** The winner is nominated: a contender that waits, which only a ClusterQueue sends, is nominated first. */
  #winnerOf(cohort: QuotaNode): T | undefined {
    const bracket = this.#bracketOf(cohort);
    for (let first = bracket.peek(); first !== undefined; first = bracket.peek()) {
      if (!isWaiting<T, W>(first.contender)) return first.contender;
      this.#nominateWaiting(first.contender.node);
    }
    return undefined;
  }

  /** Plays all matches of a tree, lower ones first. */
  #playAll(queues: readonly QuotaNode[]): void {
    const cohorts = new Set<QuotaNode>();
    for (const queue of queues) {
      this.#enterQueue(queue);
      for (let node = queue.parent; node !== undefined && !cohorts.has(node); node = node.parent) cohorts.add(node);
    }
    for (const cohort of [...cohorts].toSorted((a, b) => a.height - b.height)) this.#enterCohort(cohort);
  }

  #winner(): T | undefined {
    for (let first = this.#trees.peek(); first !== undefined; first = this.#trees.peek()) {
      const queues = this.#unplayed.get(first.id);
      if (queues !== undefined) {
        this.#unplayed.delete(first.id);
        this.#trees.delete(first.id);
        this.#playAll(queues);
      } else if (!isWaiting<T, W>(first.contender)) return first.contender;
      else this.#nominateWaiting(first.contender.node);
    }
    return undefined;
  }
}

const isWaiting = <T extends Contender, W extends Contender & { readonly isWaiting: true }>(contender: T | W): contender is W =>
  contender.isWaiting === true;

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
