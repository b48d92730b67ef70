import type { QueueSetup } from '../snapshot/snapshot.ts';

/** How a Workload could have a flavor. */
export type FlavorMode = {
  /**
   * `Fit`: its quota is free. Else others must give it back: Workloads of other ClusterQueues alone could (`Reclaim`), or it takes some of its own (`Preempt`);
   * or nobody is found who must (`NoCandidates`).
   */
  readonly mode: 'NoCandidates' | 'Preempt' | 'Reclaim' | 'Fit';
  /** How far up the cohort tree it would borrow; 0: not at all. */
  readonly borrowing: number;
};

export type Fungibility = Pick<QueueSetup, 'whenCanBorrow' | 'whenCanPreempt' | 'flavorPreference'>;

const RANKS: Readonly<Record<FlavorMode['mode'], number>> = { NoCandidates: 0, Preempt: 1, Reclaim: 2, Fit: 3 };

/** Whether the one is better than the other, as the ClusterQueue prefers it. Where nobody can be preempted, nothing else counts. */
export function isPreferred(a: FlavorMode, b: FlavorMode, { flavorPreference }: Fungibility): boolean {
  if ((a.mode === 'NoCandidates') !== (b.mode === 'NoCandidates')) return b.mode === 'NoCandidates';
  const [byMode, byBorrowing] = [RANKS[a.mode] - RANKS[b.mode], b.borrowing - a.borrowing];
  return (flavorPreference === 'PreemptionOverBorrowing' ? byBorrowing || byMode : byMode || byBorrowing) > 0;
}

/** A flavor is as good as it is for the resource that it is worst for. */
export const worstMode = (modes: readonly FlavorMode[], fungibility: Fungibility): FlavorMode =>
  modes.reduce((worst, mode) => (isPreferred(worst, mode, fungibility) ? mode : worst), BEST);

const BEST: FlavorMode = { mode: 'Fit', borrowing: 0 };

/** Whether the search for a flavor goes on behind one that can be had in this way. */
const goesOn = ({ mode, borrowing }: FlavorMode, { whenCanBorrow, whenCanPreempt }: Fungibility): boolean => {
  if (mode === 'NoCandidates') return true;
  if (mode !== 'Fit' && whenCanPreempt === 'TryNextFlavor') return true;
  return borrowing > 0 && whenCanBorrow === 'TryNextFlavor';
};

/**
 * Flavors in the order in which they are preferred, after Kueue's search: it takes them as they are listed, ends at the first that is good enough,
 * and else takes the best, the first of equals. Those that are left are put in order in the same way, for where no cluster offers the first.
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
