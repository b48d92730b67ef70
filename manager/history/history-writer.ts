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
import type { RecordReader } from '../api/records.ts';
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
  return new BackgroundWriter(deps);
}

class BackgroundWriter implements HistoryWriter {
  readonly handler: EventHandler<Job> = {
    added: (job) => this.#changed(job),
    updated: (job) => this.#changed(job),
    deleted: (job) => this.#ended(job),
  };
  readonly #deps: HistoryWriterDeps;
  readonly #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #wake = Promise.withResolvers<void>();
  #leading = false;
  /** The last write has failed: copies do not wait for the next. */
  #inTrouble = false;
  readonly #known = new Set<string>();
  /** Copies whose endings are stored, by UID and version. */
  readonly #kept = new Set<string>();
  readonly #forbiddenSinceMs = new Map<string, number>();

  constructor(deps: HistoryWriterDeps) {
    this.#deps = deps;
  }

  async keep({ originUid, cluster, epoch, copy, tails }: CopyEnding): Promise<void> {
    const pods = this.#leading ? sanitizedEndedPods(copy) : [];
    const { uid: copyUid, resourceVersion } = copy.metadata;
    const version = `${copyUid}/${resourceVersion}`;
    if (pods.length === 0 || this.#kept.has(version)) return;
    addBounded(this.#kept, version);
    const told: HistoryPods = { cluster, epoch, copyUid, pods };
    const withTails = pods.filter(({ tail }) => tail === true).map(({ pod }) => pod);
    if (withTails.length === 0) return this.#enqueue([podsEntry(originUid, told)]);
    let entries: readonly Entry[] = [];
    try {
      entries = tailEntries(originUid, copyUid, withTails, await tails());
    } catch (error) {
      this.#reportUnreadable(cluster, copy, error);
    }
    const stored = Promise.withResolvers<void>();
    this.#enqueue([podsEntry(originUid, told), ...entries], () => stored.resolve());
    if (!this.#inTrouble && !(await endsWithin(this.#deps.clock, STORE_PATIENCE_MS, stored.promise))) this.#inTrouble = true;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { jobs, clock, log } = this.#deps;
    await this.#remember();
    this.#leading = true;
    for (const job of jobs.list()) this.#changed(job);
    await Promise.all([this.#writeAll(signal), this.#expireAll(signal)]);
    this.#leading = false;
    if (this.#waiting.length > 0)
      await endsWithin(clock, STORE_PATIENCE_MS, this.#writeBatch()).catch((error: unknown) =>
        log.warn('the last of history is lost', { error }),
      );
  }

  #changed(job: DeepReadonly<Job>): void {
    if (isFinished(job.status)) this.#ended(job);
  }

  #ended(job: DeepReadonly<Job>): void {
    const { kind, namespaces, readRecord, clock } = this.#deps;
    const { uid } = job.metadata;
    if (!this.#leading || kind.controllerOf(job) !== MANAGER_CONTROLLER_NAME || this.#known.has(uid)) return;
    const read = readRecord(job);
    const record = read.kind === 'Record' ? read.record : read.last;
    // A Job that was never admitted and is deleted has no history.
    if (!isFinished(job.status) && record === undefined) return;
    addBounded(this.#known, uid);
    const namespace = namespaces.of(job.metadata.namespace);
    this.#enqueue(recordEntries(historyRecord(job, record, { kind, namespace, nowMs: clock.now() })));
  }

  #enqueue(entries: readonly Entry[], written?: () => void): void {
    const bytes = entries.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
    this.#waiting.push({ entries, bytes, written });
    this.#waitingBytes += bytes;
    while (this.#waitingBytes > WAITING_BYTES_MAX && this.#waiting.length > 1) {
      const dropped = this.#waiting.shift();
      this.#waitingBytes -= dropped?.bytes ?? 0;
      dropped?.written?.();
      this.#deps.metrics.entries.inc({ result: 'dropped' }, dropped?.entries.length ?? 0);
    }
    this.#wake.resolve();
  }

  async #writeAll(signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#deps;
    const backoff = createBackoff({ baseMs: 500, maxMs: 30_000, random });
    while (!signal.aborted) {
      if (this.#waiting.length === 0) await this.#untilWoken(signal);
      if (signal.aborted) return;
      // A waiting copy is written without a delay for batching.
      if (!this.#waiting.some(({ written }) => written !== undefined)) await sleep(clock, GATHER_MS, signal);
      try {
        await this.#writeBatch(signal);
        if (this.#inTrouble) log.info('history is written again');
        this.#inTrouble = false;
        backoff.reset();
      } catch (error) {
        if (signal.aborted) return;
        if (!this.#inTrouble) log.warn('history cannot be written, it is kept in memory and tried again', { error });
        this.#inTrouble = true;
        for (const { written } of this.#waiting) written?.();
        await sleep(clock, backoff.nextDelayMs(), signal);
      }
    }
  }

  async #untilWoken(signal: AbortSignal): Promise<void> {
    this.#wake = Promise.withResolvers();
    const woken = (): void => this.#wake.resolve();
    signal.addEventListener('abort', woken, { once: true });
    await this.#wake.promise;
    signal.removeEventListener('abort', woken);
  }

  /** Throws when the store does, or on timeout, or when `signal` aborts. */
  async #writeBatch(signal?: AbortSignal): Promise<void> {
    const { history, clock, metrics } = this.#deps;
    const batch = this.#waiting.slice(0, BATCH_MAX);
    const put = history.put(batch.flatMap(({ entries }) => entries));
    const answered = await endsWithin(clock, ANSWER_MS, signal === undefined ? put : Promise.race([put, aborted(signal)]));
    signal?.throwIfAborted();
    if (!answered) throw new Error(`the store has not answered within ${ANSWER_MS} ms`);
    // The oldest entries may have been dropped meanwhile.
    const written = new Set(batch);
    for (let k = this.#waiting.length - 1; k >= 0; k--) {
      const each = this.#waiting[k];
      if (each === undefined || !written.has(each)) continue;
      this.#waiting.splice(k, 1);
      this.#waitingBytes -= each.bytes;
    }
    for (const each of batch) {
      each.written?.();
      metrics.entries.inc({ result: 'written' }, each.entries.length);
    }
  }

  async #expireAll(signal: AbortSignal): Promise<void> {
    const { history, limits, clock, log } = this.#deps;
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

  /** Entries of an earlier leader need not be written again. */
  async #remember(): Promise<void> {
    const { history, clock, log } = this.#deps;
    try {
      const latest = history.latest(KNOWN_MAX).then((uids) => {
        for (const uid of uids) this.#known.add(uid);
      });
      if (!(await endsWithin(clock, ANSWER_MS, latest))) log.warn('what history there is cannot be read: the store does not answer');
    } catch (error) {
      log.warn('what history there is cannot be read', { error });
    }
  }

  #reportUnreadable(cluster: string, { metadata }: DeepReadonly<WorkObject>, error: unknown): void {
    const { clock, log } = this.#deps;
    const nowMs = clock.monotonic();
    const fields = { cluster, namespace: metadata.namespace, copy: metadata.name, error };
    if (!isForbidden(error)) return log.info('the ends of logs of a copy cannot be read', fields);
    if (nowMs - (this.#forbiddenSinceMs.get(cluster) ?? Number.NEGATIVE_INFINITY) < FORBIDDEN_TOLD_EVERY_MS) return;
    this.#forbiddenSinceMs.set(cluster, nowMs);
    log.warn('the manager may not read the ends of logs on a cluster: the worker chart there gives the right (managerAccess.logs)', fields);
  }
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
