import type { WorkObject } from '../../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION, HOLD_ANNOTATION, MANAGER_FIELD_MANAGER } from '../../../shared/api/names.ts';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import { isConflict, isNotFound } from '../../../shared/kube/api-error.ts';
import type { Patch, StatusClient, WriteClient } from '../../../shared/kube/client.ts';
import type { EventRecorder } from '../../../shared/kube/event-recorder.ts';
import { parseKey } from '../../../shared/kube/keys.ts';
import { sleep, type Clock, type Timer } from '../../../shared/runtime/clock.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { onAbort } from '../../../shared/runtime/tasks.ts';
import { CannotStartReason, JobEventReason, QuotaReservedReason, SwitchyardCondition } from '../../api/reasons.ts';
import type { RecordKeeper } from '../../api/record-keeper.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import type { AdmissionMetrics } from './admission-metrics.ts';
import { CheckReason } from '../../api/check-states.ts';
import { checkStep } from '../queues/admission-checks.ts';
import { releasedRecord } from '../scheduling/admission-record.ts';
import { admissionPatch } from './admission-writer.ts';
import type { AdmissionCache } from '../cache/admission-cache.ts';
import { clusterLabel } from './cluster-label.ts';
import { hasPlace, type Reservation } from '../workload/reservation.ts';
import { whyHeld } from '../queues/queue-entry.ts';
import { EvictionReason, findEvictions, notStarted, outOfTime, stoppedReservations, type Eviction } from '../eviction/evictions.ts';
import type { Deadlines, Due, Overdue } from '../cache/deadlines.ts';
import { evictedRecord } from '../eviction/evicted-record.ts';
import { endedRecord } from '../cache/execution-time.ts';
import type { LossWatch } from '../eviction/loss-watch.ts';
import type { CannotStart, JobWatcher } from './job-watcher.ts';
import { partiallyReleased, PARTIAL_RELEASE_DELAY_MS } from '../eviction/partial-release.ts';
import type { RequeuingTimestamp } from '../eviction/requeuing.ts';
import { wordOfName } from '../../work-kind/qualified-name.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import { waitingConditions } from './waiting-reporter.ts';
import type { Untrusted, Workload } from '../workload/workload.ts';

export type EvictionControllerDeps = {
  readonly kind: WorkKind;
  readonly client: WriteClient & StatusClient;
  readonly events: EventRecorder;
  /** A recorder that drops Events beyond its rate: for facts that conditions state too. */
  readonly storyEvents: EventRecorder;
  readonly cache: AdmissionCache;
  readonly watcher: Pick<JobWatcher, 'toCorrect' | 'toReport'>;
  readonly records: RecordKeeper;
  readonly losses: LossWatch;
  readonly requeuingTimestamp: RequeuingTimestamp;
  /** Why the admission of a reservation is no longer valid; undefined while it is. */
  readonly unresolved: (reservation: Reservation) => string | undefined;
  /** Schedules another call of {@link EvictionController.correct}. */
  readonly wake: () => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: AdmissionMetrics;
};

/** Corrects Jobs that run or hold quota without right: all writes of admission except admissions. */
export interface EvictionController {
  /** Starts each write that is needed now, once. */
  correct(signal: AbortSignal): void;
  /** Admissions of the `concerned` reservations may have become invalid or valid. They are examined when the cache continues its visits. */
  recheckAdmissions(concerned?: (reservation: Reservation) => boolean): void;
  /** Clusters or queues have changed: Jobs on lost clusters are examined. */
  lookForLosses(): void;
  /** Resolves when no write is in flight. */
  idle(): Promise<void>;
}

const WRITE = { fieldManager: MANAGER_FIELD_MANAGER };
/** Delay after a conflict, a deletion not yet observed, or the first failure; it doubles with every consecutive failure. */
const RETRY_MS = 500;
const RETRY_MAX_MS = 60_000;
/** Writes in flight at most, so that the drain of thousands does not delay other Jobs. */
const WRITES_MAX = 200;
/** An object that is deleted and recreated within this time, as by `kubectl replace --force`, causes no eviction. */
const UNRESOLVED_MS = 30_000;

export function createEvictionController(deps: EvictionControllerDeps): EvictionController {
  const { kind, client, events, storyEvents, cache, watcher, records, losses, requeuingTimestamp, unresolved, wake, clock, log, metrics } =
    deps;
  const writes = new Map<string, Promise<void>>();
  /** Consecutive failed writes of each Job. */
  const failures = new Map<string, number>();
  /** Since when a Job could hold less quota than it does. */
  const releasableSinceMs = new Map<string, number>();
  /** Since when the admission of a Job is invalid. */
  const unresolvedSinceMs = new Map<string, number>();
  /** Keys of Jobs whose admission was found invalid. */
  const suspects = new Set<string>();
  let inFlight = 0;
  /** The timer of each kind of deadline. */
  const timers = new Map<'starts' | 'executions' | 'checks', Timer>();

  /** One write per Job at a time. The pass after an answer examines the rest. */
  const mayWrite = (key: string): boolean => inFlight < WRITES_MAX && !writes.has(key);

  /** Sends one write. It may fail, or rest on outdated state; the pass that follows examines the Job again. */
  const write = (key: string, patch: Patch, what: string, signal: AbortSignal, done: (answer: WorkObject) => unknown): void =>
    send(key, async () => client.patch(kind.resource, parseKey(key), patch, WRITE), what, signal, done);

  const send = (
    key: string,
    sent: () => Promise<WorkObject>,
    what: string,
    signal: AbortSignal,
    done: (answer: WorkObject) => unknown,
  ): void => {
    if (!mayWrite(key)) return;
    const attempt = async (): Promise<void> => {
      try {
        inFlight++;
        const answer = await sent().finally(() => inFlight--);
        records.read(answer);
        await done(answer);
        failures.delete(key);
      } catch (error) {
        const consecutiveFailures = isConflict(error) || isNotFound(error) ? 0 : (failures.get(key) ?? 0) + 1;
        if (consecutiveFailures === 0) failures.delete(key);
        else failures.set(key, consecutiveFailures);
        if (consecutiveFailures > 0) log.warn(`${what} failed`, { job: key, failures: consecutiveFailures, error });
        await sleep(clock, Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** Math.max(0, consecutiveFailures - 1)), signal);
      }
    };
    writes.set(
      key,
      attempt().finally(() => {
        writes.delete(key);
        wake();
      }),
    );
  };

  const recordPatch = (
    workload: Workload,
    record: AdmissionRecord | undefined,
    spec?: object,
    others: Readonly<Record<string, string>> = {},
  ): Patch => {
    const annotations = {
      ...others,
      [ADMISSION_ANNOTATION]: record === undefined ? null : records.seal(workload, record, clock.now()),
    };
    const metadata = { resourceVersion: workload.resourceVersion, labels: clusterLabel(record?.cluster), annotations };
    return { type: 'merge', body: { metadata, ...omitUndefined({ spec }) } };
  };

  /**
   * Suspends a Job that admission has not released, and replaces its record with the last good one, or removes it: a restarted manager
   * could not tell an earlier record from the newest.
   */
  const suspendUnadmitted = (workload: Workload, { reason, problem }: Untrusted, signal: AbortSignal): void => {
    const last = workload.record && endedRecord(workload.record, clock.now());
    write(workload.key, recordPatch(workload, last, kind.of(workload.name).suspension(true)), 'holding a Job back', signal, async (job) => {
      const held = workload.hold === true ? whyHeld(workload) : undefined;
      const message = held === undefined ? `suspended: ${problem}` : `suspended again: ${problem}; it is ${held.message}`;
      log.warn('suspended a Job that admission has not released', { job: workload.key, reason, why: problem });
      events.event(kind.resource, job, 'Warning', held === undefined ? JobEventReason.RecordNotTrusted : JobEventReason.Held, message);
      const why = { reason: held?.reason ?? QuotaReservedReason.RecordNotTrusted, message, mayRun: true };
      const conditions = waitingConditions(kind, job, why, clock.now());
      const status = { metadata: { uid: job.metadata.uid }, status: { conditions } };
      if (conditions !== undefined)
        await client.patchStatus(kind.resource, parseKey(workload.key), { type: 'strategic', body: status }, WRITE);
    });
  };

  /**
   * Records that a Job was suspended by a user; own suspensions record that in the same write. Such a Job is held, unless its annotation
   * says otherwise; its next admission removes the annotation. A Job that was suspended before, and has lost its record since, is not held.
   */
  const recordSuspension = (workload: Workload, record: AdmissionRecord, signal: AbortSignal): void => {
    const hold: Record<string, string> = workload.hold === undefined && record.evicted !== true ? { [HOLD_ANNOTATION]: 'true' } : {};
    const patch = recordPatch(workload, endedRecord(record, clock.now()), undefined, hold);
    write(workload.key, patch, 'marking a suspended Job', signal, () =>
      log.info('suspended by somebody else', { job: workload.key, clusterQueue: record.clusterQueue }),
    );
  };

  const correctOne = (workload: Workload, signal: AbortSignal): void => {
    const { untrusted, record } = workload;
    if (workload.phase === 'Unrecorded' && untrusted !== undefined) suspendUnadmitted(workload, untrusted, signal);
    else if (workload.unmarked && record !== undefined) recordSuspension(workload, record, signal);
  };

  /**
   * Suspends the Job. The record stays, so that the copy is suspended in place and may resume there; if it must not resume, the record says
   * so.
   */
  const evict = (eviction: Eviction, signal: AbortSignal): void => {
    const { workload, record } = eviction.reservation;
    // Building the record costs more than this check.
    if (!mayWrite(workload.key)) return;
    const { reason, message, event: told, displacement } = eviction;
    const evicted = evictedRecord(eviction, cache, requeuingTimestamp, clock.now());
    const { fail } = evicted;
    // An earlier preemption may still be in the record.
    const preempted = displacement && evicted.preempted;
    const patch = recordPatch(workload, evicted, kind.of(workload.name).suspension(true));
    write(workload.key, patch, 'an eviction', signal, (job) => {
      metrics.evicted.inc({ cluster_queue: record.clusterQueue, reason });
      if (preempted !== undefined)
        metrics.preempted.inc({
          preempting_cluster_queue: preempted.clusterQueue,
          cluster_queue: record.clusterQueue,
          reason: preempted.rule,
        });
      log.info('evicted', {
        job: workload.key,
        clusterQueue: record.clusterQueue,
        reason,
        why: message,
        ...omitUndefined({ for: displacement?.by.key }),
      });
      if (fail !== undefined) events.event(kind.resource, job, 'Warning', fail.reason, fail.message);
      else if (told !== undefined) events.event(kind.resource, job, 'Warning', told, message);
      else storyEvents.event(kind.resource, job, 'Normal', JobEventReason.Evicted, message);
    });
  };

  /** Writes the condition that a Job starts on no cluster. */
  const reportCannotStart = (
    { workload: { key, resourceVersion, cannotStart }, message: text }: CannotStart,
    signal: AbortSignal,
  ): void => {
    const lastTransitionTime = toWireTime(clock.now());
    const { CannotStart: type } = SwitchyardCondition;
    const condition = { type, status: 'True', reason: CannotStartReason.TooManyMoves, message: text, lastProbeTime: lastTransitionTime };
    const conditions = [cannotStart === undefined ? { ...condition, lastTransitionTime } : condition];
    const body = { metadata: { resourceVersion }, status: { conditions } };
    const sent = (): Promise<WorkObject> => client.patchStatus(kind.resource, parseKey(key), { type: 'strategic', body }, WRITE);
    send(key, sent, 'telling a Job that it does not start', signal, (job) => {
      log.warn('a Job does not start anywhere', { job: key, why: text });
      if (cannotStart === undefined) events.event(kind.resource, job, 'Warning', JobEventReason.CannotStart, text);
    });
  };

  /** Returns what is overdue, and calls `wake` at the next deadline. */
  const overdue = <D extends Due>(what: 'starts' | 'executions', deadlines: Pick<Deadlines<D>, 'overdue'>): readonly Overdue<D>[] => {
    const { found, nextMs } = deadlines.overdue(clock.now());
    timers.get(what)?.cancel();
    timers.delete(what);
    if (nextMs !== undefined) timers.set(what, clock.schedule(wake, nextMs - clock.now()));
    return found;
  };

  /**
   * Admits reservations whose checks are all ready, ends those with a check that is rejected or late, and asks checks that have no state.
   */
  const checkReservations = (signal: AbortSignal): void => {
    const nowMs = clock.now();
    let nextMs = Number.POSITIVE_INFINITY;
    const stops = stoppedReservations(cache.reserved(), cache.queueing());
    const stopped = new Set(stops.map(({ reservation }) => reservation));
    for (const stop of stops) evict(stop, signal);
    for (const reservation of cache.reserved()) {
      const { workload, record } = reservation;
      const queue = cache.queueing().queues.get(record.clusterQueue);
      if (stopped.has(reservation)) continue;
      const step = checkStep(record, workload.checks, queue?.checksTimeoutMs ?? 0, nowMs);
      if (step.kind === 'Ask') ask(workload, record, step.checks, signal);
      else if (step.kind === 'Wait') nextMs = Math.min(nextMs, step.dueMs ?? Number.POSITIVE_INFINITY);
      else if (step.kind === 'GiveUp')
        evict({ reservation, reason: EvictionReason.AdmissionCheck, message: step.why, event: JobEventReason.Evicted }, signal);
      else releaseReserved(workload, record, signal);
    }
    timers.get('checks')?.cancel();
    timers.delete('checks');
    if (Number.isFinite(nextMs)) timers.set('checks', clock.schedule(wake, nextMs - nowMs));
  };

  const releaseReserved = (workload: Workload, record: AdmissionRecord, signal: AbortSignal): void => {
    const nowMs = clock.now();
    const released = releasedRecord(record, nowMs);
    write(
      workload.key,
      admissionPatch(kind, workload, released, records.seal(workload, released, nowMs)),
      'admitting a checked Job',
      signal,
      () => {
        const { clusterQueue, cluster, epoch } = released;
        metrics.admitted.inc({ cluster_queue: clusterQueue, cluster, kind: wordOfName(kind, workload.name) });
        metrics.waitTime.observe({ cluster_queue: clusterQueue }, Math.max(0, nowMs - workload.createdMs) / 1000);
        log.info('admitted, as its checks are ready', { job: workload.key, clusterQueue, cluster, epoch });
      },
    );
  };

  /** The condition asks the check's controller; its answer to an earlier reservation does not count for this one. */
  const ask = ({ key, resourceVersion }: Workload, { since }: AdmissionRecord, checks: readonly string[], signal: AbortSignal): void => {
    const lastTransitionTime = toWireTime(Math.max(clock.now(), Date.parse(since) + 1000));
    const message = 'quota is reserved, and the Job waits for this check';
    const said = { status: 'Unknown', reason: CheckReason.Pending, message, lastProbeTime: lastTransitionTime, lastTransitionTime };
    const body = { metadata: { resourceVersion }, status: { conditions: checks.map((type) => ({ type, ...said })) } };
    send(
      key,
      () => client.patchStatus(kind.resource, parseKey(key), { type: 'strategic', body }, WRITE),
      'asking admission checks',
      signal,
      () => undefined,
    );
  };

  /** Writes a record with smaller requests. The quota is released when the informer shows that record. */
  const releasePart = ({ workload }: Reservation, record: Reservation['record'], signal: AbortSignal): void => {
    write(workload.key, recordPatch(workload, record), 'giving quota back', signal, () =>
      log.info('holds less', { job: workload.key, requests: record.requests }),
    );
  };

  const releaseDueParts = (signal: AbortSignal): void => {
    const nowMs = clock.now();
    const candidates = [...cache.mismatched()].flatMap((reservation) => {
      const record = partiallyReleased(reservation, cache.clusters());
      return record === undefined ? [] : [{ reservation, record }];
    });
    const keys = new Set(candidates.map(({ reservation }) => reservation.workload.key));
    for (const key of releasableSinceMs.keys()) if (!keys.has(key)) releasableSinceMs.delete(key);
    for (const { reservation, record } of candidates) {
      const { key } = reservation.workload;
      const sinceMs = releasableSinceMs.get(key);
      if (sinceMs === undefined) {
        releasableSinceMs.set(key, nowMs);
        wakeAfter(PARTIAL_RELEASE_DELAY_MS, signal);
      } else if (nowMs - sinceMs >= PARTIAL_RELEASE_DELAY_MS) releasePart(reservation, record, signal);
    }
  };

  /** Examines the reservations that were invalid when last examined. */
  const findUnresolved = (signal: AbortSignal): Eviction[] => {
    const nowMs = clock.now();
    const found = new Map<string, Eviction>();
    for (const key of new Set([...suspects, ...unresolvedSinceMs.keys()])) {
      const reservation = cache.get(key);
      const message = reservation && unresolved(reservation);
      if (reservation === undefined || message === undefined) continue;
      found.set(key, { reservation, reason: EvictionReason.AdmissionUnresolved, message });
    }
    suspects.clear();
    for (const key of unresolvedSinceMs.keys()) if (!found.has(key)) unresolvedSinceMs.delete(key);
    for (const key of found.keys()) if (!unresolvedSinceMs.has(key)) unresolvedSinceMs.set(key, nowMs);
    if ([...unresolvedSinceMs.values()].includes(nowMs)) wakeAfter(UNRESOLVED_MS, signal);
    return [...found].flatMap(([key, eviction]) => {
      const { workload, assumed } = eviction.reservation;
      const isDue = nowMs - (unresolvedSinceMs.get(key) ?? nowMs) >= UNRESOLVED_MS;
      return isDue && !assumed && hasPlace(workload) ? [eviction] : [];
    });
  };

  const wakeAfter = (delayMs: number, signal: AbortSignal): void => {
    const timer = clock.schedule(wake, delayMs);
    onAbort(signal, () => timer.cancel());
  };

  return {
    recheckAdmissions: (concerned = () => true) =>
      cache.visit((reservation) => {
        if (concerned(reservation) && unresolved(reservation) !== undefined) suspects.add(reservation.workload.key);
      }),
    lookForLosses: losses.recheck,
    correct: (signal) => {
      for (const workload of watcher.toCorrect()) correctOne(workload, signal);
      const evictions = [
        ...findEvictions(cache, cache.queueing(), cache.clusters()),
        ...outOfTime(overdue('executions', cache.executions)),
        ...findUnresolved(signal),
        ...notStarted(overdue('starts', cache.starts)),
        ...losses.find(),
      ];
      for (const eviction of evictions) evict(eviction, signal);
      checkReservations(signal);
      for (const each of watcher.toReport()) reportCannotStart(each, signal);
      releaseDueParts(signal);
      // Failures of writes that are no longer needed are forgotten.
      for (const key of failures.keys()) if (!writes.has(key)) failures.delete(key);
    },
    idle: async () => {
      for (const timer of timers.values()) timer.cancel();
      losses.stop();
      await Promise.all(writes.values());
    },
  };
}
