import type { Reservation } from '../workload/reservation.ts';
import type { ClusterState } from '../quota/cluster-state.ts';
import type { Due } from './deadlines.ts';
import type { QueueingSetup } from '../snapshot/snapshot.ts';

/** When a placement that has not started comes to nothing, and after which time. */
export type StartDeadline = Due & { readonly timeoutMs: number };

/**
 * When a reservation must have started; undefined when nobody asks. A Workload without pods never starts, nor does one that is held back; on a cluster that is lost nobody knows, and
 * what it has missed it has time for again once its cluster is back.
 */
export function startDeadline(
  { workload, record, assumed }: Reservation,
  { setup, clusters }: { readonly setup: QueueingSetup; readonly clusters: ReadonlyMap<string, ClusterState> },
): StartDeadline | undefined {
  if (assumed || workload.phase !== 'Admitted' || workload.started || workload.heldBack || workload.requests.get('pods') === 0)
    return undefined;
  const timeoutMs = workload.startTimeoutMs ?? setup.queues.get(record.clusterQueue)?.startTimeoutMs ?? 0;
  const cluster = clusters.get(record.cluster);
  if (timeoutMs === 0 || cluster === undefined || cluster.lost) return undefined;
  return { timeoutMs, dueMs: Math.max(Date.parse(record.since), cluster.reachableSinceMs) + timeoutMs };
}
