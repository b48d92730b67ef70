import type { Reservation } from '../workload/reservation.ts';
import type { ClusterState } from '../quota/cluster-state.ts';
import type { Due } from './deadlines.ts';
import type { QueueingSetup } from '../snapshot/snapshot.ts';

/** When a placement that has not started expires, and its timeout in milliseconds. */
export type StartDeadline = Due & { readonly timeoutMs: number };

/**
 * The start deadline of a reservation; undefined if it has none. A Workload without pods, or one that is held back, never starts. While its
 * cluster is lost a Workload has no deadline; its time begins anew when the cluster is reachable again.
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
