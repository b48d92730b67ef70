import type { QueueSetup } from '../snapshot/snapshot.ts';

/** How a Workload can get a flavor. */
export type FlavorMode = {
  /**
   * `Fit`: the quota is free. `Reclaim`: only Workloads of other ClusterQueues are preempted. `Preempt`: also Workloads of its own.
   * `NoCandidates`: preemption yields nothing.
   */
  readonly mode: 'NoCandidates' | 'Preempt' | 'Reclaim' | 'Fit';
  /** The height in the cohort tree up to which the Workload borrows; 0 if it does not borrow. */
  readonly borrowing: number;
};

export type Fungibility = Pick<QueueSetup, 'whenCanBorrow' | 'whenCanPreempt' | 'flavorPreference'>;

const RANKS: Readonly<Record<FlavorMode['mode'], number>> = { NoCandidates: 0, Preempt: 1, Reclaim: 2, Fit: 3 };

/** Whether the ClusterQueue prefers `a` to `b`. A mode without candidates is worse than any other. */
export function isPreferred(a: FlavorMode, b: FlavorMode, { flavorPreference }: Fungibility): boolean {
  if ((a.mode === 'NoCandidates') !== (b.mode === 'NoCandidates')) return b.mode === 'NoCandidates';
  const [byMode, byBorrowing] = [RANKS[a.mode] - RANKS[b.mode], b.borrowing - a.borrowing];
  return (flavorPreference === 'PreemptionOverBorrowing' ? byBorrowing || byMode : byMode || byBorrowing) > 0;
}

/** The mode of a flavor is the worst among its resources. */
export const worstMode = (modes: readonly FlavorMode[], fungibility: Fungibility): FlavorMode =>
  modes.reduce((worst, mode) => (isPreferred(worst, mode, fungibility) ? mode : worst), BEST);

const BEST: FlavorMode = { mode: 'Fit', borrowing: 0 };

/** Whether the search for a flavor continues after a flavor with this mode. */
const goesOn = ({ mode, borrowing }: FlavorMode, { whenCanBorrow, whenCanPreempt }: Fungibility): boolean => {
  if (mode === 'NoCandidates') return true;
  if (mode !== 'Fit' && whenCanPreempt === 'TryNextFlavor') return true;
  return borrowing > 0 && whenCanBorrow === 'TryNextFlavor';
};

/**
 * Flavors in order of preference, after Kueue's search: it takes flavors as listed, stops at the first that is good enough, and otherwise
 * takes the best, the first among equals. The remaining flavors are ordered the same way, for clusters that do not offer the first.
 */
export function inPreferredOrder<F extends { readonly offer: FlavorMode }>(flavors: readonly F[], fungibility: Fungibility): readonly F[] {
  const left = [...flavors];
  const ordered: F[] = [];
  while (left.length > 0) {
    const end = left.findIndex(({ offer }) => !goesOn(offer, fungibility));
    let best = 0;
    for (const [index, { offer }] of left.entries()) {
      const other = left[best];
      if (index === end || (other !== undefined && isPreferred(offer, other.offer, fungibility))) best = index;
      if (index === end) break;
    }
    ordered.push(...left.splice(best, 1));
  }
  return ordered;
}
