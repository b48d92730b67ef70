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

/** A head for which a place was found. */
export type Nominated = { readonly head: QueuedWorkload; readonly borrowing: boolean };

/** Order of one cycle, across ClusterQueues: those within their own quota go before borrowers (Kueue's classical order). */
export function compareNominated(a: Nominated, b: Nominated): number {
  if (a.borrowing !== b.borrowing) return a.borrowing ? 1 : -1;
  return compareQueued(a.head, b.head);
}
