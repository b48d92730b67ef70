import type { AdmissionCache } from '../cache/admission-cache.ts';
import { behindClaims } from '../scheduling/admit.ts';
import { nominateLargest } from '../scheduling/partial-admission.ts';
import { QuotaReservedReason } from '../../api/reasons.ts';
import type { PendingQueues } from './pending-queues.ts';
import type { InadmissibleReason } from '../snapshot/snapshot.ts';

/**
 * Why a pending Workload waits: the result when it, or one like it, was last nominated. A Workload that was not nominated because too
 * little is free gets the result of a nomination now. Undefined while its ClusterQueue is still to be examined.
 */
export function waitingReason(
  { cache, queues }: { readonly cache: Pick<AdmissionCache, 'snapshot' | 'isBlocked'>; readonly queues: PendingQueues },
  key: string,
  nowMs: number,
): InadmissibleReason | undefined {
  const known = queues.inadmissibilityOf(key);
  const blocked = known?.waitsFor === 'setup' ? undefined : blockedReason(cache, queues.get(key)?.clusterQueue);
  if (blocked !== undefined) return blocked;
  const head = known === undefined ? queues.get(key) : undefined;
  if (head === undefined || !queues.isParked(head.clusterQueue)) return known;
  const outcome = nominateLargest(cache.snapshot(), head, nowMs);
  if (outcome.kind === 'Inadmissible') return outcome;
  if (outcome.kind === 'ReservingHead') return outcome.decision;
  return outcome.kind === 'Requeue' ? undefined : behindClaims(head, 'cluster');
}

/** Why a ClusterQueue with blockAdmission admits nothing now; undefined if it does. */
export function blockedReason(cache: Pick<AdmissionCache, 'isBlocked'>, clusterQueue: string | undefined): InadmissibleReason | undefined {
  if (clusterQueue === undefined || !cache.isBlocked(clusterQueue)) return undefined;
  return {
    reason: QuotaReservedReason.WaitingForPodsReady,
    message: `cluster queue ${clusterQueue} admits no further Job until all pods that its admitted Jobs need are ready, or their startTimeout has ended (blockAdmission)`,
  };
}
