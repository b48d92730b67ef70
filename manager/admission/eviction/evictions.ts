import { HOLD_ANNOTATION, MAX_EXEC_TIME_LABEL } from '../../../shared/api/names.ts';
import { excess } from '../../api/job-requests.ts';
import type { AdmissionCache } from '../cache/admission-cache.ts';
import { hasPlace, type Reservation } from '../workload/reservation.ts';
import { admittedOf, excessOfPodSets } from '../workload/workload-pod-sets.ts';
import { formatDurationMs } from '../../api/duration.ts';
import { AvoidedReason, JobEventReason } from '../../api/reasons.ts';
import { couldRunOn } from '../flavors/cluster-verdict.ts';
import { preemptedBy, preemptedMessage } from '../../api/preempted.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import type { ClusterState } from '../quota/cluster-state.ts';
import type { QueueingSetup } from '../snapshot/snapshot.ts';
import type { Displacement } from '../preemption/displacements.ts';
import type { Overdue } from '../cache/deadlines.ts';
import type { ExecutionDeadline } from '../cache/execution-time.ts';
import type { StartDeadline } from '../cache/start-deadlines.ts';

/** An admitted Workload that must be suspended. */
export type Eviction = {
  readonly reservation: Reservation;
  readonly reason: EvictionReason;
  readonly message: string;
  /** Why the Workload avoids its cluster from now on. */
  readonly refusal?: string;
  /** The preemption behind the eviction. */
  readonly displacement?: Displacement;
  /** The reason of the Event on the Job. */
  readonly event?: JobEventReason;
  /** The Job fails instead of being queued again. */
  readonly fail?: NonNullable<AdmissionRecord['fail']>;
};

export const EvictionReason = {
  ClusterQueueStopped: 'ClusterQueueStopped',
  LocalQueueStopped: 'LocalQueueStopped',
  ClusterDraining: 'ClusterDraining',
  ExceedsReservation: 'ExceedsReservation',
  AdmissionUnresolved: 'AdmissionUnresolved',
  ClusterRefused: 'ClusterRefused',
  ClusterUnsteady: 'ClusterUnsteady',
  StartTimeout: 'StartTimeout',
  RecoveryTimeout: 'RecoveryTimeout',
  ClusterLost: 'ClusterLost',
  Held: 'Held',
  MaximumExecutionTimeExceeded: 'MaximumExecutionTimeExceeded',
  Preempted: 'Preempted',
  AdmissionCheck: 'AdmissionCheck',
} as const;
export type EvictionReason = (typeof EvictionReason)[keyof typeof EvictionReason];

/**
 * Workloads to evict: those of queues with HoldAndDrain, on draining clusters, and on unsteady ones; `mismatched` ones that request more
 * than they hold; `refused` ones, and those of their shape on their way; `held` and `displaced` ones. Workloads that are being suspended
 * already are skipped.
 */
export function findEvictions(
  cache: Pick<AdmissionCache, 'reservations' | 'onCluster' | 'mismatched' | 'refused' | 'refusedAlike' | 'held' | 'displaced'>,
  setup: QueueingSetup,
  clusters: readonly ClusterState[],
): Eviction[] {
  return [
    ...heldByUser(cache.held()),
    ...refusedByCluster(cache.refused()),
    ...refusedByShape(cache.refusedAlike()),
    ...grown(cache.mismatched()),
    ...drained(cache, setup, clusters),
    ...leavingUnsteady(cache, clusters),
    ...preempted(cache.displaced()),
  ];
}

/**
 * Workloads that the fence of an unsteady cluster stops repeatedly leave it if another cluster can run them. Otherwise they stay: a stopped
 * copy keeps its completed work, and a new copy on the same cluster would fare no better.
 */
function leavingUnsteady(cache: Pick<AdmissionCache, 'onCluster'>, clusters: readonly ClusterState[]): Eviction[] {
  const steady = clusters.filter(({ closed, tryingSinceMs }) => closed === undefined && tryingSinceMs === undefined);
  return clusters.flatMap(({ name, unsteady }) =>
    (unsteady ? [...cache.onCluster(name)] : []).flatMap((reservation): Eviction[] => {
      const { workload, record, assumed } = reservation;
      if (assumed || !hasPlace(workload) || record.unfenced === true) return [];
      if (!steady.some((cluster) => cluster.name !== name && couldRunOn(workload, cluster))) return [];
      const message = `cluster ${name} has stopped it again and again, because its worker did not hear of the manager`;
      return [
        { reservation, reason: EvictionReason.ClusterUnsteady, message, refusal: AvoidedReason.Fenced, event: JobEventReason.Evicted },
      ];
    }),
  );
}

function heldByUser(held: Iterable<Reservation>): Eviction[] {
  return [...held].flatMap((reservation) =>
    hasPlace(reservation.workload)
      ? [{ reservation, reason: EvictionReason.Held, message: `it is held by its annotation ${HOLD_ANNOTATION}` }]
      : [],
  );
}

function preempted(displaced: ReturnType<AdmissionCache['displaced']>): Eviction[] {
  return [...displaced].flatMap(({ reservation, ...displacement }) => {
    const { assumed, workload } = reservation;
    if (assumed || !hasPlace(workload)) return [];
    const message = preemptedMessage(preemptedBy(displacement.by, displacement.rule, workload.namespace));
    return [{ reservation, reason: EvictionReason.Preempted, message, event: JobEventReason.Preempted, displacement }];
  });
}

function refusedByCluster(refused: Iterable<Reservation>): Eviction[] {
  return [...refused].flatMap((reservation) => {
    const { workload, record } = reservation;
    const { refusal } = workload;
    if (refusal === undefined || workload.phase !== 'Admitted') return [];
    return [{ reservation, reason: EvictionReason.ClusterRefused, message: `cluster ${record.cluster} refused it (${refusal})`, refusal }];
  });
}

/** Workloads whose copy has not arrived avoid the cluster as others of their shape do, without a refusal of their own. */
function refusedByShape(refusedAlike: Iterable<readonly [Reservation, string]>): Eviction[] {
  return [...refusedAlike].map(([reservation, reason]) => ({
    reservation,
    reason: EvictionReason.ClusterRefused,
    message: `cluster ${reservation.record.cluster} refused Jobs like it (${reason})`,
  }));
}

/**
 * Workloads that have not started in time try another cluster. Those that have lost pods and have not recovered in time queue again; the
 * cluster worked before, so they do not avoid it.
 */
export const notStarted = (overdue: readonly Overdue<StartDeadline>[]): Eviction[] =>
  overdue.map(({ reservation, due: { timeoutMs, hasLostPods } }) => {
    const where = `on cluster ${reservation.record.cluster}`;
    const event = JobEventReason.Evicted;
    if (hasLostPods === true) {
      const message = `it has had fewer ready pods than it needs ${where} for ${formatDurationMs(timeoutMs)}`;
      return { reservation, reason: EvictionReason.RecoveryTimeout, message, event };
    }
    const message = `it has not started ${where} within ${formatDurationMs(timeoutMs)}`;
    return { reservation, reason: EvictionReason.StartTimeout, message, refusal: AvoidedReason.NotStarted, event };
  });

/** Workloads whose maximum execution time is used up wait until a user extends it. */
export const outOfTime = (overdue: readonly Overdue<ExecutionDeadline>[]): Eviction[] =>
  overdue.map(({ reservation, due: { seconds } }) => ({
    reservation,
    reason: EvictionReason.MaximumExecutionTimeExceeded,
    message: `it has run for the ${seconds}s in all that its label ${MAX_EXEC_TIME_LABEL} allows`,
    event: JobEventReason.MaximumExecutionTimeExceeded,
  }));

/** Stopping a queue also ends its reservations, as in Kueue. */
export function stoppedReservations(reserved: Iterable<Reservation>, { queues, localQueues }: QueueingSetup): Eviction[] {
  return [...reserved].flatMap((reservation): Eviction[] => {
    const { clusterQueue } = reservation.record;
    const { namespace, queue = '' } = reservation.workload;
    if ((queues.get(clusterQueue)?.stopPolicy ?? 'None') !== 'None')
      return [{ reservation, reason: EvictionReason.ClusterQueueStopped, message: `cluster queue ${clusterQueue} is stopped` }];
    if (localQueues.get(`${namespace}/${queue}`)?.stopPolicy === 'None') return [];
    return [{ reservation, reason: EvictionReason.LocalQueueStopped, message: `local queue ${queue} is stopped, or gone` }];
  });
}

function grown(mismatched: Iterable<Reservation>): Eviction[] {
  return [...mismatched].flatMap((reservation) => {
    const { workload, record, held, recorded = held, assumed } = reservation;
    const more = excess(admittedOf(workload, record), recorded) ?? excessOfPodSets(workload, record);
    if (assumed || !hasPlace(workload) || more === undefined) return [];
    return [{ reservation, reason: EvictionReason.ExceedsReservation, message: `it asks for ${more} more than it was admitted with` }];
  });
}

function drained(
  cache: Pick<AdmissionCache, 'reservations' | 'onCluster'>,
  setup: QueueingSetup,
  clusters: readonly ClusterState[],
): Eviction[] {
  const draining = new Set(clusters.filter((cluster) => cluster.draining).map(({ name }) => name));
  const evictions: Eviction[] = [];
  // Clusters may be drained for days, so only their Workloads are visited.
  const concerned = setup.draining ? [...cache.reservations()] : [...draining].flatMap((name) => [...cache.onCluster(name)]);
  for (const reservation of concerned) {
    const { workload, record, assumed } = reservation;
    if (assumed || !hasPlace(workload)) continue;
    if (setup.queues.get(record.clusterQueue)?.stopPolicy === 'HoldAndDrain') {
      evictions.push({
        reservation,
        reason: EvictionReason.ClusterQueueStopped,
        message: `cluster queue ${record.clusterQueue} is being drained`,
      });
    } else if (setup.localQueues.get(`${workload.namespace}/${workload.queue ?? ''}`)?.stopPolicy === 'HoldAndDrain') {
      evictions.push({
        reservation,
        reason: EvictionReason.LocalQueueStopped,
        message: `local queue ${workload.queue ?? ''} is being drained`,
      });
    } else if (draining.has(record.cluster)) {
      evictions.push({ reservation, reason: EvictionReason.ClusterDraining, message: `cluster ${record.cluster} is draining` });
    }
  }
  return evictions;
}
