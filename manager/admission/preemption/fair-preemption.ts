import { ZERO } from '../../api/amount.ts';
import { compareShares, isBorrowing, shareOf, sharesIn, shareWithout, usageWith, type Share } from './fair-sharing.ts';
import { FairStrategy } from '../fair-sharing/fair-strategy.ts';
import type { Charge } from '../flavors/flavor-assigner.ts';
import { wouldBorrow, type FlavorResource, type QuotaNode } from '../quota/quota-tree.ts';
import type { Usage } from '../quota/usage.ts';

/** The rule under which a victim was chosen, in Kueue's words. */
export type FairRule = 'InClusterQueue' | 'InCohortReclamation' | 'InCohortFairSharing';

/** An admitted Workload that the preemptor's policies allow to be preempted, with its charges. */
export type FairCandidate = { readonly queue: QuotaNode; readonly charges: readonly Charge[] };
export type FairVictim<C> = { readonly candidate: C; readonly rule: FairRule };

export type FairSearch<C extends FairCandidate> = {
  readonly preemptor: { readonly queue: QuotaNode; readonly charges: readonly Charge[] };
  /** What the preemptor requests and cannot have. If it stays within its own quota of all of these, it reclaims, whatever the shares. */
  readonly contested: Iterable<FlavorResource>;
  /** Candidates of a ClusterQueue, in the order in which they are preempted: looked for only where its share asks for that. */
  readonly candidatesOf: (queue: QuotaNode) => readonly C[];
  /** Orders candidates of ClusterQueues with equal shares. Negative if `a` goes first. */
  readonly compare: (a: C, b: C) => number;
  /** The first strategy considers all candidates, the second those that the first has passed over. */
  readonly strategies: readonly FairStrategy[];
  /**
   * The ClusterQueue for which the preemptor was preempted. It gives back only what leaves it with as much as the preemptor's side has
   * then: by the other strategy, two Jobs could preempt each other in turns.
   */
  readonly preemptedFor?: string | undefined;
  /** The current usage; not changed. */
  readonly usage: Usage;
  /** Removes the quota and room of a candidate from a usage, and restores it. */
  readonly remove: (usage: Usage, candidate: C) => void;
  readonly restore: (usage: Usage, candidate: C) => void;
  /** Whether the preemptor fits a usage that does not include it. */
  readonly fits: (usage: Usage) => boolean;
};

/**
 * Chooses victims with fair sharing, as Kueue does. The search walks the tree from the root to the child with the highest share, again and
 * again. A Workload of the ClusterQueue found there is chosen if the strategy allows it by the shares of both sides below their lowest
 * common Cohort. The preemptor's share includes its request. Victims that are not needed in the end are put back. Empty if no set suffices.
 */
export function fairPreemption<C extends FairCandidate>(search: FairSearch<C>): readonly FairVictim<C>[] {
  const state = stateOf(search);
  const [first, second] = search.strategies;
  if (first === undefined) return [];
  const { spared: passedOver, fits } = runFirst(search, state, first);
  if (!fits && (second === undefined || !runSecond(search, state, passedOver))) return [];
  return fillBack(search, state);
}

type State<C> = {
  /** Usage with the preemptor and without the victims. */
  readonly shared: Usage;
  /** Usage without the preemptor and without the victims. */
  readonly rest: Usage;
  /** Shares of nodes whose usage the preemptor or a victim has changed; undefined until they are needed. */
  readonly shares: Map<QuotaNode, Share | undefined>;
  /** Shares before any change, and the borrowing children of a Cohort by them, the highest first. */
  readonly sharesBefore: (node: QuotaNode) => Share;
  readonly borrowersBefore: (cohort: QuotaNode) => readonly QuotaNode[];
  readonly above: ReadonlySet<QuotaNode>;
  victims: Chosen<C>[];
};

/** A victim, and the strategy by which it was chosen; undefined if it was chosen whatever the shares. */
type Chosen<C> = FairVictim<C> & { readonly strategy: FairStrategy | undefined };

function stateOf<C extends FairCandidate>({ preemptor, usage }: FairSearch<C>): State<C> {
  const shared = usageWith(preemptor, usage);
  const above = pathAbove(preemptor.queue);
  const shares = new Map([preemptor.queue, ...above].map((node) => [node, undefined]));
  return {
    shared,
    rest: usage.fork(),
    shares,
    sharesBefore: usage.derived(sharesIn),
    borrowersBefore: usage.derived(borrowersIn),
    above: new Set(above),
    victims: [],
  };
}

/** The borrowing children of a Cohort, the highest share first. */
function borrowersIn(usage: Usage): (cohort: QuotaNode) => readonly QuotaNode[] {
  const shares = usage.derived(sharesIn);
  const known = new Map<QuotaNode, readonly QuotaNode[]>();
  return (cohort) => {
    const found =
      known.get(cohort) ??
      cohort.children.filter((child) => isBorrowing(shares(child))).toSorted((a, b) => compareShares(shares(b), shares(a)));
    known.set(cohort, found);
    return found;
  };
}

/** The ClusterQueues that were passed over, in that order, each with its first candidate that was. */
type Spared<C> = Map<QuotaNode, () => C | undefined>;

/** Chooses candidates by the first strategy until the preemptor fits. */
function runFirst<C extends FairCandidate>(
  search: FairSearch<C>,
  state: State<C>,
  strategy: FairStrategy,
): { fits: boolean; spared: Spared<C> } {
  const own = search.preemptor.queue;
  const takesBackItsOwn = [...search.contested].every((key) => !wouldBorrow(own, state.shared, key, ZERO));
  const spared: Spared<C> = new Map();
  const spare = (queue: QuotaNode, first: () => C | undefined): void => {
    if (!spared.has(queue)) spared.set(queue, first);
  };
  const targets = new Targets(own, state, {
    ...search,
    // Either strategy spares a side whose share is less than the preemptor's, as no share grows by what is given up.
    mayGive: (queue) => queue === own || takesBackItsOwn || compareSides(state, own, queue) <= 0,
    skipped: spare,
  });
  for (let target = targets.next(); target !== undefined; target = targets.next()) {
    const { queue } = target;
    if (queue === own || takesBackItsOwn) {
      take(search, state, target.pop(), queue === own ? 'InClusterQueue' : 'InCohortReclamation', undefined);
      if (search.fits(state.rest)) return { fits: true, spared };
      continue;
    }
    const sides = sidesOf(own, queue, state.above);
    const preemptorShare = shareIn(state, sides.preemptor);
    const before = shareIn(state, sides.target);
    const applied = hasPreempted(search, queue) ? FairStrategy.LessThanOrEqualToFinalShare : strategy;
    while (!target.isEmpty()) {
      const candidate = target.pop();
      if (!allows(applied, preemptorShare, before, () => shareWithout(sides.target, queue, state.shared, candidate.charges))) {
        spare(queue, () => candidate);
        continue;
      }
      take(search, state, candidate, 'InCohortFairSharing', applied);
      if (search.fits(state.rest)) return { fits: true, spared };
      // Another ClusterQueue may have the highest share now.
      break;
    }
  }
  return { fits: false, spared };
}

/** The second strategy considers the first candidate of each ClusterQueue that was passed over, and ignores what the candidate holds. */
function runSecond<C extends FairCandidate>(search: FairSearch<C>, state: State<C>, spared: Spared<C>): boolean {
  const own = search.preemptor.queue;
  const places = new Map([...spared.keys()].map((queue, place) => [queue, place]));
  const targets = new Targets<C>(own, state, {
    candidatesOf: (queue) => [spared.get(queue)?.()].filter((candidate) => candidate !== undefined),
    compare: (a, b) => (places.get(a.queue) ?? 0) - (places.get(b.queue) ?? 0),
    mayGive: (queue) => spared.has(queue) && !hasPreempted(search, queue) && compareSides(state, own, queue) < 0,
    skipped: () => undefined,
  });
  for (let target = targets.next(); target !== undefined; target = targets.next()) {
    take(search, state, target.pop(), 'InCohortFairSharing', FairStrategy.LessThanInitialShare);
    if (search.fits(state.rest)) return true;
  }
  return false;
}

/** Compares the shares of the preemptor's side and of the other one. Negative if the preemptor's is the smaller one. */
function compareSides<C>(state: State<C>, preemptor: QuotaNode, target: QuotaNode): number {
  const sides = sidesOf(preemptor, target, state.above);
  return compareShares(shareIn(state, sides.preemptor), shareIn(state, sides.target));
}

const hasPreempted = ({ preemptedFor }: Pick<FairSearch<FairCandidate>, 'preemptedFor'>, { clusterQueue }: QuotaNode): boolean =>
  clusterQueue !== undefined && clusterQueue === preemptedFor;

function allows(strategy: FairStrategy, preemptor: Share, before: Share, after: () => Share): boolean {
  switch (strategy) {
    case FairStrategy.LessThanOrEqualToFinalShare:
      return compareShares(preemptor, after()) <= 0;
    case FairStrategy.LessThanInitialShare:
      return compareShares(preemptor, before) < 0;
  }
}

function take<C extends FairCandidate>(
  search: FairSearch<C>,
  state: State<C>,
  candidate: C,
  rule: FairRule,
  strategy: FairStrategy | undefined,
): void {
  search.remove(state.shared, candidate);
  search.remove(state.rest, candidate);
  for (let node: QuotaNode | undefined = candidate.queue; node !== undefined; node = node.parent) state.shares.set(node, undefined);
  state.victims.push({ candidate, rule, strategy });
}

/**
 * Puts back, from the last but one to the first, the victims that the preemptor does not need. One of its own ClusterQueue stays where its
 * share would grow so far that another victim could not have been chosen: the two could preempt each other in turns (Kueue issue 14543).
 */
function fillBack<C extends FairCandidate>(search: FairSearch<C>, { rest, above, victims }: State<C>): readonly FairVictim<C>[] {
  const own = search.preemptor.queue;
  let needed: readonly Chosen<C>[] = victims;
  for (const victim of victims.slice(0, -1).toReversed()) {
    const others = needed.filter((each) => each !== victim);
    search.restore(rest, victim.candidate);
    if (search.fits(rest) && (victim.candidate.queue !== own || areAllowed(search, above, others))) needed = others;
    else search.remove(rest, victim.candidate);
  }
  return needed.map(({ candidate, rule }) => ({ candidate, rule }));
}

/** Whether each of these victims may be chosen, one after the other. */
function areAllowed<C extends FairCandidate>(search: FairSearch<C>, above: ReadonlySet<QuotaNode>, chosen: readonly Chosen<C>[]): boolean {
  const shared = usageWith(search.preemptor, search.usage);
  return chosen.every(({ candidate, strategy }) => {
    const sides = sidesOf(search.preemptor.queue, candidate.queue, above);
    const [preemptor, before] = [shareOf(sides.preemptor, shared), shareOf(sides.target, shared)];
    search.remove(shared, candidate);
    return strategy === undefined || allows(strategy, preemptor, before, () => shareOf(sides.target, shared));
  });
}

function shareIn<C>({ shares, shared, sharesBefore }: State<C>, node: QuotaNode): Share {
  const known = shares.get(node);
  if (known !== undefined) return known;
  if (!shares.has(node)) return sharesBefore(node);
  const share = shareOf(node, shared);
  shares.set(node, share);
  return share;
}

const pathAbove = (queue: QuotaNode): QuotaNode[] => (queue.parent === undefined ? [] : [queue.parent, ...pathAbove(queue.parent)]);

/** The two children of the lowest common Cohort, one on each side. */
function sidesOf(
  preemptor: QuotaNode,
  target: QuotaNode,
  above: ReadonlySet<QuotaNode>,
): { readonly preemptor: QuotaNode; readonly target: QuotaNode } {
  let targetSide = target;
  while (targetSide.parent !== undefined && !above.has(targetSide.parent)) targetSide = targetSide.parent;
  let preemptorSide = preemptor;
  while (preemptorSide.parent !== undefined && preemptorSide.parent !== targetSide.parent) preemptorSide = preemptorSide.parent;
  return { preemptor: preemptorSide, target: targetSide };
}

/** A ClusterQueue with remaining candidates. */
type Target<C> = { readonly queue: QuotaNode; pop(): C; isEmpty(): boolean };

/** How a strategy looks for ClusterQueues to take victims from. */
type TargetSearch<C extends FairCandidate> = Pick<FairSearch<C>, 'candidatesOf' | 'compare'> & {
  /** Whether any candidate of the ClusterQueue may be chosen now. Otherwise it is `skipped`, with the first that it has left. */
  readonly mayGive: (queue: QuotaNode) => boolean;
  readonly skipped: (queue: QuotaNode, first: () => C | undefined) => void;
};

/** The ClusterQueues to take victims from, one after the other. */
class Targets<C extends FairCandidate> {
  readonly #own: QuotaNode;
  readonly #state: State<C>;
  readonly #search: TargetSearch<C>;
  /** Remaining candidates of the ClusterQueues that were looked at, the first last. */
  readonly #waiting = new Map<QuotaNode, C[]>();
  readonly #pruned = new Set<QuotaNode>();
  /** For each Cohort visited, the first of its borrowing children that may be left and whose share has not changed. */
  readonly #places = new Map<QuotaNode, number>();

  constructor(own: QuotaNode, state: State<C>, search: TargetSearch<C>) {
    this.#own = own;
    this.#state = state;
    this.#search = search;
  }

  /** The next ClusterQueue to take a victim from; undefined if there is none. Between two calls pop a candidate. */
  next(): Target<C> | undefined {
    const { mayGive, skipped } = this.#search;
    let root = this.#own;
    while (root.parent !== undefined) root = root.parent;
    let node = root;
    while (!this.#pruned.has(root)) {
      if (isQueue(node)) {
        const queue = node;
        const list = mayGive(queue) ? this.#waitingIn(queue) : [];
        if (list.length > 0) return this.#targetOf(queue, list);
        skipped(queue, () => this.#waitingIn(queue).at(-1));
      }
      const heaviest = this.#heaviestOf(node);
      if (heaviest === undefined) this.#pruned.add(node);
      node = heaviest ?? root;
    }
    return undefined;
  }

  #targetOf(queue: QuotaNode, list: C[]): Target<C> {
    return {
      queue,
      pop: () => {
        const next = list.pop();
        if (next === undefined) throw new Error(`${queue.id} has no candidates left`);
        if (list.length === 0) this.#pruned.add(queue);
        return next;
      },
      isEmpty: () => list.length === 0,
    };
  }

  #waitingIn(queue: QuotaNode): C[] {
    const known = this.#waiting.get(queue) ?? this.#search.candidatesOf(queue).toReversed();
    this.#waiting.set(queue, known);
    return known;
  }

  /** Whether a node has no candidates left. Only nodes that borrow have any, Cohorts above the preemptor, and its own ClusterQueue. */
  #isPruned(node: QuotaNode): boolean {
    const { shares, sharesBefore } = this.#state;
    return this.#pruned.has(node) || !(shares.has(node) || isBorrowing(sharesBefore(node)));
  }

  /** The first remaining candidate of a node. */
  #firstOf(node: QuotaNode): C | undefined {
    if (this.#isPruned(node)) return undefined;
    if (isQueue(node)) return this.#waitingIn(node).at(-1);
    let first: C | undefined;
    for (const child of node.children) {
      const candidate = this.#firstOf(child);
      if (candidate !== undefined && (first === undefined || this.#search.compare(candidate, first) < 0)) first = candidate;
    }
    return first;
  }

  /** The child with the highest share. Among equals Cohorts go first, because a child of theirs may have a higher share. */
  #heaviestOf(cohort: QuotaNode): QuotaNode | undefined {
    const { shares, sharesBefore, borrowersBefore } = this.#state;
    let heaviest = this.#heaviestChanged(cohort);
    let place = this.#places.get(cohort) ?? 0;
    const borrowers = borrowersBefore(cohort);
    const isLeft = (node: QuotaNode): boolean => !this.#pruned.has(node) && !shares.has(node);
    for (let index = place; index < borrowers.length; index++) {
      const node = borrowers[index];
      if (node === undefined || !isLeft(node)) {
        if (index === place) place++;
        continue;
      }
      const share = sharesBefore(node);
      if (heaviest !== undefined && compareShares(share, heaviest.share) < 0) break;
      heaviest = this.#heavier(heaviest, { node, share });
    }
    this.#places.set(cohort, place);
    return heaviest?.node;
  }

  /** The same among the children whose share the preemptor or a victim has changed. */
  #heaviestChanged(cohort: QuotaNode): Heavy | undefined {
    let heaviest: Heavy | undefined;
    for (const node of this.#state.shares.keys()) {
      if (node.parent !== cohort || this.#pruned.has(node)) continue;
      const share = shareIn(this.#state, node);
      if (isBorrowing(share) || node === this.#own || this.#state.above.has(node)) heaviest = this.#heavier(heaviest, { node, share });
      else this.#pruned.add(node);
    }
    return heaviest;
  }

  #heavier(heaviest: Heavy | undefined, other: Heavy): Heavy {
    if (heaviest === undefined) return other;
    const difference = compareShares(other.share, heaviest.share);
    return difference > 0 || (difference === 0 && this.#goesFirst(other.node, heaviest.node)) ? other : heaviest;
  }

  #goesFirst(a: QuotaNode, b: QuotaNode): boolean {
    if (isQueue(a) !== isQueue(b)) return isQueue(b);
    const [first, other] = [this.#firstOf(a), this.#firstOf(b)];
    return first !== undefined && (other === undefined || this.#search.compare(first, other) < 0);
  }
}

type Heavy = { readonly node: QuotaNode; readonly share: Share };

const isQueue = ({ clusterQueue }: QuotaNode): boolean => clusterQueue !== undefined;
