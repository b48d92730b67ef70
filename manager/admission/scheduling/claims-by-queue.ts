import type { Claim, Head } from './decision.ts';
import { compareNominated } from '../workload/ordering.ts';

/** A head that waits, and what is kept for it against those that come after it in order. */
export type ClaimOfHead = Head & { readonly claim: Claim };

/**
 * What is kept from cycle to cycle: for one head of a ClusterQueue, and for no more than the first few of all in order. That is enough for the wait of
 * everybody to be finite, because those before it are served in finite time, and it bounds what a cycle costs and how much room stands empty.
 */
export interface ClaimsByQueue {
  /** Keeps this for a head, in the place of what was kept for its ClusterQueue. False when there is no place for it. */
  set(standing: ClaimOfHead): boolean;
  /** Nothing is kept for its ClusterQueue any more. Returns for whom something was. */
  delete(clusterQueue: string): ClaimOfHead | undefined;
  get(clusterQueue: string): ClaimOfHead | undefined;
  /** In order. */
  all(): readonly ClaimOfHead[];
  /** Whether a head with this borrowing would find a place. */
  hasPlaceFor(head: Head, borrowing: number): boolean;
}

export const CLAIMS_MAX = 8;

export const compareClaims = (a: ClaimOfHead, b: ClaimOfHead): number =>
  Number(b.claim.preempts ?? false) - Number(a.claim.preempts ?? false) ||
  compareNominated({ head: a.queued, borrowing: a.claim.borrowing }, { head: b.queued, borrowing: b.claim.borrowing });

/** Who waits for those that it preempts has a place always: they have gone for its sake. `onEnd` is called for each one that loses its place, or for which what is kept, or from whom, becomes another. */
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
  /** The last of those that others may take the place of. */
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
