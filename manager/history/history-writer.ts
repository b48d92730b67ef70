/**
 * Writes history in the background: Jobs when they end, and endings of pods before their copies are deleted. Entries are batched. Only a
 * copy whose log tails are still to be stored waits for the store, for a moment.
 */
import type { ConfigMap, DeepReadonly, Job, WorkObject } from '../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME } from '../../shared/api/names.ts';
import { isFinished } from '../../shared/kube/conditions.ts';
import type { EventHandler } from '../../shared/kube/informer.ts';
import { isForbidden } from '../../shared/kube/api-error.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import { createBackoff } from '../../shared/runtime/backoff.ts';
import { endsWithin, sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Random } from '../../shared/runtime/random.ts';
import { aborted } from '../../shared/runtime/tasks.ts';
import { sanitizedEndedPods } from '../api/last-failure.ts';
import type { NamespaceIdentities } from '../api/namespace-identities.ts';
import type { AdmissionRecord, RecordReader } from '../api/records.ts';
import type { HistoryMetrics } from './history-metrics.ts';
import { podsEntry, recordEntries, tailEntry, type History } from './history.ts';
import { historyRecord, type HistoryPods } from './history-record.ts';
import type { Entry } from './key-value-store.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

/** A copy that is about to be deleted. */
export type CopyEnding = {
  /** UID of the original, its cluster, and the number of the placement. */
  readonly originUid: string;
  readonly cluster: string;
  readonly epoch: number;
  readonly copy: DeepReadonly<WorkObject>;
  /** Reads the log tails of the copy; undefined where there are none. */
  readonly tails: () => Promise<ConfigMap | undefined>;
};

export interface HistoryWriter {
  readonly handler: EventHandler<Job>;
  /** Stores the known endings of a copy's pods. Resolves when they are stored, or after two seconds; never rejects. */
  keep(ending: CopyEnding): Promise<void>;
  /** Writes while this manager leads, until `signal` aborts; the rest of the queue is then still written, for a moment. */
  run(signal: AbortSignal): Promise<void>;
}

export type HistoryWriterDeps = {
  readonly kind: WorkKind;
  readonly history: History;
  readonly jobs: Lister<Job>;
  /** Synced before `run`. */
  readonly namespaces: Pick<NamespaceIdentities, 'of'>;
  readonly readRecord: RecordReader;
  readonly limits: { readonly ageMs: number; readonly bytesMax: number };
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: HistoryMetrics;
};

/** Timeout of a write to the store. */
const ANSWER_MS = 15_000;
/** The longest that a copy waits for the store. */
export const STORE_PATIENCE_MS = 2_000;
const GATHER_MS = 100;
const BATCH_MAX = 500;
/** Bound of the queue. Beyond it the oldest entry is dropped, and counted. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;
/** Bound of one compressed tail, which had at most 256 KiB before. */
const TAIL_BYTES_MAX = 300 * 1024;
const TAILS_BYTES_MAX = 1024 * 1024;
const KNOWN_MAX = 20_000;
const EXPIRE_EVERY_MS = 3_600_000;
const FORBIDDEN_TOLD_EVERY_MS = 10 * 60_000;

type Waiting = { readonly entries: readonly Entry[]; readonly bytes: number; readonly written: (() => void) | undefined };

export function createHistoryWriter(deps: HistoryWriterDeps): HistoryWriter {
  const { kind, history, jobs, namespaces, readRecord, limits, clock, random, log, metrics } = deps;
  const waiting: Waiting[] = [];
  let waitingBytes = 0;
  let wake = Promise.withResolvers<void>();
  let leading = false;
  /** The last write has failed: copies do not wait for the next. */
  let inTrouble = false;
  const known = new Set<string>();
  /** Copies whose endings are stored, by UID and version. */
  const kept = new Set<string>();
  const forbiddenSinceMs = new Map<string, number>();

  function enqueue(entries: readonly Entry[], written?: () => void): void {
    const bytes = entries.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
    waiting.push({ entries, bytes, written });
    waitingBytes += bytes;
    while (waitingBytes > WAITING_BYTES_MAX && waiting.length > 1) {
      const dropped = waiting.shift();
      waitingBytes -= dropped?.bytes ?? 0;
      dropped?.written?.();
      metrics.entries.inc({ result: 'dropped' }, dropped?.entries.length ?? 0);
    }
    wake.resolve();
  }

  function ended(job: DeepReadonly<Job>): void {
    const { uid } = job.metadata;
    if (!leading || kind.controllerOf(job) !== MANAGER_CONTROLLER_NAME || known.has(uid)) return;
    const record = recordOf(job);
    // A Job that was never admitted and is deleted has no history.
    if (!isFinished(job.status) && record === undefined) return;
    addBounded(known, uid);
    const namespace = namespaces.of(job.metadata.namespace);
    enqueue(recordEntries(historyRecord(job, record, { kind, namespace, nowMs: clock.now() })));
  }

  function recordOf(job: DeepReadonly<Job>): AdmissionRecord | undefined {
    const read = readRecord(job);
    return read.kind === 'Record' ? read.record : read.last;
  }

  const hasChanged = (job: DeepReadonly<Job>): void => {
    if (isFinished(job.status)) ended(job);
  };

  /** Throws when the store does, or on timeout, or when `signal` aborts. */
  async function writeBatch(signal?: AbortSignal): Promise<void> {
    const batch = waiting.slice(0, BATCH_MAX);
    const put = history.put(batch.flatMap(({ entries }) => entries));
    const answered = await endsWithin(clock, ANSWER_MS, signal === undefined ? put : Promise.race([put, aborted(signal)]));
    signal?.throwIfAborted();
    if (!answered) throw new Error(`the store has not answered within ${ANSWER_MS} ms`);
    // The oldest entries may have been dropped meanwhile.
    const written = new Set(batch);
    for (let k = waiting.length - 1; k >= 0; k--) {
      const each = waiting[k];
      if (each === undefined || !written.has(each)) continue;
      waiting.splice(k, 1);
      waitingBytes -= each.bytes;
    }
    for (const each of batch) {
      each.written?.();
      metrics.entries.inc({ result: 'written' }, each.entries.length);
    }
  }

  async function writeAll(signal: AbortSignal): Promise<void> {
    const backoff = createBackoff({ baseMs: 500, maxMs: 30_000, random });
    while (!signal.aborted) {
      if (waiting.length === 0) await untilWoken(signal);
      if (signal.aborted) return;
      // A waiting copy is written without a delay for batching.
      if (!waiting.some(({ written }) => written !== undefined)) await sleep(clock, GATHER_MS, signal);
      try {
        await writeBatch(signal);
        if (inTrouble) log.info('history is written again');
        inTrouble = false;
        backoff.reset();
      } catch (error) {
        if (signal.aborted) return;
        if (!inTrouble) log.warn('history cannot be written, it is kept in memory and tried again', { error });
        inTrouble = true;
        for (const { written } of waiting) written?.();
        await sleep(clock, backoff.nextDelayMs(), signal);
      }
    }
  }

  async function untilWoken(signal: AbortSignal): Promise<void> {
    wake = Promise.withResolvers();
    const woken = (): void => wake.resolve();
    signal.addEventListener('abort', woken, { once: true });
    await wake.promise;
    signal.removeEventListener('abort', woken);
  }

  async function expireAll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const gone = (await Promise.race([history.expire(clock.now(), limits), aborted(signal)])) ?? 0;
        if (gone > 0) log.info('history of Jobs has expired', { jobs: gone });
      } catch (error) {
        log.warn('history could not be looked through for what has expired', { error });
      }
      await sleep(clock, EXPIRE_EVERY_MS, signal);
    }
  }

  function reportUnreadable(cluster: string, { metadata }: DeepReadonly<WorkObject>, error: unknown): void {
    const nowMs = clock.monotonic();
    const fields = { cluster, namespace: metadata.namespace, copy: metadata.name, error };
    if (!isForbidden(error)) return log.info('the ends of logs of a copy cannot be read', fields);
    if (nowMs - (forbiddenSinceMs.get(cluster) ?? Number.NEGATIVE_INFINITY) < FORBIDDEN_TOLD_EVERY_MS) return;
    forbiddenSinceMs.set(cluster, nowMs);
    log.warn('the manager may not read the ends of logs on a cluster: the worker chart there gives the right (managerAccess.logs)', fields);
  }

  /** Entries of an earlier leader need not be written again. */
  async function remember(): Promise<void> {
    try {
      const latest = history.latest(KNOWN_MAX).then((uids) => {
        for (const uid of uids) known.add(uid);
      });
      if (!(await endsWithin(clock, ANSWER_MS, latest))) log.warn('what history there is cannot be read: the store does not answer');
    } catch (error) {
      log.warn('what history there is cannot be read', { error });
    }
  }

  return {
    handler: { added: hasChanged, updated: hasChanged, deleted: ended },
    async keep({ originUid, cluster, epoch, copy, tails }) {
      const pods = leading ? sanitizedEndedPods(copy) : [];
      const { uid: copyUid, resourceVersion } = copy.metadata;
      const version = `${copyUid}/${resourceVersion}`;
      if (pods.length === 0 || kept.has(version)) return;
      addBounded(kept, version);
      const told: HistoryPods = { cluster, epoch, copyUid, pods };
      const withTails = pods.filter(({ tail }) => tail === true).map(({ pod }) => pod);
      if (withTails.length === 0) return enqueue([podsEntry(originUid, told)]);
      let entries: readonly Entry[] = [];
      try {
        entries = tailEntries(originUid, copyUid, withTails, await tails());
      } catch (error) {
        reportUnreadable(cluster, copy, error);
      }
      const stored = Promise.withResolvers<void>();
      enqueue([podsEntry(originUid, told), ...entries], () => stored.resolve());
      if (!inTrouble && !(await endsWithin(clock, STORE_PATIENCE_MS, stored.promise))) inTrouble = true;
    },
    async run(signal) {
      await remember();
      leading = true;
      for (const job of jobs.list()) hasChanged(job);
      await Promise.all([writeAll(signal), expireAll(signal)]);
      leading = false;
      if (waiting.length > 0)
        await endsWithin(clock, STORE_PATIENCE_MS, writeBatch()).catch((error: unknown) =>
          log.warn('the last of history is lost', { error }),
        );
    },
  };
}

/** Takes no more than a worker writes, and only tails of the pods in the list: a worker cluster can return anything. */
function tailEntries(originUid: string, copyUid: string, pods: readonly string[], map: ConfigMap | undefined): readonly Entry[] {
  let left = TAILS_BYTES_MAX;
  return pods.flatMap((pod) => {
    const text: unknown = map?.binaryData?.[pod];
    if (typeof text !== 'string') return [];
    const gzip = Buffer.from(text, 'base64');
    if (gzip.length > Math.min(TAIL_BYTES_MAX, left)) return [];
    left -= gzip.length;
    return [tailEntry(originUid, copyUid, pod, gzip)];
  });
}

/** Drops the oldest value of a full set. */
function addBounded(set: Set<string>, value: string): void {
  if (set.size >= KNOWN_MAX) set.delete(set.values().next().value ?? '');
  set.add(value);
}
