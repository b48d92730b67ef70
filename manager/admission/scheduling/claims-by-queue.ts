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
  /** Quota or room has become free: claims are decided anew. */
  capacityFreed(): void;
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
  return new OrderedClaims(rootOf, onEnd);
}

class OrderedClaims implements ClaimsByQueue {
  readonly #rootOf: (clusterQueue: string) => string;
  readonly #onEnd: (entry: ClaimOfHead) => void;
  readonly #byQueue = new Map<string, Ordered>();
  readonly #ordered: Ordered[] = [];
  readonly #parts = new ClaimParts();
  readonly #excess = new ExcessClaims();
  #held = holdingOf(this.#ordered, this.#parts);
  /** Claims that hold something, in order; undefined until they are needed. */
  #inOrder: readonly ClaimOfHead[] | undefined;
  /** For which version the height of a claim is known. */
  readonly #borrowingAt = new WeakMap<Claim, number>();

  constructor(rootOf: (clusterQueue: string) => string, onEnd: (entry: ClaimOfHead) => void) {
    this.#rootOf = rootOf;
    this.#onEnd = onEnd;
  }

  set(decided: ClaimOfHead): void {
    const {
      claim: { holds: _decided, ...claim },
      ...head
    } = decided;
    const entry: ClaimOfHead = { ...head, claim };
    const place: Ordered = { entry, root: this.#rootOf(entry.clusterQueue) };
    const known = this.#byQueue.get(entry.clusterQueue);
    if (known?.root === place.root && isInPlaceOf(entry, known.entry)) this.#renew(known, entry);
    else {
      const wasIdle = known === undefined || this.#isIdle(known);
      this.#remove(entry.clusterQueue);
      this.#put(place);
      if (!wasIdle || !this.#isIdle(place)) this.#holdAnew();
    }
    // The cycle that decided did not know all claims: it may have blocked others by more than the claim holds. They are nominated again
    // once, or two heads could block each other in turns without end.
    if (stillHolds(decided, this.#held.byQueue.get(entry.clusterQueue))) this.#excess.delete(entry.clusterQueue);
    else if (this.#excess.isFirst(decided)) this.#onEnd(decided);
  }

  updateBorrowing({ of, versionOf }: BorrowingOfClaims): void {
    for (const standing of this.all()) {
      const version = versionOf(standing);
      if (this.#borrowingAt.get(standing.claim) === version) continue;
      const borrowing = of(standing);
      if (borrowing === standing.claim.borrowing) {
        this.#borrowingAt.set(standing.claim, version);
        continue;
      }
      this.set({ ...standing, claim: { ...standing.claim, borrowing } });
      // Workloads that borrow less go before it now.
      if (borrowing > standing.claim.borrowing) this.#onEnd(standing);
    }
  }

  delete(clusterQueue: string): ClaimOfHead | undefined {
    const place = this.#byQueue.get(clusterQueue);
    this.#excess.delete(clusterQueue);
    if (place === undefined) return undefined;
    const wasIdle = this.#isIdle(place);
    this.#remove(clusterQueue);
    if (!wasIdle) this.#holdAnew();
    return place.entry;
  }

  get(clusterQueue: string): ClaimOfHead | undefined {
    return this.#byQueue.get(clusterQueue)?.entry;
  }

  capacityFreed(): void {
    this.#excess.clear();
  }

  all(): readonly ClaimOfHead[] {
    return (this.#inOrder ??= [...this.#held.byQueue.values()]);
  }

  firstIdle(): ClaimOfHead | undefined {
    return this.#ordered.find(({ entry: { clusterQueue, claim } }) => claim.start !== undefined && !this.#held.byQueue.has(clusterQueue))
      ?.entry;
  }

  hasPlaceFor({ clusterQueue, queued }: Head, borrowing: number, root: string): boolean {
    if (this.#byQueue.has(clusterQueue)) return true;
    const last = this.#held.lastInTree.get(root);
    return last === undefined || compareNominated({ head: queued, borrowing }, { head: last.queued, borrowing: last.claim.borrowing }) < 0;
  }

  #holdAnew(): void {
    const before = this.#held;
    this.#held = holdingOf(this.#ordered, this.#parts);
    this.#inOrder = undefined;
    for (const [clusterQueue, entry] of before.byQueue) {
      const now = this.#held.byQueue.get(clusterQueue);
      if (now !== entry && !stillHolds(entry, now)) this.#onEnd(entry);
    }
  }

  #remove(clusterQueue: string): void {
    const place = this.#byQueue.get(clusterQueue);
    if (place === undefined) return;
    this.#byQueue.delete(clusterQueue);
    this.#ordered.splice(this.#ordered.indexOf(place), 1);
  }

  #put(place: Ordered): void {
    this.#byQueue.set(place.entry.clusterQueue, place);
    this.#ordered.splice(placeOf(this.#ordered, place.entry), 0, place);
  }

  /** Whether the claim of a place holds nothing, so that no other claim depends on it. */
  #isIdle({ entry, root }: Ordered): boolean {
    const { cluster, start, preempts } = entry.claim;
    if (start !== undefined || preempts === true) return false;
    const [last, first] = [this.#held.lastInTree.get(root), this.#held.onCluster.get(cluster)];
    return last !== undefined && compareClaims(last, entry) < 0 && first !== undefined && compareClaims(first, entry) < 0;
  }

  /** Replaces a claim by one of the same place in order, tree and cluster: it holds what the one before it held. */
  #renew(place: Ordered, entry: ClaimOfHead): void {
    const before = this.#held.byQueue.get(entry.clusterQueue);
    place.entry = entry;
    if (before === undefined) return;
    const { holds } = before.claim;
    const now = holds === 'Quota' || holds === 'Room' ? this.#parts.of(entry, holds) : entry;
    this.#held.byQueue.set(entry.clusterQueue, now);
    this.#inOrder = undefined;
    if (!stillHolds(before, now)) this.#onEnd(before);
  }
}

/** Claims that hold only a part of what their heads claim: the same object as long as the claim stays the same. */
class ClaimParts {
  readonly #parts = new WeakMap<ClaimOfHead, Map<Part, ClaimOfHead>>();

  of(entry: ClaimOfHead, holds: Part): ClaimOfHead {
    const known = this.#parts.get(entry) ?? new Map<Part, ClaimOfHead>();
    const part = known.get(holds) ?? { ...entry, claim: { ...entry.claim, holds } };
    this.#parts.set(entry, known.set(holds, part));
    return part;
  }
}

/**
 * The last decided claim of each Workload that held less than was decided, since capacity became free. Two Workloads of one ClusterQueue
 * may be decided in turns, each of which replaces the claim of the other.
 */
class ExcessClaims {
  /** By ClusterQueue and key of the Workload. */
  readonly #last = new Map<string, Map<string, ClaimOfHead>>();

  /** Whether no claim with as much was decided for the Workload before. */
  isFirst(decided: ClaimOfHead): boolean {
    const { key } = decided.queued.workload;
    const ofQueue = this.#last.get(decided.clusterQueue) ?? new Map<string, ClaimOfHead>();
    const before = ofQueue.get(key);
    this.#last.set(decided.clusterQueue, ofQueue.set(key, decided));
    return before === undefined || !stillHolds(before, decided);
  }

  delete(clusterQueue: string): void {
    this.#last.delete(clusterQueue);
  }

  clear(): void {
    this.#last.clear();
  }
}

type Part = 'Quota' | 'Room';
/** A claim, and the root of its cohort tree. */
type Ordered = { entry: ClaimOfHead; readonly root: string };
/** What claims hold. */
type Held = {
  /** Claims that hold something, by ClusterQueue, in order. */
  readonly byQueue: Map<string, ClaimOfHead>;
  /** The last claim that holds quota of a tree in which no more may. */
  readonly lastInTree: ReadonlyMap<string, ClaimOfHead>;
  /** The claim that holds room on a cluster. */
  readonly onCluster: ReadonlyMap<string, ClaimOfHead>;
};

/** The first place whose claim comes after this one. */
function placeOf(ordered: readonly Ordered[], entry: ClaimOfHead): number {
  let [low, high] = [0, ordered.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = ordered[middle];
    if (other !== undefined && compareClaims(entry, other.entry) < 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** What each claim holds. `ordered`: all claims in order. */
function holdingOf(ordered: readonly Ordered[], parts: ClaimParts): Held {
  const byQueue = new Map<string, ClaimOfHead>();
  const inTree = new Map<string, number>();
  const lastInTree = new Map<string, ClaimOfHead>();
  const onCluster = new Map<string, ClaimOfHead>();
  const reserving = new Set<string>();
  const reserved = new Set<string>();
  for (const { entry, root } of ordered) {
    const { clusterQueue, claim } = entry;
    if (claim.preempts === true) {
      byQueue.set(clusterQueue, entry);
      continue;
    }
    if (claim.start !== undefined) {
      // A second reservation on clusters that the first may also use would leave both of them empty.
      if (reserving.has(root) || onCluster.has(claim.cluster) || claim.start.clusters.some((each) => reserved.has(each))) continue;
      reserving.add(root);
      reserved.add(claim.cluster);
      onCluster.set(claim.cluster, entry);
      byQueue.set(clusterQueue, entry);
      continue;
    }
    const before = inTree.get(root) ?? 0;
    if (before < CLAIMS_PER_TREE_MAX) inTree.set(root, before + 1);
    if (before === CLAIMS_PER_TREE_MAX - 1) lastInTree.set(root, entry);
    const quota = before < CLAIMS_PER_TREE_MAX;
    const room = !onCluster.has(claim.cluster);
    if (room) onCluster.set(claim.cluster, entry);
    if (quota || room) byQueue.set(clusterQueue, quota && room ? entry : parts.of(entry, quota ? 'Quota' : 'Room'));
  }
  return { byQueue, lastInTree, onCluster };
}

/** Whether a claim without expected start takes the place of another one in order, and what it holds. */
const isInPlaceOf = (entry: ClaimOfHead, before: ClaimOfHead): boolean =>
  entry.claim.start === undefined &&
  before.claim.start === undefined &&
  entry.claim.cluster === before.claim.cluster &&
  compareClaims(entry, before) === 0;

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
