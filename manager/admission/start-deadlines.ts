import { IndexedHeap } from '../../shared/kube/indexed-heap.ts';
import type { Reservation } from './reservation.ts';
import type { ClusterState } from './cluster-state.ts';
import type { QueueingSetup } from './snapshot.ts';

/** When Workloads must have started. Each is looked at when it changes and when its time has come, and never in between. */
export interface StartDeadlines {
  /** Replaces what is known of a reservation. */
  watch(reservation: Reservation): void;
  forget(key: string): void;
  /** Those whose time is over, and when that of the next one is, in epoch milliseconds. */
  overdue(nowMs: number): { readonly found: readonly Overdue[]; readonly nextMs: number | undefined };
}

export type Overdue = { readonly reservation: Reservation; readonly dueMs: number; readonly timeoutMs: number };

export function createStartDeadlines(
  world: () => { readonly setup: QueueingSetup; readonly clusters: ReadonlyMap<string, ClusterState> },
): StartDeadlines {
  const deadlines = new IndexedHeap<Overdue>(
    ({ reservation }) => reservation.workload.key,
    (a, b) => a.dueMs - b.dueMs,
  );
  return {
    watch: (reservation) => {
      const deadline = startDeadline(reservation, world());
      if (deadline === undefined) deadlines.delete(reservation.workload.key);
      else deadlines.set({ reservation, ...deadline });
    },
    forget: (key) => void deadlines.delete(key),
    overdue: (nowMs) => {
      const found: Overdue[] = [];
      for (let first = deadlines.peek(); first !== undefined && first.dueMs <= nowMs; first = deadlines.peek()) {
        found.push(first);
        deadlines.delete(first.reservation.workload.key);
      }
      const nextMs = deadlines.peek()?.dueMs;
      // Until it is seen to be evicted it is overdue.
      for (const each of found) deadlines.set(each);
      return { found, nextMs };
    },
  };
}

/**
 * When a reservation must have started; undefined when nobody asks. A Workload without pods never starts, nor does one that is held back; on a cluster that is lost nobody knows, and
 * what it has missed it has time for again once its cluster is back.
 */
export function startDeadline(
  { workload, record, assumed }: Reservation,
  { setup, clusters }: { readonly setup: QueueingSetup; readonly clusters: ReadonlyMap<string, ClusterState> },
): Pick<Overdue, 'dueMs' | 'timeoutMs'> | undefined {
  if (assumed || workload.phase !== 'Admitted' || workload.started || workload.heldBack || workload.requests.get('pods') === 0)
    return undefined;
  const timeoutMs = workload.startTimeoutMs ?? setup.queues.get(record.clusterQueue)?.startTimeoutMs ?? 0;
  const cluster = clusters.get(record.cluster);
  if (timeoutMs === 0 || cluster === undefined || cluster.lost) return undefined;
  return { timeoutMs, dueMs: Math.max(Date.parse(record.since), cluster.reachableSinceMs) + timeoutMs };
}
