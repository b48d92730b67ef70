import { HOLD_ANNOTATION } from '../../shared/api/names.ts';
import { excess } from '../api/job-requests.ts';
import type { AdmissionCache, Reservation } from './admission-cache.ts';
import type { ClusterState } from './cluster-state.ts';
import type { QueueingSetup } from './snapshot.ts';

/** An admitted Workload that must give its place up. */
export type Eviction = {
  readonly reservation: Reservation;
  readonly reason: EvictionReason;
  readonly message: string;
  /** Why it is to avoid its cluster from now on. */
  readonly refusal?: string;
};

export const EvictionReason = {
  ClusterQueueStopped: 'ClusterQueueStopped',
  LocalQueueStopped: 'LocalQueueStopped',
  ClusterDraining: 'ClusterDraining',
  ExceedsReservation: 'ExceedsReservation',
  AdmissionUnresolved: 'AdmissionUnresolved',
  ClusterRefused: 'ClusterRefused',
  Held: 'Held',
} as const;
export type EvictionReason = (typeof EvictionReason)[keyof typeof EvictionReason];

/**
 * Those whose queue is stopped with HoldAndDrain, or whose cluster is draining; of the `mismatched`, which ask for something else than
 * they hold, those that ask for more; the `refused`; and the `held`, which are to rest. A Workload that is being suspended already is left alone.
 */
export function findEvictions(
  { reservations, mismatched, refused, held }: Pick<AdmissionCache, 'reservations' | 'mismatched' | 'refused' | 'held'>,
  setup: QueueingSetup,
  clusters: readonly ClusterState[],
): Eviction[] {
  return [...toRest(held()), ...turnedAway(refused()), ...grown(mismatched()), ...drained(reservations(), setup, clusters)];
}

function toRest(held: Iterable<Reservation>): Eviction[] {
  return [...held].flatMap((reservation) =>
    reservation.workload.phase === 'Admitted'
      ? [{ reservation, reason: EvictionReason.Held, message: `it is held by its annotation ${HOLD_ANNOTATION}` }]
      : [],
  );
}

function turnedAway(refused: Iterable<Reservation>): Eviction[] {
  return [...refused].flatMap((reservation) => {
    const { workload, record } = reservation;
    const { refusal } = workload;
    if (refusal === undefined || workload.phase !== 'Admitted') return [];
    return [{ reservation, reason: EvictionReason.ClusterRefused, message: `cluster ${record.cluster} refused it (${refusal})`, refusal }];
  });
}

function grown(mismatched: Iterable<Reservation>): Eviction[] {
  return [...mismatched].flatMap((reservation) => {
    const { workload, held, assumed } = reservation;
    const more = excess(workload.requests, held);
    if (assumed || workload.phase !== 'Admitted' || more === undefined) return [];
    return [{ reservation, reason: EvictionReason.ExceedsReservation, message: `it asks for ${more} more than it was admitted with` }];
  });
}

function drained(reservations: Iterable<Reservation>, setup: QueueingSetup, clusters: readonly ClusterState[]): Eviction[] {
  const draining = new Set(clusters.filter((cluster) => cluster.draining).map(({ name }) => name));
  if (draining.size === 0 && !setup.draining) return [];
  const evictions: Eviction[] = [];
  for (const reservation of reservations) {
    const { workload, record, assumed } = reservation;
    if (assumed || workload.phase !== 'Admitted') continue;
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
