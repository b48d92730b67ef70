import { ZERO } from '../../api/amount.ts';
import { compareShares, isBorrowing, shareOf, weightedShare, type Share } from './fair-sharing.ts';
import { FairStrategy } from '../fair-sharing/fair-strategy.ts';
import type { Charge } from '../flavors/flavor-assigner.ts';
import { addUsage, wouldBorrow, type FlavorResource, type QuotaNode } from '../quota/quota-tree.ts';
import type { Usage } from '../quota/usage.ts';

/** Under which rule a victim was chosen; Kueue's words. */
export type FairRule = 'InClusterQueue' | 'InCohortReclamation' | 'InCohortFairSharing';

/** An admitted Workload that the preemptor's policies allow to be preempted, with what it is charged. */
export type FairCandidate = { readonly queue: QuotaNode; readonly charges: readonly Charge[] };
export type FairVictim<C> = { readonly candidate: C; readonly rule: FairRule };

export type FairSearch<C extends FairCandidate> = {
  readonly preemptor: { readonly queue: QuotaNode; readonly charges: readonly Charge[] };
  /** What the preemptor asks for and cannot have: where it stays within its own of this, it takes back what is its own, whatever the shares. */
  readonly contested: Iterable<FlavorResource>;
  /** In the order in which those of one ClusterQueue are taken. */
  readonly candidates: readonly C[];
  /** The first is tried with all candidates, the second with those that the first has spared. */
  readonly strategies: readonly FairStrategy[];
  /** As things are; not changed. */
  readonly usage: Usage;
  /** Takes from this usage what the candidate holds, of quota and of its cluster; and puts it back. */
  readonly remove: (usage: Usage, candidate: C) => void;
  readonly restore: (usage: Usage, candidate: C) => void;
  /** Whether the preemptor fits into what this usage, without it, leaves free. */
  readonly fits: (usage: Usage) => boolean;
};

/**
 * Chooses whom to preempt with fair sharing, as Kueue does: again and again the tree is walked from the root to the child of the highest share, and
 * one Workload of the ClusterQueue that is found there goes, if the strategy allows it. From the shares of both sides below the Cohort that they have in
 * common it follows whether it does; the preemptor's includes what it asks for. Whoever turns out to be spared in the end is. Empty: there is no such set.
 */
export function fairPreemption<C extends FairCandidate>(search: FairSearch<C>): readonly FairVictim<C>[] {
  const state = stateOf(search);
  const [first, second] = search.strategies;
  if (first === undefined) return [];
  const { spared, fits } = runFirst(search, state, first);
  if (!fits && (second === undefined || !runSecond(search, state, spared))) return [];
  return withoutTheNeedless(search, state);
}

type State<C> = {
  /** With the preemptor, and without the victims. */
  readonly shared: Usage;
  /** Without either. */
  readonly rest: Usage;
  readonly shares: Map<string, Share>;
  readonly above: ReadonlySet<QuotaNode>;
  victims: FairVictim<C>[];
};

function stateOf<C extends FairCandidate>({ preemptor, usage }: FairSearch<C>): State<C> {
  const shared = usage.fork();
  for (const [key, amount] of preemptor.charges) addUsage(preemptor.queue, shared, key, amount);
  return { shared, rest: usage.fork(), shares: new Map(), above: new Set(pathAbove(preemptor.queue)), victims: [] };
}

/** Takes candidates by the first strategy until the preemptor fits. */
function runFirst<C extends FairCandidate>(search: FairSearch<C>, state: State<C>, strategy: FairStrategy): { fits: boolean; spared: C[] } {
  const { preemptor } = search;
  const targets = createTargets(search, state, search.candidates);
  const takesBackItsOwn = [...search.contested].every((key) => !wouldBorrow(preemptor.queue, state.shared, key, ZERO));
  const spared: C[] = [];
  for (let target = targets.next(); target !== undefined; target = targets.next()) {
    const { queue } = target;
    if (queue === preemptor.queue || takesBackItsOwn) {
      take(search, state, target.pop(), queue === preemptor.queue ? 'InClusterQueue' : 'InCohortReclamation');
      if (search.fits(state.rest)) return { fits: true, spared };
      continue;
    }
    const sides = sidesOf(preemptor.queue, queue, state.above);
    const mine = shareIn(state, sides.preemptor);
    const before = shareIn(state, sides.target);
    // What a side without weight borrows is more than whatever the other has, before and after.
    const isHopeless = weightedShare(mine) === Infinity && weightedShare(before) !== Infinity;
    while (!target.isEmpty()) {
      const candidate = target.pop();
      if (isHopeless || !allows(strategy, mine, before, () => shareWithout(search, state, sides.target, candidate))) {
        spared.push(candidate);
        continue;
      }
      take(search, state, candidate, 'InCohortFairSharing');
      if (search.fits(state.rest)) return { fits: true, spared };
      // By now another ClusterQueue may have the highest share.
      break;
    }
  }
  return { fits: false, spared };
}

/** Of each ClusterQueue the first that was spared may go by the second strategy, which does not ask what it holds. */
function runSecond<C extends FairCandidate>(search: FairSearch<C>, state: State<C>, spared: readonly C[]): boolean {
  const targets = createTargets(search, state, spared);
  for (let target = targets.next(); target !== undefined; target = targets.next()) {
    const candidate = target.pop();
    target.drop();
    const sides = sidesOf(search.preemptor.queue, target.queue, state.above);
    if (compareShares(shareIn(state, sides.preemptor), shareIn(state, sides.target)) >= 0) continue;
    take(search, state, candidate, 'InCohortFairSharing');
    if (search.fits(state.rest)) return true;
  }
  return false;
}

function allows(strategy: FairStrategy, preemptor: Share, before: Share, after: () => Share): boolean {
  switch (strategy) {
    case FairStrategy.LessThanOrEqualToFinalShare:
      return compareShares(preemptor, after()) <= 0;
    case FairStrategy.LessThanInitialShare:
      return compareShares(preemptor, before) < 0;
  }
}

function take<C extends FairCandidate>(search: FairSearch<C>, state: State<C>, candidate: C, rule: FairRule): void {
  search.remove(state.shared, candidate);
  search.remove(state.rest, candidate);
  for (let node: QuotaNode | undefined = candidate.queue; node !== undefined; node = node.parent) state.shares.delete(node.id);
  state.victims.push({ candidate, rule });
}

/** Puts back, from the last but one to the first, whoever need not go for the preemptor to fit. */
function withoutTheNeedless<C extends FairCandidate>(search: FairSearch<C>, { rest, victims }: State<C>): readonly FairVictim<C>[] {
  const last = victims.length - 1;
  const needed = victims.filter((_, index) => index === last);
  for (const victim of victims.slice(0, -1).toReversed()) {
    search.restore(rest, victim.candidate);
    if (search.fits(rest)) continue;
    search.remove(rest, victim.candidate);
    needed.unshift(victim);
  }
  return needed;
}

function shareIn<C>({ shares, shared }: State<C>, node: QuotaNode): Share {
  const known = shares.get(node.id);
  if (known !== undefined) return known;
  const share = shareOf(node, shared);
  shares.set(node.id, share);
  return share;
}

function shareWithout<C extends FairCandidate>(search: FairSearch<C>, { shared }: State<C>, node: QuotaNode, candidate: C): Share {
  const after = shared.fork();
  search.remove(after, candidate);
  return shareOf(node, after);
}

const pathAbove = (queue: QuotaNode): QuotaNode[] => (queue.parent === undefined ? [] : [queue.parent, ...pathAbove(queue.parent)]);

/** The children of the lowest Cohort above both, on either side. */
function sidesOf(
  preemptor: QuotaNode,
  target: QuotaNode,
  above: ReadonlySet<QuotaNode>,
): { readonly preemptor: QuotaNode; readonly target: QuotaNode } {
  let theirs = target;
  while (theirs.parent !== undefined && !above.has(theirs.parent)) theirs = theirs.parent;
  let ours = preemptor;
  while (ours.parent !== undefined && ours.parent !== theirs.parent) ours = ours.parent;
  return { preemptor: ours, target: theirs };
}

/** A ClusterQueue with candidates left. */
type Target<C> = { readonly queue: QuotaNode; pop(): C; isEmpty(): boolean; drop(): void };

/** The ClusterQueue to take from next; undefined when there is none. Between two calls something must be popped, or the queue dropped. */
function createTargets<C extends FairCandidate>(
  search: FairSearch<C>,
  state: State<C>,
  candidates: readonly C[],
): { next(): Target<C> | undefined } {
  const own = search.preemptor.queue;
  const waiting = new Map<QuotaNode, { readonly candidate: C; readonly place: number }[]>();
  const children = new Map<QuotaNode, Set<QuotaNode>>();
  for (const [place, candidate] of candidates.entries()) {
    const { queue } = candidate;
    const known = waiting.get(queue);
    if (known !== undefined) known.push({ candidate, place });
    else waiting.set(queue, [{ candidate, place }]);
    for (let node = queue; node.parent !== undefined; node = node.parent) {
      const siblings = children.get(node.parent) ?? new Set();
      children.set(node.parent, siblings.add(node));
    }
  }
  for (const list of waiting.values()) list.reverse();

  const prune = (node: QuotaNode): void => {
    children.get(node.parent ?? node)?.delete(node);
    waiting.delete(node);
  };
  const targetOf = (queue: QuotaNode): Target<C> => ({
    queue,
    pop: () => {
      const next = waiting.get(queue)?.pop();
      if (next === undefined) throw new Error(`${queue.id} has no candidates left`);
      if (waiting.get(queue)?.length === 0) prune(queue);
      return next.candidate;
    },
    isEmpty: () => !waiting.has(queue),
    drop: () => prune(queue),
  });
  /** Of the node's ClusterQueues that which comes first among the candidates; of Cohorts likewise. */
  const placeOf = (node: QuotaNode): number =>
    waiting.get(node)?.at(-1)?.place ?? Math.min(...[...(children.get(node) ?? [])].map(placeOf));

  /** The child of the highest share. Of those with an equal one Cohorts go first, where the more unfair child may be picked. */
  const heaviestOf = (cohort: QuotaNode): QuotaNode | undefined => {
    let heaviest: { readonly node: QuotaNode; readonly share: Share } | undefined;
    for (const node of children.get(cohort) ?? []) {
      const share = shareIn(state, node);
      // Whoever borrows nothing is left alone, but inside of it the preemptor may find somebody, and in its own ClusterQueue.
      if (!isBorrowing(share) && node !== own && !state.above.has(node)) {
        prune(node);
        continue;
      }
      const difference = heaviest === undefined ? 1 : compareShares(share, heaviest.share);
      if (difference > 0 || (difference === 0 && heaviest !== undefined && goesFirst(node, heaviest.node))) heaviest = { node, share };
    }
    return heaviest?.node;
  };
  const goesFirst = (a: QuotaNode, b: QuotaNode): boolean => {
    const [aIsQueue, bIsQueue] = [waiting.has(a), waiting.has(b)];
    return aIsQueue === bIsQueue ? placeOf(a) < placeOf(b) : bIsQueue;
  };

  let root = own;
  while (root.parent !== undefined) root = root.parent;
  return {
    next: () => {
      let node: QuotaNode = root;
      while (!waiting.has(node)) {
        const heaviest = heaviestOf(node);
        if (heaviest !== undefined) node = heaviest;
        else if (node === root) return undefined;
        else {
          prune(node);
          node = root;
        }
      }
      return targetOf(node);
    },
  };
}
