import { ADMISSION_ANNOTATION, COPIES_FINALIZER, MANAGER_FIELD_MANAGER } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { ApiError, isConflict, isNotFound, isTooManyRequests } from '../../shared/kube/api-error.ts';
import type { WriteClient } from '../../shared/kube/client.ts';
import { parseKey } from '../../shared/kube/keys.ts';
import { sleep, type Clock, type Timer } from '../../shared/runtime/clock.ts';
import { given } from '../../shared/runtime/given.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { createWakeUp } from '../../shared/runtime/wake-up.ts';
import { QuotaReservedReason } from '../api/reasons.ts';
import type { RecordKeeper } from '../api/record-keeper.ts';
import type { AdmissionMetrics } from '../metrics.ts';
import type { AdmissionCache, Reservation } from './admission-cache.ts';
import type { Corrector } from './corrector.ts';
import type { JobWatcher } from './job-watcher.ts';
import type { PendingQueues } from './pending-queues.ts';
import { schedule, type Decision, type Head } from './schedule.ts';
import type { Workload } from './workload.ts';

export type SchedulerDeps = {
  readonly client: WriteClient;
  readonly cache: AdmissionCache;
  readonly queues: PendingQueues;
  readonly watcher: JobWatcher;
  readonly records: RecordKeeper;
  readonly corrector: Corrector;
  /** Brings cache and queues up to date with changed queues and clusters. */
  readonly refresh: () => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: AdmissionMetrics;
};

/** Runs scheduling cycles whenever something has changed, and writes what they decide. */
export interface Scheduler {
  /** Something has changed. Many calls lead to one pass. */
  wake(): void;
  /** Admits until `signal` aborts, then resolves when no write is under way. */
  run(signal: AbortSignal): Promise<void>;
}

/** Writes under way at once; the next cycle waits for room. */
const WRITES_MAX = 64;
/** Heads tried without a pause, after which informers and answers get their turn. */
const HEADS_MAX = 2_000;
const RETRY_BASE_MS = 500;
const RETRY_MAX_MS = 60_000;

export function createScheduler(deps: SchedulerDeps): Scheduler {
  const { cache, queues, watcher, records, corrector, clock, log, metrics } = deps;
  const writes = new Map<string, Promise<void>>();
  const refusals = new Map<string, number>();
  const timers = new Set<Timer>();
  const changes = createWakeUp(clock);

  /** Cycle after cycle, until nobody is left to try. */
  const pass = async (signal: AbortSignal): Promise<void> => {
    deps.refresh();
    corrector.correct(signal);
    let tried = 0;
    while (!signal.aborted && writes.size < WRITES_MAX) {
      const heads = queues.heads();
      if (heads.length === 0 || !cycle(heads, signal)) return;
      tried += heads.length;
      if (tried < HEADS_MAX) continue;
      tried = 0;
      await sleep(clock, 0, signal);
    }
  };

  /** One cycle; false when it changed nothing. */
  const cycle = (heads: readonly Head[], signal: AbortSignal): boolean => {
    const startedMs = clock.now();
    const decisions = schedule(cache.snapshot(), heads, startedMs);
    let admitted = 0;
    let inadmissible = 0;
    for (const decision of decisions) {
      if (decision.kind === 'Admit') {
        startAdmission(decision, signal);
        admitted++;
      } else if (decision.kind === 'Inadmissible') {
        const { head, reason, message, waitsFor, retryAtMs } = decision;
        const retry = queues.markInadmissible(head, { reason, message, waitsFor, ...given({ retryAtMs }) });
        if (retry !== undefined && retryAtMs !== undefined) at(retryAtMs, retry);
        inadmissible++;
      }
    }
    const result = admitted > 0 ? 'success' : 'inadmissible';
    metrics.attempts.inc({ result });
    metrics.attemptDuration.observe({ result }, (clock.now() - startedMs) / 1000);
    return admitted + inadmissible > 0;
  };

  /** Has a group tried again when its time has come. */
  const at = (timeMs: number, retry: () => void): void => {
    const timer = clock.schedule(() => {
      timers.delete(timer);
      retry();
      changes.wake();
    }, timeMs - clock.now());
    timers.add(timer);
  };

  const startAdmission = ({ head, record }: Extract<Decision, { kind: 'Admit' }>, signal: AbortSignal): void => {
    const { workload } = head.queued;
    queues.delete(workload.key);
    cache.assume(workload, record);
    const reservation = cache.get(workload.key);
    if (reservation !== undefined) track(workload.key, admit(reservation, signal));
  };

  const track = (key: string, write: Promise<void>): void => {
    writes.set(
      key,
      write
        .catch((error: unknown) => log.error('an admission write broke', { job: key, error }))
        .finally(() => {
          writes.delete(key);
          changes.wake();
        }),
    );
  };

  /**
   * Writes the record. A conflict needs nothing done: the Job has changed, and its newer version comes through the informer. Where no answer
   * came, the write may have happened, so the Workload stays assumed and the same conditional write is sent again.
   */
  const admit = async (reservation: Reservation, signal: AbortSignal): Promise<void> => {
    const { workload, record } = reservation;
    const patch = admissionPatch(workload, records.seal(workload, record, clock.now()));
    for (let attempt = 0; cache.get(workload.key) === reservation && !signal.aborted; attempt++) {
      try {
        records.read(await deps.client.patch(JOBS, parseKey(workload.key), patch, WRITE));
        return admitted(reservation);
      } catch (error) {
        metrics.conflicts.inc({ reason: error instanceof ApiError ? error.reason : 'Unknown' });
        if (isConflict(error) || isNotFound(error)) return;
        if (isRefusal(error)) return refused(reservation, error);
        log.warn('an admission got no answer and is sent again', { job: workload.key, error });
        await sleep(clock, retryDelayMs(attempt), signal);
      }
    }
  };

  const admitted = ({ workload, record }: Reservation): void => {
    refusals.delete(workload.key);
    const { clusterQueue, cluster, epoch } = record;
    metrics.admitted.inc({ cluster_queue: clusterQueue, cluster });
    metrics.waitTime.observe({ cluster_queue: clusterQueue }, Math.max(0, clock.now() - workload.createdMs) / 1000);
    log.info('admitted', { job: workload.key, clusterQueue, cluster, epoch });
  };

  const refused = (reservation: Reservation, error: ApiError): void => {
    const { key } = reservation.workload;
    const failures = refusals.get(key) ?? 0;
    refusals.set(key, failures + 1);
    log.warn('the API server refused an admission', { job: key, error });
    watcher.giveUp(reservation, { reason: QuotaReservedReason.AdmissionRefused, message: error.message });
    clock.schedule(() => watcher.retry(key), retryDelayMs(failures));
  };

  return {
    wake: changes.wake,
    run: async (signal) => {
      await changes.run(async () => {
        const startedMs = clock.now();
        await pass(signal);
        // The longer a pass takes, the more changes the next one gathers: under load half of the time stays for everybody else.
        await sleep(clock, clock.now() - startedMs, signal);
      }, signal);
      for (const timer of timers) timer.cancel();
      await Promise.all([...writes.values(), corrector.idle()]);
    },
  };
}

const WRITE = { fieldManager: MANAGER_FIELD_MANAGER };

/** Record, hold and release in one write, conditional on the version that was decided on. */
const admissionPatch = ({ resourceVersion, finalizers }: Workload, record: string) => ({
  type: 'merge' as const,
  body: {
    metadata: {
      resourceVersion,
      annotations: { [ADMISSION_ANNOTATION]: record },
      finalizers: [...finalizers.filter((each) => each !== COPIES_FINALIZER), COPIES_FINALIZER],
    },
    spec: { suspend: false },
  },
});

/** The API server has looked at the write and will not have it. */
const isRefusal = (error: unknown): error is ApiError => error instanceof ApiError && error.code < 500 && !isTooManyRequests(error);

const retryDelayMs = (attempt: number): number => Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** attempt);
