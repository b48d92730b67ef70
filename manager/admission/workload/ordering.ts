import type { Workload } from './workload.ts';

/** A Workload with its priority and its place in arrival order, which decides between Jobs created within one second. */
export type QueuedWorkload = { readonly workload: Workload; readonly priority: number; readonly arrival: number };

/**
 * Order within a ClusterQueue: higher priority, then the older Job (or the earlier evicted, see requeuing.ts), then the one observed first.
 * Negative if `a` goes first.
 */
export function compareQueued(a: QueuedWorkload, b: QueuedWorkload): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  const [aMs, bMs] = [a.workload.queuedSinceMs, b.workload.queuedSinceMs];
  if (aMs !== bMs) return aMs - bMs;
  return a.arrival - b.arrival;
}

/** A head with flavors. `borrowing`: the height in the cohort tree up to which it borrows, 0: no borrowing. */
export type Nominated = { readonly head: QueuedWorkload; readonly borrowing: number };

/** Order of one cycle across ClusterQueues, Kueue's classical order: the nearest borrowing first, then as within a ClusterQueue. */
export const compareNominated = (a: Nominated, b: Nominated): number => a.borrowing - b.borrowing || compareQueued(a.head, b.head);
