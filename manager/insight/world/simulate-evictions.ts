import { preemptedMessage, type Preempted } from '../../api/preempted.ts';
import { fencedJob, judgeLoss } from '../../api/fenced-off.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { recordWorld, unresolved } from '../../api/record-resolution.ts';
import { FailReason } from '../../api/reasons.ts';
import type { AdmissionCache } from '../../admission/cache/admission-cache.ts';
import type { Decision } from '../../admission/scheduling/decision.ts';
import { evictedRecord } from '../../admission/eviction/evicted-record.ts';
import { EvictionReason, findEvictions, outOfTime, stoppedReservations, type Eviction } from '../../admission/eviction/evictions.ts';
import { hasPlace } from '../../admission/workload/reservation.ts';
import { DEFAULT_REQUEUING_TIMESTAMP } from '../../admission/eviction/requeuing.ts';
import type { QueueingSetup } from '../../admission/snapshot/snapshot.ts';
import { scheduleUntilIdle } from './schedule-until-idle.ts';
import type { Workload } from '../../admission/workload/workload.ts';
import { cacheOf, queueingOf, type World } from './world.ts';

/** The final state of a world in which no Job ends by itself or is added: all Workloads to evict have stopped, and are pending again. */
export type Outcome = {
  readonly world: World;
  /** The last decisions about pending Workloads. */
  readonly decisions: ReadonlyMap<string, Decision>;
  /** The evictions of each Workload, in order. */
  readonly evictions: ReadonlyMap<string, readonly SimulatedEviction[]>;
  /** False: the simulation was stopped after many rounds before nothing changed. */
  readonly isFixpoint: boolean;
};

/** The eviction of an admitted Workload; `preempted`: its preemptor and the rule. */
export type SimulatedEviction = { readonly reason: EvictionReason; readonly message: string; readonly preempted?: Preempted };

/** Rounds at most. */
const ROUNDS_MAX = 500;
const ROUND_MS = 1_000;
/** The default of --worker-lost-timeout. */
const WORKER_LOST_TIMEOUT_MS = 900_000;

/**
 * Rounds, until nothing changes:
 *
 * 1. Evict as the manager does: Workloads of stopped queues, on draining or lost clusters, with an invalid admission, with larger requests,
 * held, or out of time.
 * 2. Schedule: cycles until no more Workloads are admitted; some may be preempted.
 * 3. Stop: all evicted Workloads stop at once and are pending again. A second passes, so that later admissions are distinguishable.
 */
export function runToFixpoint(start: World): Outcome {
  const evictions = new Map<string, SimulatedEviction[]>();
  const note = (key: string, loss: SimulatedEviction): void => void evictions.set(key, [...(evictions.get(key) ?? []), loss]);
  let world = start;
  for (let round = 1; ; round++) {
    const queueing = queueingOf(world);
    const cache = cacheOf(world, queueing);
    const evicted = new Map<string, AdmissionRecord>();
    for (const eviction of evictionsIn(world, queueing, cache)) {
      const { key } = eviction.reservation.workload;
      if (evicted.has(key)) continue;
      evicted.set(key, evictedRecord(eviction, cache, DEFAULT_REQUEUING_TIMESTAMP, world.nowMs));
      note(key, { reason: eviction.reason, message: eviction.message });
    }
    world = withWorkloads(world, (workload) => leaving(workload, evicted.get(workload.key))); // 1
    const decisions = scheduleUntilIdle(world); // 2
    const admitted = new Map<string, AdmissionRecord>();
    for (const [key, decision] of decisions) {
      if (decision.kind === 'Admit') admitted.set(key, decision.record);
      if (decision.kind !== 'Preempt') continue;
      for (const { admitted: victim, rule } of decision.victims) {
        const { reservation } = victim;
        const { workload } = reservation;
        if (evicted.has(workload.key) || !hasPlace(workload) || reservation.assumed) continue;
        const by = { key, uid: decision.head.queued.workload.uid, clusterQueue: decision.head.clusterQueue };
        const preempted = { by: key, clusterQueue: by.clusterQueue, rule };
        const message = preemptedMessage(preempted);
        const eviction = { reservation, reason: EvictionReason.Preempted, message, displacement: { by, rule } };
        evicted.set(workload.key, evictedRecord(eviction, cache, DEFAULT_REQUEUING_TIMESTAMP, world.nowMs));
        note(workload.key, { reason: EvictionReason.Preempted, message, preempted });
      }
    }
    let moved = admitted.size > 0;
    const before = world;
    world = withWorkloads({ ...world, nowMs: world.nowMs + ROUND_MS }, (workload) => {
      const record = admitted.get(workload.key);
      if (record !== undefined) return placed(workload, record);
      const isLeaving = workload.phase === 'Evicting' || workload.phase === 'Unrecorded' || evicted.has(workload.key);
      if (!isLeaving || !canStop(workload, before, queueing)) return workload;
      moved = true;
      return stopped(workload, evicted.get(workload.key) ?? workload.record, before);
    }); // 3
    if (!moved || round === ROUNDS_MAX) return { world, decisions, evictions, isFixpoint: !moved };
  }
}

const withWorkloads = (world: World, change: (workload: Workload) => Workload): World => ({
  ...world,
  workloads: world.workloads.map(change),
});

function evictionsIn(world: World, queueing: QueueingSetup, cache: AdmissionCache): readonly Eviction[] {
  return [
    ...findEvictions(cache, queueing, world.clusters),
    ...outOfTime(cache.executions.overdue(world.nowMs).found),
    ...stoppedReservations(cache.reserved(), queueing),
    ...unresolvedIn(world, cache),
    ...lostIn(world, queueing, cache),
  ].filter(({ reservation }) => hasPlace(reservation.workload));
}

function unresolvedIn({ objects, clusters }: World, cache: AdmissionCache): Eviction[] {
  const named = <T extends { readonly metadata: { readonly name: string } }>(items: readonly T[]) => {
    const byName = new Map(items.map((item) => [item.metadata.name, item]));
    return { get: ({ name }: { readonly name: string }) => byName.get(name) };
  };
  const uids = new Map(clusters.map(({ name, uid }) => [name, { uid }]));
  const there = {
    ...recordWorld({
      clusterQueues: named(objects.clusterQueues),
      flavors: named(objects.resourceFlavors),
      clusters: { get: () => undefined },
      namespaces: named(objects.namespaces),
    }),
    cluster: (name: string) => uids.get(name),
  };
  return [...cache.reservations()].flatMap((reservation): Eviction[] => {
    const why = unresolved(reservation.record, reservation.workload.namespace, there);
    return why === undefined ? [] : [{ reservation, reason: EvictionReason.AdmissionUnresolved, message: why }];
  });
}

function lostIn(world: World, queueing: QueueingSetup, cache: AdmissionCache): Eviction[] {
  if (world.losses === undefined || world.losses.size === 0) return [];
  return [...cache.reservations()].flatMap((reservation): Eviction[] => {
    const { workload, record } = reservation;
    const judgement = judgementOf(workload, record, world, queueing);
    if (workload.phase !== 'Admitted' || judgement?.kind !== 'FencedOff') return [];
    const message = `${record.cluster}: ${judgement.message}`;
    const ends = queueing.queues.get(record.clusterQueue)?.onLoss.onClusterLost === 'Fail';
    const fail = ends ? { fail: { reason: FailReason.ClusterLost, message } } : {};
    return [{ reservation, reason: EvictionReason.ClusterLost, message, ...fail }];
  });
}

/** The judgement about a Workload on a lost cluster; undefined if its cluster is not lost. */
function judgementOf({ graceSeconds, fencedKind }: Workload, record: AdmissionRecord, world: World, queueing: QueueingSetup) {
  const loss = world.losses?.get(record.cluster);
  if (loss === undefined) return undefined;
  const job = fencedJob(graceSeconds, record, queueing.queues.get(record.clusterQueue)?.onLoss, fencedKind);
  return judgeLoss(loss, job, world.workerLostTimeoutMs ?? WORKER_LOST_TIMEOUT_MS);
}

/** Whether a Workload can be known to stop: not on an unreachable cluster, unless its fence has stopped it. */
function canStop(workload: Workload, world: World, queueing: QueueingSetup): boolean {
  const { record } = workload;
  const judgement = record && judgementOf(workload, record, world, queueing);
  return judgement === undefined || judgement.kind === 'FencedOff';
}

const leaving = (workload: Workload, record: AdmissionRecord | undefined): Workload =>
  record === undefined ? workload : { ...workload, phase: 'Evicting', record };

const placed = (workload: Workload, record: AdmissionRecord): Workload => ({
  ...workload,
  phase: record.checks === undefined ? 'Admitted' : 'Reserved',
  record,
});

/** The Workload once none of its pods run: it is pending again, or finished. */
function stopped(workload: Workload, record: AdmissionRecord | undefined, { rested }: World): Workload {
  const { refusal: _refusal, untrusted: _untrusted, ...atRest } = rested?.get(workload.key) ?? workload;
  const { phase, schedulingHash } = atRest;
  // A Job that a user suspends is held, unless it says otherwise.
  const hold = workload.unmarked ? (workload.hold ?? true) : workload.hold;
  return {
    ...atRest,
    phase: record?.fail !== undefined || phase === 'Finished' ? 'Finished' : 'Pending',
    record,
    hold,
    queuedSinceMs: record?.queuedSince === undefined ? atRest.createdMs : Date.parse(record.queuedSince),
    schedulingHash: `${schedulingHash} ${JSON.stringify([record?.cluster, record?.clusterUID, record?.avoid])}`,
    refusal: undefined,
    untrusted: undefined,
    podsTold: 0,
    dispatched: false,
    started: false,
    podsLostSinceMs: undefined,
    unmarked: false,
  };
}
