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
import type { Reservation } from '../workload/reservation.ts';
import { whyHeld } from '../queues/queue-entry.ts';
import { EvictionReason, findEvictions, notStarted, outOfTime, stoppedReservations, type Eviction } from '../eviction/evictions.ts';
import type { Deadlines, Due, Overdue } from '../cache/deadlines.ts';
import { evictedRecord } from '../eviction/evicted-record.ts';
import { endedRecord } from '../cache/execution-time.ts';
import type { LossWatch } from '../eviction/loss-watch.ts';
import type { CannotStart, JobWatcher } from './job-watcher.ts';
import { PartialReleases } from '../eviction/partial-release.ts';
import { UnresolvedAdmissions } from '../eviction/unresolved-admissions.ts';
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

export function createEvictionController(deps: EvictionControllerDeps): EvictionController {
  return new Evictions(deps);
}

class Evictions implements EvictionController {
  readonly #deps: EvictionControllerDeps;
  readonly #unresolved: UnresolvedAdmissions;
  readonly #partialReleases = new PartialReleases();
  readonly #writes = new Map<string, Promise<void>>();
  /** Consecutive failed writes of each Job. */
  readonly #failures = new Map<string, number>();
  #inFlight = 0;
  /** The timer of each kind of deadline. */
  readonly #timers = new Map<'starts' | 'executions' | 'checks', Timer>();

  constructor(deps: EvictionControllerDeps) {
    this.#deps = deps;
    this.#unresolved = new UnresolvedAdmissions(deps.unresolved);
  }

  recheckAdmissions(concerned: (reservation: Reservation) => boolean = () => true): void {
    this.#deps.cache.visit((reservation) => {
      if (concerned(reservation)) this.#unresolved.recheck(reservation);
    });
  }

  lookForLosses(): void {
    this.#deps.losses.recheck();
  }

  correct(signal: AbortSignal): void {
    const { cache, watcher, losses, clock } = this.#deps;
    for (const workload of watcher.toCorrect()) this.#correctOne(workload, signal);
    const unresolved = this.#unresolved.find(cache, clock.now());
    if (unresolved.againAfterMs !== undefined) this.#wakeAfter(unresolved.againAfterMs, signal);
    const evictions = [
      ...findEvictions(cache, cache.queueing(), cache.clusters()),
      ...outOfTime(this.#overdue('executions', cache.executions)),
      ...unresolved.due,
      ...notStarted(this.#overdue('starts', cache.starts)),
      ...losses.find(),
    ];
    for (const eviction of evictions) this.#evict(eviction, signal);
    this.#checkReservations(signal);
    for (const each of watcher.toReport()) this.#reportCannotStart(each, signal);
    this.#releaseDueParts(signal);
    // Failures of writes that are no longer needed are forgotten.
    for (const key of this.#failures.keys()) if (!this.#writes.has(key)) this.#failures.delete(key);
  }

  async idle(): Promise<void> {
    for (const timer of this.#timers.values()) timer.cancel();
    this.#deps.losses.stop();
    await Promise.all(this.#writes.values());
  }

  /** One write per Job at a time. The pass after an answer examines the rest. */
  #mayWrite(key: string): boolean {
    return this.#inFlight < WRITES_MAX && !this.#writes.has(key);
  }

  /** Sends one patch of a Job. */
  #write(key: string, patch: Patch, what: string, signal: AbortSignal, done: Done): void {
    const { client, kind } = this.#deps;
    this.#send(key, async () => client.patch(kind.resource, parseKey(key), patch, WRITE), what, signal, done);
  }

  /** Sends one write. It may fail, or rest on outdated state; the pass that follows examines the Job again. */
  #send(key: string, sent: () => Promise<WorkObject>, what: string, signal: AbortSignal, done: Done): void {
    if (!this.#mayWrite(key)) return;
    const attempt = async (): Promise<void> => {
      try {
        this.#inFlight++;
        const answer = await sent().finally(() => this.#inFlight--);
        this.#deps.records.read(answer);
        await done(answer);
        this.#failures.delete(key);
      } catch (error) {
        await sleep(this.#deps.clock, this.#failed(key, what, error), signal);
      }
    };
    this.#writes.set(
      key,
      attempt().finally(() => {
        this.#writes.delete(key);
        this.#deps.wake();
      }),
    );
  }

  /** A write has failed. Returns how long the next one waits. */
  #failed(key: string, what: string, error: unknown): number {
    const failures = isConflict(error) || isNotFound(error) ? 0 : (this.#failures.get(key) ?? 0) + 1;
    if (failures === 0) this.#failures.delete(key);
    else {
      this.#failures.set(key, failures);
      this.#deps.log.warn(`${what} failed`, { job: key, failures, error });
    }
    return Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** Math.max(0, failures - 1));
  }

  #recordPatch(
    workload: Workload,
    record: AdmissionRecord | undefined,
    spec?: object,
    others: Readonly<Record<string, string>> = {},
  ): Patch {
    const { records, clock } = this.#deps;
    const annotations = {
      ...others,
      [ADMISSION_ANNOTATION]: record === undefined ? null : records.seal(workload, record, clock.now()),
    };
    const metadata = { resourceVersion: workload.resourceVersion, labels: clusterLabel(record?.cluster), annotations };
    return { type: 'merge', body: { metadata, ...omitUndefined({ spec }) } };
  }

  #correctOne(workload: Workload, signal: AbortSignal): void {
    const { untrusted, record } = workload;
    if (workload.phase === 'Unrecorded' && untrusted !== undefined) this.#suspendUnadmitted(workload, untrusted, signal);
    else if (workload.unmarked && record !== undefined) this.#recordSuspension(workload, record, signal);
  }

  /**
   * Suspends a Job that admission has not released, and replaces its record with the last good one, or removes it: a restarted manager
   * could not tell an earlier record from the newest.
   */
  #suspendUnadmitted(workload: Workload, { reason, problem }: Untrusted, signal: AbortSignal): void {
    const { kind, client, events, clock, log } = this.#deps;
    const { key } = workload;
    const last = workload.record && endedRecord(workload.record, clock.now());
    const patch = this.#recordPatch(workload, last, kind.of(workload.name).suspension(true));
    this.#write(key, patch, 'holding a Job back', signal, async (job) => {
      const held = workload.hold === true ? whyHeld(workload) : undefined;
      const message = held === undefined ? `suspended: ${problem}` : `suspended again: ${problem}; it is ${held.message}`;
      log.warn('suspended a Job that admission has not released', { job: key, reason, why: problem });
      events.event(kind.resource, job, 'Warning', held === undefined ? JobEventReason.RecordNotTrusted : JobEventReason.Held, message);
      const why = { reason: held?.reason ?? QuotaReservedReason.RecordNotTrusted, message, mayRun: true };
      const conditions = waitingConditions(kind, job, why, clock.now());
      const status = { metadata: { uid: job.metadata.uid }, status: { conditions } };
      if (conditions !== undefined) await client.patchStatus(kind.resource, parseKey(key), { type: 'strategic', body: status }, WRITE);
    });
  }

  /**
   * Records that a Job was suspended by a user; own suspensions record that in the same write. Such a Job is held, unless its annotation
   * says otherwise; its next admission removes the annotation. A Job that was suspended before, and has lost its record since, is not held.
   */
  #recordSuspension(workload: Workload, record: AdmissionRecord, signal: AbortSignal): void {
    const { clock, log } = this.#deps;
    const hold: Record<string, string> = workload.hold === undefined && record.evicted !== true ? { [HOLD_ANNOTATION]: 'true' } : {};
    const patch = this.#recordPatch(workload, endedRecord(record, clock.now()), undefined, hold);
    this.#write(workload.key, patch, 'marking a suspended Job', signal, () =>
      log.info('suspended by somebody else', { job: workload.key, clusterQueue: record.clusterQueue }),
    );
  }

  /**
   * Suspends the Job. The record stays, so that the copy is suspended in place and may resume there; if it must not resume, the record says
   * so.
   */
  #evict(eviction: Eviction, signal: AbortSignal): void {
    const { kind, cache, requeuingTimestamp, clock } = this.#deps;
    const { workload } = eviction.reservation;
    // Building the record costs more than this check.
    if (!this.#mayWrite(workload.key)) return;
    const evicted = evictedRecord(eviction, cache, requeuingTimestamp, clock.now());
    const patch = this.#recordPatch(workload, evicted, kind.of(workload.name).suspension(true));
    this.#write(workload.key, patch, 'an eviction', signal, (job) => this.#tellEvicted(job, eviction, evicted));
  }

  #tellEvicted(job: WorkObject, eviction: Eviction, { preempted, fail }: AdmissionRecord): void {
    const { kind, events, storyEvents, log, metrics } = this.#deps;
    const { reservation, reason, message, event: told, displacement } = eviction;
    const { key } = reservation.workload;
    const { clusterQueue } = reservation.record;
    metrics.evicted.inc({ cluster_queue: clusterQueue, reason });
    // An earlier preemption may still be in the record.
    if (displacement !== undefined && preempted !== undefined)
      metrics.preempted.inc({
        preempting_cluster_queue: preempted.clusterQueue,
        cluster_queue: clusterQueue,
        reason: preempted.rule,
      });
    log.info('evicted', { job: key, clusterQueue, reason, why: message, ...omitUndefined({ for: displacement?.by.key }) });
    if (fail !== undefined) events.event(kind.resource, job, 'Warning', fail.reason, fail.message);
    else if (told !== undefined) events.event(kind.resource, job, 'Warning', told, message);
    else storyEvents.event(kind.resource, job, 'Normal', JobEventReason.Evicted, message);
  }

  /** Writes the condition that a Job starts on no cluster. */
  #reportCannotStart({ workload: { key, resourceVersion, cannotStart }, message: text }: CannotStart, signal: AbortSignal): void {
    const { kind, client, events, clock, log } = this.#deps;
    const lastTransitionTime = toWireTime(clock.now());
    const { CannotStart: type } = SwitchyardCondition;
    const condition = { type, status: 'True', reason: CannotStartReason.TooManyMoves, message: text, lastProbeTime: lastTransitionTime };
    const conditions = [cannotStart === undefined ? { ...condition, lastTransitionTime } : condition];
    const body = { metadata: { resourceVersion }, status: { conditions } };
    const sent = (): Promise<WorkObject> => client.patchStatus(kind.resource, parseKey(key), { type: 'strategic', body }, WRITE);
    this.#send(key, sent, 'telling a Job that it does not start', signal, (job) => {
      log.warn('a Job does not start anywhere', { job: key, why: text });
      if (cannotStart === undefined) events.event(kind.resource, job, 'Warning', JobEventReason.CannotStart, text);
    });
  }

  /** Returns what is overdue, and wakes at the next deadline. */
  #overdue<D extends Due>(what: 'starts' | 'executions', deadlines: Pick<Deadlines<D>, 'overdue'>): readonly Overdue<D>[] {
    const { found, nextMs } = deadlines.overdue(this.#deps.clock.now());
    this.#wakeAt(what, nextMs);
    return found;
  }

  #wakeAt(what: 'starts' | 'executions' | 'checks', atMs: number | undefined): void {
    const { clock, wake } = this.#deps;
    this.#timers.get(what)?.cancel();
    this.#timers.delete(what);
    if (atMs !== undefined) this.#timers.set(what, clock.schedule(wake, atMs - clock.now()));
  }

  #wakeAfter(delayMs: number, signal: AbortSignal): void {
    const timer = this.#deps.clock.schedule(this.#deps.wake, delayMs);
    onAbort(signal, () => timer.cancel());
  }

  /**
   * Admits reservations whose checks are all ready, ends those with a check that is rejected or late, and asks checks that have no state.
   */
  #checkReservations(signal: AbortSignal): void {
    const { cache, clock } = this.#deps;
    const nowMs = clock.now();
    let nextMs = Number.POSITIVE_INFINITY;
    const stops = stoppedReservations(cache.reserved(), cache.queueing());
    const stopped = new Set(stops.map(({ reservation }) => reservation));
    for (const stop of stops) this.#evict(stop, signal);
    for (const reservation of cache.reserved()) {
      const { workload, record } = reservation;
      const queue = cache.queueing().queues.get(record.clusterQueue);
      if (stopped.has(reservation)) continue;
      const step = checkStep(record, workload.checks, queue?.checksTimeoutMs ?? 0, nowMs);
      if (step.kind === 'Ask') this.#ask(workload, record, step.checks, signal);
      else if (step.kind === 'Wait') nextMs = Math.min(nextMs, step.dueMs ?? Number.POSITIVE_INFINITY);
      else if (step.kind === 'GiveUp')
        this.#evict({ reservation, reason: EvictionReason.AdmissionCheck, message: step.why, event: JobEventReason.Evicted }, signal);
      else this.#releaseReserved(workload, record, signal);
    }
    this.#wakeAt('checks', Number.isFinite(nextMs) ? nextMs : undefined);
  }

  #releaseReserved(workload: Workload, record: AdmissionRecord, signal: AbortSignal): void {
    const { kind, records, clock, log, metrics } = this.#deps;
    const nowMs = clock.now();
    const released = releasedRecord(record, nowMs);
    const patch = admissionPatch(kind, workload, released, records.seal(workload, released, nowMs));
    this.#write(workload.key, patch, 'admitting a checked Job', signal, () => {
      const { clusterQueue, cluster, epoch } = released;
      metrics.admitted.inc({ cluster_queue: clusterQueue, cluster, kind: wordOfName(kind, workload.name) });
      metrics.waitTime.observe({ cluster_queue: clusterQueue }, Math.max(0, nowMs - workload.createdMs) / 1000);
      log.info('admitted, as its checks are ready', { job: workload.key, clusterQueue, cluster, epoch });
    });
  }

  /** The condition asks the check's controller; its answer to an earlier reservation does not count for this one. */
  #ask({ key, resourceVersion }: Workload, { since }: AdmissionRecord, checks: readonly string[], signal: AbortSignal): void {
    const { kind, client, clock } = this.#deps;
    const lastTransitionTime = toWireTime(Math.max(clock.now(), Date.parse(since) + 1000));
    const message = 'quota is reserved, and the Job waits for this check';
    const said = { status: 'Unknown', reason: CheckReason.Pending, message, lastProbeTime: lastTransitionTime, lastTransitionTime };
    const body = { metadata: { resourceVersion }, status: { conditions: checks.map((type) => ({ type, ...said })) } };
    const sent = (): Promise<WorkObject> => client.patchStatus(kind.resource, parseKey(key), { type: 'strategic', body }, WRITE);
    this.#send(key, sent, 'asking admission checks', signal, () => undefined);
  }

  /** Writes records with smaller requests. The quota is released when the informer shows these records. */
  #releaseDueParts(signal: AbortSignal): void {
    const { cache, clock, log } = this.#deps;
    const { due, againAfterMs } = this.#partialReleases.find(cache.mismatched(), cache.clusters(), clock.now());
    if (againAfterMs !== undefined) this.#wakeAfter(againAfterMs, signal);
    for (const { workload, record } of due)
      this.#write(workload.key, this.#recordPatch(workload, record), 'giving quota back', signal, () =>
        log.info('holds less', { job: workload.key, requests: record.requests }),
      );
  }
}

/** The consequences of a successful write. */
type Done = (answer: WorkObject) => unknown;
