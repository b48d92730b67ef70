import { ADMISSION_ANNOTATION, MANAGER_FIELD_MANAGER } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { isConflict, isNotFound } from '../../shared/kube/api-error.ts';
import type { Patch, WriteClient } from '../../shared/kube/client.ts';
import { parseKey } from '../../shared/kube/keys.ts';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { onAbort } from '../../shared/runtime/tasks.ts';
import type { RecordKeeper } from '../api/record-keeper.ts';
import type { AdmissionMetrics } from '../metrics.ts';
import type { AdmissionCache, Reservation } from './admission-cache.ts';
import { findEvictions, type Eviction } from './evictions.ts';
import { loweredRecord, LOWERING_DELAY_MS } from './lowering.ts';

export type CorrectorDeps = {
  readonly client: WriteClient;
  readonly cache: AdmissionCache;
  readonly records: RecordKeeper;
  /** Has {@link Corrector.correct} called again. */
  readonly wake: () => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: AdmissionMetrics;
};

/** Puts right what Jobs hold or do that they should not: the writes of admission that admit nobody. */
export interface Corrector {
  /** Starts the writes that are needed now, each once. */
  correct(signal: AbortSignal): void;
  /** Resolves when no write is under way. */
  idle(): Promise<void>;
}

const RETRY_MS = 500;

export function createCorrector({ client, cache, records, wake, clock, log, metrics }: CorrectorDeps): Corrector {
  const writes = new Map<string, Promise<void>>();
  /** Since when a Job could hold less than it does. */
  const lowerableSinceMs = new Map<string, number>();

  /**
   * One write; what it decided on may be out of date, and it may fail. The pass that follows looks again, so nothing is lost by that.
   */
  const write = (key: string, patch: Patch, what: string, signal: AbortSignal, done: () => void): void => {
    if (writes.has(key)) return;
    const attempt = async (): Promise<void> => {
      try {
        records.read(await client.patch(JOBS, parseKey(key), patch, { fieldManager: MANAGER_FIELD_MANAGER }));
        done();
      } catch (error) {
        if (isNotFound(error)) return;
        if (!isConflict(error)) log.warn(`${what} failed`, { job: key, error });
        await sleep(clock, RETRY_MS, signal);
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

  /** Suspends the Job. It keeps its record, so that its copy is suspended in place and may resume there. */
  const evict = ({ reservation: { workload, record }, reason, message }: Eviction, signal: AbortSignal): void => {
    const body = { metadata: { resourceVersion: workload.resourceVersion }, spec: { suspend: true } };
    write(workload.key, { type: 'merge', body }, 'an eviction', signal, () => {
      metrics.evicted.inc({ cluster_queue: record.clusterQueue, reason });
      log.info('evicted', { job: workload.key, clusterQueue: record.clusterQueue, reason, why: message });
    });
  };

  /** Writes a record that holds less. What it held before is given back when the informer shows that record. */
  const lower = ({ workload }: Reservation, record: Reservation['record'], signal: AbortSignal): void => {
    const annotations = { [ADMISSION_ANNOTATION]: records.seal(workload, record, clock.now()) };
    const body = { metadata: { resourceVersion: workload.resourceVersion, annotations } };
    write(workload.key, { type: 'merge', body }, 'giving quota back', signal, () =>
      log.info('holds less', { job: workload.key, requests: record.requests }),
    );
  };

  const lowerWhatIsDue = (signal: AbortSignal): void => {
    const nowMs = clock.now();
    const candidates = [...cache.mismatched()].flatMap((reservation) => {
      const record = loweredRecord(reservation, cache.clusters());
      return record === undefined ? [] : [{ reservation, record }];
    });
    const keys = new Set(candidates.map(({ reservation }) => reservation.workload.key));
    for (const key of lowerableSinceMs.keys()) if (!keys.has(key)) lowerableSinceMs.delete(key);
    for (const { reservation, record } of candidates) {
      const { key } = reservation.workload;
      const sinceMs = lowerableSinceMs.get(key);
      if (sinceMs === undefined) {
        lowerableSinceMs.set(key, nowMs);
        const timer = clock.schedule(wake, LOWERING_DELAY_MS);
        onAbort(signal, () => timer.cancel());
      } else if (nowMs - sinceMs >= LOWERING_DELAY_MS) lower(reservation, record, signal);
    }
  };

  return {
    correct: (signal) => {
      const evictions = findEvictions(cache.reservations(), cache.mismatched(), cache.queueing(), cache.clusters());
      for (const eviction of evictions) evict(eviction, signal);
      lowerWhatIsDue(signal);
    },
    idle: async () => void (await Promise.all(writes.values())),
  };
}
