import type { Reservation } from '../workload/reservation.ts';
import type { ClusterState } from '../quota/cluster-state.ts';
import type { Due } from './deadlines.ts';
import type { QueueingSetup } from '../snapshot/snapshot.ts';

/**
 * When a placement expires that has not started, or that has lost pods and has not recovered (`hasLostPods`), and its timeout in
 * milliseconds.
 */
export type StartDeadline = Due & { readonly timeoutMs: number; readonly hasLostPods?: true };

type Where = { readonly setup: QueueingSetup; readonly clusters: ReadonlyMap<string, ClusterState> };

/**
 * The deadline of a reservation to start or, once it has started, to recover; undefined if it has none. A Workload without pods, or one
 * that is held back, never starts. While its cluster is lost a Workload has no deadline; its time begins anew when the cluster is reachable
 * again.
 */
export function startDeadline({ workload, record, assumed }: Reservation, { setup, clusters }: Where): StartDeadline | undefined {
  if (assumed || workload.phase !== 'Admitted' || workload.heldBack || workload.requests.get('pods') === 0) return undefined;
  const cluster = clusters.get(record.cluster);
  if (cluster === undefined || cluster.lost) return undefined;
  const queue = setup.queues.get(record.clusterQueue);
  const { started, podsLostSinceMs } = workload;
  if (!started) {
    const timeoutMs = workload.startTimeoutMs ?? queue?.startTimeoutMs ?? 0;
    return timeoutMs === 0 ? undefined : { timeoutMs, dueMs: Math.max(Date.parse(record.since), cluster.reachableSinceMs) + timeoutMs };
  }
  const timeoutMs = workload.recoveryTimeoutMs ?? queue?.recoveryTimeoutMs ?? 0;
  if (podsLostSinceMs === undefined || timeoutMs === 0) return undefined;
  return { timeoutMs, dueMs: Math.max(podsLostSinceMs, cluster.reachableSinceMs) + timeoutMs, hasLostPods: true };
}
