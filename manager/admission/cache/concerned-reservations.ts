import type { ClusterState } from '../quota/cluster-state.ts';
import type { QueueingSetup } from '../snapshot/snapshot.ts';
import type { Reservation } from '../workload/reservation.ts';
import { namedQueueOf } from './queue-counts.ts';

type Concerned = (reservation: Reservation) => boolean;

/**
 * Selects the reservations for which start or recovery timeouts, blocked admission, finished pods or priority bounds have changed;
 * undefined if there are none. Quota is not considered.
 */
export function concernedByQueues(before: QueueingSetup, next: QueueingSetup): Concerned | undefined {
  const queues = differing(
    before.queues,
    next.queues,
    (a, b) =>
      a.startTimeoutMs === b.startTimeoutMs &&
      a.recoveryTimeoutMs === b.recoveryTimeoutMs &&
      a.keepsFinished === b.keepsFinished &&
      a.blocksAdmission === b.blocksAdmission,
  );
  const localQueues = differing(
    before.localQueues,
    next.localQueues,
    ({ priorityBounds: a }, { priorityBounds: b }) => a?.min === b?.min && a?.max === b?.max,
  );
  if (queues.size + localQueues.size === 0) return undefined;
  return ({ workload, record }) => queues.has(record.clusterQueue) || localQueues.has(namedQueueOf(workload) ?? '');
}

/** Selects the reservations on clusters that are lost or reachable otherwise than before; undefined if there are none. */
export function concernedByClusters(
  before: ReadonlyMap<string, ClusterState>,
  next: ReadonlyMap<string, ClusterState>,
): Concerned | undefined {
  const clusters = differing(before, next, (a, b) => a.lost === b.lost && a.reachableSinceMs === b.reachableSinceMs);
  return clusters.size === 0 ? undefined : ({ record }) => clusters.has(record.cluster);
}

/** The names of entries that were added, removed or changed. */
function differing<T>(before: ReadonlyMap<string, T>, next: ReadonlyMap<string, T>, isSame: (a: T, b: T) => boolean): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [name, each] of before) {
    const now = next.get(name);
    if (now === undefined || !isSame(each, now)) names.add(name);
  }
  for (const name of next.keys()) if (!before.has(name)) names.add(name);
  return names;
}
