import type { Workload } from './workload.ts';

/** A Workload with its priority, and its place in arrival order, which decides between Jobs created within one second. */
export type QueuedWorkload = { readonly workload: Workload; readonly priority: number; readonly arrival: number };

/** Order within a ClusterQueue: higher priority first, then the older Job (or the one evicted earlier, see requeuing.ts), then the one seen first. Negative when `a` goes first. */
export function compareQueued(a: QueuedWorkload, b: QueuedWorkload): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  const [aMs, bMs] = [queuedSinceMs(a), queuedSinceMs(b)];
  if (aMs !== bMs) return aMs - bMs;
  return a.arrival - b.arrival;
}

const queuedSinceMs = ({ workload }: QueuedWorkload): number => workload.queuedSinceMs ?? workload.createdMs;

/** A head for which flavors were found; `borrowing` is how far up the cohort tree they must reach, 0: not at all. */
export type Nominated = { readonly head: QueuedWorkload; readonly borrowing: number };

/** Order of one cycle, across ClusterQueues (Kueue's classical one): who borrows from nearer goes first, then as within a ClusterQueue. */
export const compareNominated = (a: Nominated, b: Nominated): number => a.borrowing - b.borrowing || compareQueued(a.head, b.head);
