import type { Claim, Head } from './decision.ts';
import { compareNominated } from '../workload/ordering.ts';

/** A head that waits, with its claim against the heads after it in order. */
export type ClaimOfHead = Head & { readonly claim: Claim };

/**
 * Claims that last from cycle to cycle: one for each ClusterQueue, and only for the first few heads of all in order. That suffices to
 * make every wait finite, because heads before a Workload are admitted in finite time. It also bounds the cost of a cycle and the
 * capacity that stays idle.
 */
export interface ClaimsByQueue {
  /** Replaces the claim of a ClusterQueue. False when no place is left for it. */
  set(standing: ClaimOfHead): boolean;
  /** Removes and returns the claim of a ClusterQueue. */
  delete(clusterQueue: string): ClaimOfHead | undefined;
  get(clusterQueue: string): ClaimOfHead | undefined;
  /** All claims, in order. */
  all(): readonly ClaimOfHead[];
  /** Whether a claim of a head with this borrowing height would get a place. */
  hasPlaceFor(head: Head, borrowing: number): boolean;
}

export const CLAIMS_MAX = 8;

export const compareClaims = (a: ClaimOfHead, b: ClaimOfHead): number =>
  Number(b.claim.preempts ?? false) - Number(a.claim.preempts ?? false) ||
  compareNominated({ head: a.queued, borrowing: a.claim.borrowing }, { head: b.queued, borrowing: b.claim.borrowing });

/**
 * Claims of preemptors always get a place, because Workloads have been stopped for them. `onEnd` is called for each claim that loses
 * its place, or whose cluster or flavors change.
 */
export function createClaimsByQueue(onEnd: (standing: ClaimOfHead) => void): ClaimsByQueue {
  const byQueue = new Map<string, ClaimOfHead>();
  let ordered: readonly ClaimOfHead[] = [];
  const sort = (): void => {
    ordered = [...byQueue.values()].sort(compareClaims);
  };
  const remove = (clusterQueue: string): ClaimOfHead | undefined => {
    const standing = byQueue.get(clusterQueue);
    if (standing === undefined) return undefined;
    byQueue.delete(clusterQueue);
    sort();
    return standing;
  };
  /** The last claim that may lose its place to another. */
  const lastOf = (): ClaimOfHead | undefined => {
    const last = ordered.at(-1);
    return last?.claim.preempts === true ? undefined : last;
  };
  const hasPlaceFor: ClaimsByQueue['hasPlaceFor'] = ({ clusterQueue, queued }, borrowing) => {
    if (byQueue.size < CLAIMS_MAX || byQueue.has(clusterQueue)) return true;
    const last = lastOf();
    return last !== undefined && compareNominated({ head: queued, borrowing }, { head: last.queued, borrowing: last.claim.borrowing }) < 0;
  };
  return {
    set: (standing) => {
      const { clusterQueue, claim } = standing;
      const before = remove(clusterQueue);
      const fits = claim.preempts === true || hasPlaceFor(standing, claim.borrowing);
      if (fits) {
        byQueue.set(clusterQueue, standing);
        sort();
        const last = byQueue.size > CLAIMS_MAX ? lastOf() : undefined;
        if (last !== undefined && last !== standing) {
          remove(last.clusterQueue);
          onEnd(last);
        }
      }
      if (before !== undefined && !(fits && isSameClaim(before.claim, claim))) onEnd(before);
      return fits;
    },
    delete: (clusterQueue) => {
      const standing = remove(clusterQueue);
      if (standing !== undefined) onEnd(standing);
      return standing;
    },
    get: (clusterQueue) => byQueue.get(clusterQueue),
    all: () => ordered,
    hasPlaceFor,
  };
}

const isSameClaim = (a: Claim, b: Claim): boolean =>
  a.cluster === b.cluster &&
  a.flavors.length === b.flavors.length &&
  a.flavors.every(({ flavor }, index) => flavor === b.flavors[index]?.flavor);
