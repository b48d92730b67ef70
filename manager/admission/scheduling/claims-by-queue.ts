import type { Claim, Head } from './decision.ts';
import { isLater } from './expected-start.ts';
import { compareNominated } from '../workload/ordering.ts';

/** A head that waits, with its claim against the heads after it in order. */
export type ClaimOfHead = Head & { readonly claim: Claim };

/**
 * Claims that last from cycle to cycle, at most one for each ClusterQueue. A claim holds quota if it is among the first of its cohort tree,
 * and room if it is the first on its cluster: what other trees and clusters wait for never lends a queue's own quota away. That suffices to
 * make every wait finite, because heads before a Workload are admitted in finite time, and bounds both the cost of a cycle and the room
 * that stays idle. Without any of the two, a claim holds nothing until those before it have ended. Of claims with an expected start, the
 * first holds both, and the others nothing if they are of its tree, or could go to its cluster.
 */
export interface ClaimsByQueue {
  /** Replaces the claim of a ClusterQueue. */
  set(entry: ClaimOfHead): void;
  /** Updates up to which height in the cohort tree claims that hold something borrow, where that may have changed. */
  updateBorrowing(borrowing: BorrowingOfClaims): void;
  /** Removes and returns the claim of a ClusterQueue. */
  delete(clusterQueue: string): ClaimOfHead | undefined;
  get(clusterQueue: string): ClaimOfHead | undefined;
  /** All claims that hold something, in order; {@link Claim.holds} tells what. */
  all(): readonly ClaimOfHead[];
  /** The first claim with an expected start that holds nothing. */
  firstIdle(): ClaimOfHead | undefined;
  /** Whether a claim of a head with this borrowing height would hold quota of the tree with this root. */
  hasPlaceFor(head: Head, borrowing: number, root: string): boolean;
}

/** The height in the cohort tree up to which a claim borrows now. */
export type BorrowingOfClaims = {
  of(standing: ClaimOfHead): number;
  /** While this stays the same, the height does. */
  versionOf(standing: ClaimOfHead): number;
};

/** Claims of one cohort tree that hold quota. */
export const CLAIMS_PER_TREE_MAX = 8;

export const compareClaims = (a: ClaimOfHead, b: ClaimOfHead): number =>
  Number(b.claim.preempts ?? false) - Number(a.claim.preempts ?? false) ||
  compareNominated({ head: a.queued, borrowing: a.claim.borrowing }, { head: b.queued, borrowing: b.claim.borrowing });

/**
 * Claims of preemptors always hold all that they claim, because Workloads have been stopped for them. `rootOf`: the root of a
 * ClusterQueue's cohort tree. `onEnd` is called for each claim that no longer holds what it held.
 */
export function createClaimsByQueue(rootOf: (clusterQueue: string) => string, onEnd: (entry: ClaimOfHead) => void): ClaimsByQueue {
  const byQueue = new Map<string, ClaimOfHead>();
  /** The last decided claim of each ClusterQueue that held less than was decided. */
  const excessive = new Map<string, ClaimOfHead>();
  let ordered: ClaimOfHead[] = [];
  /** Claims that hold something, by ClusterQueue, in order. */
  let holding: ReadonlyMap<string, ClaimOfHead> = new Map();
  let inOrder: readonly ClaimOfHead[] = [];
  const parts = new WeakMap<ClaimOfHead, Map<Part, ClaimOfHead>>();
  /** The claim that holds only a part of what its head claims: the same object as long as the claim stays the same. */
  const partOf = (entry: ClaimOfHead, holds: Part): ClaimOfHead => {
    const known = parts.get(entry) ?? new Map<Part, ClaimOfHead>();
    const part = known.get(holds) ?? { ...entry, claim: { ...entry.claim, holds } };
    parts.set(entry, known.set(holds, part));
    return part;
  };

  const holdAnew = (): void => {
    const before = holding;
    holding = holdingOf(ordered, rootOf, partOf);
    inOrder = [...holding.values()];
    for (const [clusterQueue, held] of before) {
      const now = holding.get(clusterQueue);
      if (now !== held && !stillHolds(held, now)) onEnd(held);
    }
  };
  const remove = (clusterQueue: string): ClaimOfHead | undefined => {
    const entry = byQueue.get(clusterQueue);
    if (entry === undefined) return undefined;
    byQueue.delete(clusterQueue);
    ordered = ordered.filter((each) => each !== entry);
    return entry;
  };
  const set = (decided: ClaimOfHead): void => {
    const {
      claim: { holds: _decided, ...claim },
      ...head
    } = decided;
    const entry: ClaimOfHead = { ...head, claim };
    remove(entry.clusterQueue);
    byQueue.set(entry.clusterQueue, entry);
    const place = ordered.findIndex((each) => compareClaims(entry, each) < 0);
    ordered.splice(place < 0 ? ordered.length : place, 0, entry);
    holdAnew();
    // The cycle that decided did not know all claims: it may have blocked others by more than the claim holds. They are nominated again
    // once, or two heads could block each other in turns without end.
    const { clusterQueue } = entry;
    const before = excessive.get(clusterQueue);
    if (stillHolds(decided, holding.get(clusterQueue))) excessive.delete(clusterQueue);
    else {
      excessive.set(clusterQueue, decided);
      if (before === undefined || !stillHolds(before, decided)) onEnd(decided);
    }
  };
  /** For which version the height of a claim is known. */
  const borrowingAt = new WeakMap<Claim, number>();
  return {
    set,
    updateBorrowing: ({ of, versionOf }) => {
      for (const standing of inOrder) {
        const version = versionOf(standing);
        if (borrowingAt.get(standing.claim) === version) continue;
        const borrowing = of(standing);
        if (borrowing !== standing.claim.borrowing) set({ ...standing, claim: { ...standing.claim, borrowing } });
        else borrowingAt.set(standing.claim, version);
      }
    },
    delete: (clusterQueue) => {
      const entry = remove(clusterQueue);
      excessive.delete(clusterQueue);
      if (entry !== undefined) holdAnew();
      return entry;
    },
    get: (clusterQueue) => byQueue.get(clusterQueue),
    all: () => inOrder,
    firstIdle: () => ordered.find(({ clusterQueue, claim }) => claim.start !== undefined && !holding.has(clusterQueue)),
    hasPlaceFor: ({ clusterQueue, queued }, borrowing, root) => {
      if (byQueue.has(clusterQueue)) return true;
      let places = CLAIMS_PER_TREE_MAX;
      for (const each of ordered) {
        if (each.claim.preempts === true || each.claim.start !== undefined || rootOf(each.clusterQueue) !== root) continue;
        if (compareNominated({ head: queued, borrowing }, { head: each.queued, borrowing: each.claim.borrowing }) < 0) return true;
        if (--places === 0) return false;
      }
      return true;
    },
  };
}

type Part = 'Quota' | 'Room';

/** The claims that hold something, each with what it holds. `ordered`: all claims in order. */
function holdingOf(
  ordered: readonly ClaimOfHead[],
  rootOf: (clusterQueue: string) => string,
  partOf: (entry: ClaimOfHead, holds: Part) => ClaimOfHead,
): ReadonlyMap<string, ClaimOfHead> {
  const holding = new Map<string, ClaimOfHead>();
  const inTree = new Map<string, number>();
  const clusters = new Set<string>();
  const reserving = new Set<string>();
  const reserved = new Set<string>();
  for (const entry of ordered) {
    const { clusterQueue, claim } = entry;
    if (claim.preempts === true) {
      holding.set(clusterQueue, entry);
      continue;
    }
    const root = rootOf(clusterQueue);
    if (claim.start !== undefined) {
      // A second reservation on clusters that the first may also use would leave both of them empty.
      if (reserving.has(root) || clusters.has(claim.cluster) || claim.start.clusters.some((each) => reserved.has(each))) continue;
      reserving.add(root);
      reserved.add(claim.cluster);
      clusters.add(claim.cluster);
      holding.set(clusterQueue, entry);
      continue;
    }
    const before = inTree.get(root) ?? 0;
    inTree.set(root, before + 1);
    const quota = before < CLAIMS_PER_TREE_MAX;
    const room = !clusters.has(claim.cluster);
    if (room) clusters.add(claim.cluster);
    if (quota || room) holding.set(clusterQueue, quota && room ? entry : partOf(entry, quota ? 'Quota' : 'Room'));
  }
  return holding;
}

/** Whether a claim holds all that it held before. */
function stillHolds({ queued, claim: before }: ClaimOfHead, after: ClaimOfHead | undefined): boolean {
  if (before.holds === 'Nothing') return true;
  if (after === undefined) return false;
  const { claim } = after;
  return (
    after.queued.workload.key === queued.workload.key &&
    (claim.holds === undefined || claim.holds === before.holds) &&
    !isLater(claim.start, before.start) &&
    claim.cluster === before.cluster &&
    claim.flavors.length === before.flavors.length &&
    claim.flavors.every(({ flavor }, index) => flavor === before.flavors[index]?.flavor)
  );
}
