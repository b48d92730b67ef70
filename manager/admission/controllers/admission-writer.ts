import type { Job } from '../../../shared/api/kubernetes.ts';
import {
  ADMISSION_ANNOTATION,
  COPIES_FINALIZER,
  HOLD_ANNOTATION,
  MANAGER_FIELD_MANAGER,
  TRACE_ID_ANNOTATION,
} from '../../../shared/api/names.ts';
import { isSampled, jobTrace } from '../../../shared/api/job-trace.ts';
import { JOBS } from '../../../shared/api/resources.ts';
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
import { sanitizeText } from '../../api/sanitize-text.ts';
import type { AdmissionMetrics } from './admission-metrics.ts';
import type { AdmissionCache } from '../cache/admission-cache.ts';
import { clusterLabel } from './cluster-label.ts';
import type { Reservation } from '../workload/reservation.ts';
import { retryDelayMs, type AdmissionRetries } from '../snapshot/admission-retries.ts';
import type { JobWatcher } from './job-watcher.ts';
import type { InadmissibleReason } from '../snapshot/snapshot.ts';
import { waitingConditions } from './waiting-reporter.ts';
import type { Workload } from '../workload/workload.ts';

/**
 * Writes the records of assumed admissions. Only requests under way occupy a slot: an admission that the API server did not store waits for its
 * next try outside, so that those that fail for good keep nobody else waiting.
 */
export interface AdmissionWriter {
  /** Whether there is a slot for another write. */
  hasRoom(): boolean;
  /** Whether the Workload may be assumed and written now; if not, it is tried again a little later. */
  mayTry(key: string): boolean;
  /** Writes the record of an assumed admission. */
  write(reservation: Reservation, signal: AbortSignal): void;
  /** Tries again what is due, as far as there are slots for it, and has itself called when more is. */
  retryDue(signal: AbortSignal): void;
  /** Once stopped: resolves when no write is under way. */
  idle(): Promise<void>;
}

export type AdmissionWriterDeps = {
  readonly client: WriteClient & StatusClient;
  readonly events: EventRecorder;
  readonly jobs: Lister<Job>;
  readonly cache: AdmissionCache;
  readonly retries: AdmissionRetries;
  readonly watcher: Pick<JobWatcher, 'giveUp' | 'doubt' | 'retry'>;
  readonly records: RecordKeeper;
  /** Of all Jobs, so many are traced; absent: none. */
  readonly traceRatio?: number;
  /** There may be room, or something due. */
  readonly wake: () => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: AdmissionMetrics;
};

/** Writes under way at once. */
const WRITES_MAX = 64;
/** Of these, such as have failed before: they may be slow to fail, and leave the others most of the slots. */
const RETRIES_MAX = 8;
/** From this failure on in a row, the Job is told, and does without its quota where that is safe. */
const TOLD_FROM = 3;
const WRITE = { fieldManager: MANAGER_FIELD_MANAGER };

export function createAdmissionWriter(deps: AdmissionWriterDeps): AdmissionWriter {
  const { client, events, jobs, cache, retries, watcher, records, traceRatio, wake, clock, log, metrics } = deps;
  const writes = new Set<Promise<void>>();
  const retrying = new Set<Promise<void>>();
  /** Every try of an admission is the very same request. */
  const requests = new WeakMap<Reservation, Patch>();
  let timer: Timer | undefined;

  /** Of which trace the Job's way is exported. */
  const traceOf = (key: string): string | undefined => {
    const job = traceRatio === undefined ? undefined : jobs.get(parseKey(key));
    return job !== undefined && traceRatio !== undefined && isSampled(job, traceRatio) ? jobTrace(job).traceId : undefined;
  };

  const mayRetry = (): boolean => retrying.size < RETRIES_MAX && writes.size < WRITES_MAX;

  const send = (reservation: Reservation, patch: Patch, signal: AbortSignal): void => {
    const { key } = reservation.workload;
    const write = store(reservation, patch, signal)
      .catch((error: unknown) => log.error('an admission write broke', { job: key, error }))
      .finally(() => {
        writes.delete(write);
        retrying.delete(write);
        wake();
      });
    writes.add(write);
    if (retries.failuresOf(key) > 0) retrying.add(write);
  };

  /**
   * Sends the record. A conflict needs nothing done: the Job has changed, and its newer version comes through the informer. Where nobody answered,
   * the server is away: the same request is sent again from its slot, because more requests would be of no use.
   */
  const store = async (reservation: Reservation, patch: Patch, signal: AbortSignal): Promise<void> => {
    const { key } = reservation.workload;
    for (let silences = 1; cache.get(key) === reservation && !signal.aborted; silences++) {
      try {
        records.read(await client.patch(JOBS, parseKey(key), patch, WRITE));
        return stored(reservation);
      } catch (error) {
        metrics.conflicts.inc({ reason: error instanceof ApiError ? error.reason : 'Unknown' });
        if (isConflict(error) || isNotFound(error)) return;
        if (error instanceof ApiError) return await failed(reservation, error);
        log.warn('an admission got no answer and is sent again', { job: key, error });
        await sleep(clock, retryDelayMs(silences), signal);
      }
    }
  };

  const stored = ({ workload, record }: Reservation): void => {
    retries.forget(workload.key);
    const { clusterQueue, cluster, epoch, checks } = record;
    if (checks !== undefined) return log.info('reserved', { job: workload.key, clusterQueue, cluster, checks });
    metrics.admitted.inc({ cluster_queue: clusterQueue, cluster });
    metrics.waitTime.observe({ cluster_queue: clusterQueue }, Math.max(0, clock.now() - workload.createdMs) / 1000);
    log.info('admitted', { job: workload.key, clusterQueue, cluster, epoch });
  };

  /**
   * A refusal was not carried out, so the Workload is no longer assumed. Any other failure may have been: the Workload stays assumed, with all it
   * holds, until the same request, a conflict or the informer tells.
   */
  const failed = async (reservation: Reservation, error: ApiError): Promise<void> => {
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
    if (failures < TOLD_FROM) return;
    watcher.doubt(reservation, reason);
    if (await tell(reservation, reason, failures === TOLD_FROM)) watcher.giveUp(reservation, reason);
  };

  /**
   * Tells the Job, on the version that the admission was decided on. True when that was done: the admission has then not been carried
   * out, and never will be, because it is conditional on that same version.
   */
  const tell = async ({ workload }: Reservation, reason: InadmissibleReason, hasChanged: boolean): Promise<boolean> => {
    const { key, resourceVersion } = workload;
    const job = jobs.get(parseKey(key));
    if (job?.metadata.resourceVersion !== resourceVersion) return false;
    if (hasChanged) events.event(JOBS, job, 'Warning', JobEventReason.AdmissionRefused, reason.message);
    const conditions = waitingConditions(job, reason, clock.now());
    if (conditions === undefined) return false;
    try {
      const body = { metadata: { resourceVersion }, status: { conditions } };
      await client.patchStatus(JOBS, parseKey(key), { type: 'strategic', body }, WRITE);
      return true;
    } catch (error) {
      log.warn('a Job could not be told that its admission fails', { job: key, error });
      return false;
    }
  };

  return {
    hasRoom: () => writes.size < WRITES_MAX,
    mayTry: (key) => {
      if (retries.failuresOf(key) === 0 || mayRetry()) return true;
      retries.postpone(key, clock.now());
      return false;
    },
    write: (reservation, signal) => {
      const { workload, record } = reservation;
      const patch = admissionPatch(workload, record, records.seal(workload, record, clock.now()), traceOf(workload.key));
      requests.set(reservation, patch);
      send(reservation, patch, signal);
    },
    retryDue: (signal) => {
      while (mayRetry()) {
        const key = retries.takeDue(clock.now());
        if (key === undefined) break;
        const reservation = cache.get(key);
        const patch = reservation && requests.get(reservation);
        if (reservation !== undefined && patch !== undefined) send(reservation, patch, signal);
        else watcher.retry(key);
      }
      timer?.cancel();
      // What is due already waits for a slot, and whoever leaves one wakes.
      const nextMs = retries.nextMs();
      timer = nextMs === undefined || nextMs <= clock.now() ? undefined : clock.schedule(wake, nextMs - clock.now());
    },
    idle: async () => {
      timer?.cancel();
      await Promise.all(writes);
    },
  };
}

/** Record, hold and, unless checks are awaited, release in one write, conditional on the version that was decided on. */
export const admissionPatch = (
  { resourceVersion, finalizers, hold }: Workload,
  { cluster, checks }: AdmissionRecord,
  sealed: string,
  traceId?: string,
): Patch => ({
  type: 'merge',
  body: {
    metadata: {
      resourceVersion,
      labels: clusterLabel(cluster),
      // A Job that is suspended later is held then, whatever was said of an earlier time.
      annotations: {
        [ADMISSION_ANNOTATION]: sealed,
        ...omitUndefined({ [TRACE_ID_ANNOTATION]: traceId }),
        ...(hold === undefined ? {} : { [HOLD_ANNOTATION]: null }),
      },
      finalizers: [...finalizers.filter((each) => each !== COPIES_FINALIZER), COPIES_FINALIZER],
    },
    ...(checks === undefined ? { spec: { suspend: false } } : {}),
  },
});

/** The API server has looked at the write and will not have it. */
const isRefusal = (error: ApiError): boolean => error.code < 500 && !isTooManyRequests(error);
