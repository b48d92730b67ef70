import type { AdmissionCache } from '../cache/admission-cache.ts';
import { isKept } from '../scheduling/admit.ts';
import { nominateLargest } from '../scheduling/partial-admission.ts';
import type { PendingQueues } from './pending-queues.ts';
import type { InadmissibleReason } from '../snapshot/snapshot.ts';

/**
 * Why a pending Workload waits: the result when it, or one like it, was last nominated. A Workload that was not nominated because too
 * little is free gets the result of a nomination now. Undefined while its ClusterQueue is still to be examined.
 */
export function waitingReason(
  { cache, queues }: { readonly cache: Pick<AdmissionCache, 'snapshot'>; readonly queues: PendingQueues },
  key: string,
  nowMs: number,
): InadmissibleReason | undefined {
  const told = queues.inadmissibilityOf(key);
  const head = told === undefined ? queues.get(key) : undefined;
  if (head === undefined || !queues.isParked(head.clusterQueue)) return told;
  const outcome = nominateLargest(cache.snapshot(), head, nowMs);
  if (outcome.kind === 'Inadmissible') return outcome;
  if (outcome.kind === 'ReservingHead') return outcome.decision;
  return outcome.kind === 'Requeue' ? undefined : isKept(head, 'cluster');
}
