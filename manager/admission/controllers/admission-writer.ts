import type { WorkObject } from '../../../shared/api/kubernetes.ts';
import {
  ADMISSION_ANNOTATION,
  COPIES_FINALIZER,
  HOLD_ANNOTATION,
  MANAGER_FIELD_MANAGER,
  TRACE_ID_ANNOTATION,
} from '../../../shared/api/names.ts';
import { isSampled, jobTrace } from '../../../shared/api/job-trace.ts';
import { ApiError, isConflict, isNotFound, isTooManyRequests } from '../../../shared/kube/api-error.ts';
import type { Patch, StatusClient, WriteClient } from '../../../shared/kube/client.ts';
import type { EventRecorder } from '../../../shared/kube/event-recorder.ts';
import type { Lister } from '../../../shared/kube/indexer.ts';
import { parseKey } from '../../../shared/kube/keys.ts';
import { sleep, type Clock, type Timer } from '../../../shared/runtime/clock.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { JobEventReason, QuotaReservedReason } from '../../api/reasons.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import type { RecordKeeper } from '../../api/record-keeper.ts';
import { shortOfChange } from '../../api/short-of.ts';
import { sanitizeText } from '../../api/sanitize-text.ts';
import type { AdmissionMetrics } from './admission-metrics.ts';
import type { AdmissionCache } from '../cache/admission-cache.ts';
import { clusterLabel } from './cluster-label.ts';
import type { Reservation } from '../workload/reservation.ts';
import { retryDelayMs, type AdmissionRetries } from '../snapshot/admission-retries.ts';
import { wordOfName } from '../../work-kind/qualified-name.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import type { JobWatcher } from './job-watcher.ts';
import type { InadmissibleReason } from '../snapshot/snapshot.ts';
import { waitingConditions, waitingPatch } from './waiting-reporter.ts';
import type { Workload } from '../workload/workload.ts';

/**
 * Writes the records of assumed admissions. Only requests in flight occupy a slot: a failed admission waits outside for its retry, so that
 * permanent failures do not delay others.
 */
export interface AdmissionWriter {
  /** Whether a slot is free. */
  hasRoom(): boolean;
  /** Whether the Workload may be assumed and written now; if not, its retry is postponed. */
  mayTry(key: string): boolean;
  /** Writes the record of an assumed admission. */
  write(reservation: Reservation, signal: AbortSignal): void;
  /** Retries what is due, as far as slots are free, and calls `wake` when more is due. */
  retryDue(signal: AbortSignal): void;
  /** After `signal` aborts: resolves when no write is in flight. */
  idle(): Promise<void>;
}

export type AdmissionWriterDeps = {
  readonly kind: WorkKind;
  readonly client: WriteClient & StatusClient;
  readonly events: EventRecorder;
  readonly jobs: Lister<WorkObject>;
  readonly cache: AdmissionCache;
  readonly retries: AdmissionRetries;
  readonly watcher: Pick<JobWatcher, 'giveUp' | 'doubt' | 'retry'>;
  readonly records: RecordKeeper;
  /** The fraction of Jobs that are traced; absent: none. */
  readonly traceRatio?: number;
  /** Called when a slot may be free or a retry due. */
  readonly wake: () => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: AdmissionMetrics;
};

/** Writes in flight at most. */
const WRITES_MAX = 64;
/** Retries in flight at most: failures may be slow, and most slots stay for first attempts. */
const RETRIES_MAX = 8;
/** From this many consecutive failures on, the Job's condition says so and its quota is released if that is safe. */
const REPORTED_FROM = 3;
const WRITE = { fieldManager: MANAGER_FIELD_MANAGER };

export function createAdmissionWriter(deps: AdmissionWriterDeps): AdmissionWriter {
  return new RecordWriter(deps);
}

class RecordWriter implements AdmissionWriter {
  readonly #deps: AdmissionWriterDeps;
  readonly #writes = new Set<Promise<void>>();
  readonly #retrying = new Set<Promise<void>>();
  /** All attempts of an admission send the same request. */
  readonly #requests = new WeakMap<Reservation, Patch>();
  #timer: Timer | undefined;

  constructor(deps: AdmissionWriterDeps) {
    this.#deps = deps;
  }

  hasRoom(): boolean {
    return this.#writes.size < WRITES_MAX;
  }

  mayTry(key: string): boolean {
    const { retries, clock } = this.#deps;
    if (retries.failuresOf(key) === 0 || this.#mayRetry()) return true;
    retries.postpone(key, clock.now());
    return false;
  }

  write(reservation: Reservation, signal: AbortSignal): void {
    const { kind, records, clock } = this.#deps;
    const { workload, record } = reservation;
    const annotations = this.#annotationsWith(workload.key);
    const patch = admissionPatch(kind, workload, record, records.seal(workload, record, clock.now()), annotations);
    this.#requests.set(reservation, patch);
    this.#send(reservation, patch, signal);
  }

  retryDue(signal: AbortSignal): void {
    const { cache, retries, watcher, wake, clock } = this.#deps;
    while (this.#mayRetry()) {
      const key = retries.takeDue(clock.now());
      if (key === undefined) break;
      const reservation = cache.get(key);
      const patch = reservation && this.#requests.get(reservation);
      if (reservation !== undefined && patch !== undefined) this.#send(reservation, patch, signal);
      else watcher.retry(key);
    }
    this.#timer?.cancel();
    // A retry that is due already waits for a slot; each freed slot calls `wake`.
    const nextMs = retries.nextMs();
    this.#timer = nextMs === undefined || nextMs <= clock.now() ? undefined : clock.schedule(wake, nextMs - clock.now());
  }

  async idle(): Promise<void> {
    this.#timer?.cancel();
    await Promise.all(this.#writes);
  }

  #mayRetry(): boolean {
    return this.#retrying.size < RETRIES_MAX && this.#writes.size < WRITES_MAX;
  }

  /** The ID of the trace that is exported for a Job, and that the Job is short of nothing any more. */
  #annotationsWith(key: string): Readonly<Record<string, string | null>> {
    const { jobs, traceRatio } = this.#deps;
    const job = jobs.get(parseKey(key));
    if (job === undefined) return {};
    const traceId = traceRatio !== undefined && isSampled(job, traceRatio) ? jobTrace(job).traceId : undefined;
    return { ...omitUndefined({ [TRACE_ID_ANNOTATION]: traceId }), ...shortOfChange(job.metadata).annotations };
  }

  #send(reservation: Reservation, patch: Patch, signal: AbortSignal): void {
    const { retries, wake, log } = this.#deps;
    const { key } = reservation.workload;
    const write = this.#store(reservation, patch, signal)
      .catch((error: unknown) => log.error('an admission write broke', { job: key, error }))
      .finally(() => {
        this.#writes.delete(write);
        this.#retrying.delete(write);
        wake();
      });
    this.#writes.add(write);
    if (retries.failuresOf(key) > 0) this.#retrying.add(write);
  }

  /**
   * Sends the record. A conflict needs no action: the Job has changed, and the informer brings its newer version. Without an answer the API
   * server is down: the same request is sent again from its slot, because more requests would not help.
   */
  async #store(reservation: Reservation, patch: Patch, signal: AbortSignal): Promise<void> {
    const { kind, client, cache, records, clock, log, metrics } = this.#deps;
    const { key } = reservation.workload;
    for (let unanswered = 1; cache.get(key) === reservation && !signal.aborted; unanswered++) {
      try {
        records.read(await client.patch(kind.resource, parseKey(key), patch, WRITE));
        return this.#stored(reservation);
      } catch (error) {
        metrics.conflicts.inc({ reason: error instanceof ApiError ? error.reason : 'Unknown' });
        if (isConflict(error) || isNotFound(error)) return;
        if (error instanceof ApiError) return await this.#failed(reservation, error);
        log.warn('an admission got no answer and is sent again', { job: key, error });
        await sleep(clock, retryDelayMs(unanswered), signal);
      }
    }
  }

  #stored({ workload, record }: Reservation): void {
    const { kind, retries, clock, log, metrics } = this.#deps;
    retries.forget(workload.key);
    const { clusterQueue, cluster, epoch, checks } = record;
    if (checks !== undefined) return log.info('reserved', { job: workload.key, clusterQueue, cluster, checks });
    metrics.admitted.inc({ cluster_queue: clusterQueue, cluster, kind: wordOfName(kind, workload.name) });
    metrics.waitTime.observe({ cluster_queue: clusterQueue }, Math.max(0, clock.now() - workload.createdMs) / 1000);
    log.info('admitted', { job: workload.key, clusterQueue, cluster, epoch });
  }

  /**
   * A refused write was not carried out, so the Workload is no longer assumed. After any other failure it stays assumed and keeps its quota
   * until the same request, a conflict or the informer gives certainty.
   */
  async #failed(reservation: Reservation, error: ApiError): Promise<void> {
    const { cache, retries, watcher, clock, log } = this.#deps;
    const { key } = reservation.workload;
    if (cache.get(key) !== reservation) return;
    const refused = isRefusal(error);
    const failures = retries.failuresOf(key) + 1;
    const words = sanitizeText(error.message);
    const message = refused ? words : `the API server has failed to store its admission ${failures} times: ${words}`;
    const reason = { reason: QuotaReservedReason.AdmissionRefused, message };
    retries.failed(key, clock.now(), reason);
    log.warn(refused ? 'the API server refused an admission' : 'an admission failed', { job: key, failures, error });
    if (refused) return watcher.giveUp(reservation, reason);
    if (failures < REPORTED_FROM) return;
    watcher.doubt(reservation, reason);
    if (await this.#reportFailure(reservation, reason, failures === REPORTED_FROM)) watcher.giveUp(reservation, reason);
  }

  /**
   * Writes the condition to the Job version on which the admission was decided. True if that succeeded: then the admission was not carried
   * out and never will be, because it is conditional on that version.
   */
  async #reportFailure({ workload }: Reservation, reason: InadmissibleReason, hasChanged: boolean): Promise<boolean> {
    const { kind, client, events, jobs, clock, log } = this.#deps;
    const { key, resourceVersion } = workload;
    const job = jobs.get(parseKey(key));
    if (job?.metadata.resourceVersion !== resourceVersion) return false;
    if (hasChanged) events.event(kind.resource, job, 'Warning', JobEventReason.AdmissionRefused, reason.message);
    const conditions = waitingConditions(kind, job, reason, clock.now());
    if (conditions === undefined) return false;
    try {
      await client.patchStatus(kind.resource, parseKey(key), waitingPatch(job, conditions, reason), WRITE);
      return true;
    } catch (error) {
      log.warn('a Job could not be told that its admission fails', { job: key, error });
      return false;
    }
  }
}

/**
 * Record, finalizer and, unless admission checks are awaited, release in one write, conditional on the version on which the admission was
 * decided.
 */
export const admissionPatch = (
  kind: WorkKind,
  { name, resourceVersion, finalizers, hold }: Workload,
  { cluster, checks }: AdmissionRecord,
  sealed: string,
  annotations: Readonly<Record<string, string | null>> = {},
): Patch => ({
  type: 'merge',
  body: {
    metadata: {
      resourceVersion,
      labels: clusterLabel(cluster),
      // An admission clears the hold annotation, so that a later suspension holds the Job.
      annotations: {
        [ADMISSION_ANNOTATION]: sealed,
        ...annotations,
        ...(hold === undefined ? {} : { [HOLD_ANNOTATION]: null }),
      },
      finalizers: [...finalizers.filter((each) => each !== COPIES_FINALIZER), COPIES_FINALIZER],
    },
    ...(checks === undefined ? { spec: kind.of(name).suspension(false) } : {}),
  },
});

/** The API server has rejected the write. */
const isRefusal = (error: ApiError): boolean => error.code < 500 && !isTooManyRequests(error);
