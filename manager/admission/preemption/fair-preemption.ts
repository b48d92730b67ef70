import { ZERO } from '../../api/amount.ts';
import { compareShares, isBorrowing, shareOf, weightedShare, type Share } from './fair-sharing.ts';
import { FairStrategy } from '../fair-sharing/fair-strategy.ts';
import type { Charge } from '../flavors/flavor-assigner.ts';
import { addUsage, wouldBorrow, type FlavorResource, type QuotaNode } from '../quota/quota-tree.ts';
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
  /** Candidates, those of one ClusterQueue in the order in which they are preempted. */
  readonly candidates: readonly C[];
  /** The first strategy considers all candidates, the second those that the first has passed over. */
  readonly strategies: readonly FairStrategy[];
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
  const { spared, fits } = runFirst(search, state, first);
  if (!fits && (second === undefined || !runSecond(search, state, spared))) return [];
  return withoutTheNeedless(search, state);
}

type State<C> = {
  /** Usage with the preemptor and without the victims. */
  readonly shared: Usage;
  /** Usage without the preemptor and without the victims. */
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

/** Chooses candidates by the first strategy until the preemptor fits. */
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
    // A side that borrows with weight 0 exceeds any other share, before and after.
    const isHopeless = weightedShare(mine) === Infinity && weightedShare(before) !== Infinity;
    while (!target.isEmpty()) {
      const candidate = target.pop();
      if (isHopeless || !allows(strategy, mine, before, () => shareWithout(search, state, sides.target, candidate))) {
        spared.push(candidate);
        continue;
      }
      take(search, state, candidate, 'InCohortFairSharing');
      if (search.fits(state.rest)) return { fits: true, spared };
      // Another ClusterQueue may have the highest share now.
      break;
    }
  }
  return { fits: false, spared };
}

/** The second strategy considers the first candidate of each ClusterQueue that was passed over, and ignores what the candidate holds. */
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

/** Puts back, from the last but one to the first, the victims that the preemptor does not need. */
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

/** The two children of the lowest common Cohort, one on each side. */
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

/** A ClusterQueue with remaining candidates. */
type Target<C> = { readonly queue: QuotaNode; pop(): C; isEmpty(): boolean; drop(): void };

/** The next ClusterQueue to take a victim from; undefined if there is none. Between two calls pop a candidate or drop the queue. */
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
  /** The place of the node's first remaining candidate. */
  const placeOf = (node: QuotaNode): number =>
    waiting.get(node)?.at(-1)?.place ?? Math.min(...[...(children.get(node) ?? [])].map(placeOf));

  /** The child with the highest share. Among equals Cohorts go first, because a child of theirs may have a higher share. */
  const heaviestOf = (cohort: QuotaNode): QuotaNode | undefined => {
    let heaviest: { readonly node: QuotaNode; readonly share: Share } | undefined;
    for (const node of children.get(cohort) ?? []) {
      const share = shareIn(state, node);
      // A node that borrows nothing is skipped, except Cohorts above the preemptor and its own ClusterQueue, which may contain candidates.
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
