import type { ConfigMap } from '../../shared/api/kubernetes.ts';
import { LEDGER_LABEL, MANAGER_FIELD_MANAGER } from '../../shared/api/names.ts';
import { CONFIG_MAPS } from '../../shared/api/resources.ts';
import { ApiError, isAlreadyExists, isConflict, isGone, isNotFound } from '../../shared/kube/api-error.ts';
import type { ReadClient, WriteClient } from '../../shared/kube/client.ts';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { aborted } from '../../shared/runtime/tasks.ts';
import type { LedgerMetrics } from './ledger-metrics.ts';
import type { LedgerEntry, Transition } from './ledger.ts';
import { LEDGER_LIMITS, LedgerBook, type LedgerLimits, type LedgerWrite } from './ledger-book.ts';
import { keyHash } from './ledger-hash.ts';

export type LedgerDeps = {
  readonly client: ReadClient & WriteClient;
  /** Where the ConfigMaps are: the manager's own namespace. */
  readonly namespace: string;
  /** Whether the Job of an entry is there: such an entry is kept however old it is. */
  readonly runs: (entry: LedgerEntry) => boolean;
  readonly limits?: LedgerLimits;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: LedgerMetrics;
};

/** What became of every submission, in ConfigMaps: whatever Redis forgets, a key has one Job for each attempt. For the leader alone. */
export interface SubmissionLedger {
  /** The part of one tenant, by its id. Empty before {@link loaded}. */
  of(tenant: string): TenantLedger;
  /** Resolves once all that was written is known, and when `signal` aborts. */
  loaded(signal: AbortSignal): Promise<void>;
  /** Reads what there is, then writes until `signal` aborts, and at last what is still unwritten. */
  run(signal: AbortSignal): Promise<void>;
}

export interface TenantLedger {
  get(key: string): LedgerEntry | undefined;
  /** Resolves when the entry is written. Rejects when that could not be done at first; it is tried again, and may have been done. */
  put(key: string, entry: LedgerEntry): Promise<void>;
  /** Whether what stands of this key is written. */
  isWritten(key: string): boolean;
  /** Resolves when what stands of this key is written, as {@link put}. */
  written(key: string): Promise<void>;
  /** What was found out elsewhere; written as a {@link mark}. */
  adopt(key: string, entry: LedgerEntry): void;
  /** Changes what stands of a key; written with what comes next, at latest after a second. */
  mark(key: string, transition: Transition): void;
}

/** Between two writes: what comes in between goes together. */
const WRITE_INTERVAL_MS = 50;
const MARK_DELAY_MS = 1_000;
const REVIEW_INTERVAL_MS = 60_000;
const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 10_000;
/** A chunk that changes under every write is of somebody who writes, too; that is tried later. */
const READ_BACKS_MAX = 5;
const PAGE = 20;

export function createSubmissionLedger(deps: LedgerDeps): SubmissionLedger {
  const { clock, log, metrics, runs } = deps;
  const tenants = new Map<string, TenantStore>();
  const load = Promise.withResolvers<void>();
  const of = (tenant: string): TenantStore => {
    const known = tenants.get(tenant);
    if (known !== undefined) return known;
    const store = new TenantStore(deps, tenant);
    tenants.set(tenant, store);
    return store;
  };
  const count = (): void => {
    const books = [...tenants.values()].map(({ book }) => book);
    metrics.entries.set(books.reduce((sum, book) => sum + book.size(), 0));
    metrics.chunks.set(books.reduce((sum, book) => sum + book.chunkCount(), 0));
    metrics.horizon.set(Math.min(...books.map((book) => book.horizonSeconds(clock.now())), (deps.limits ?? LEDGER_LIMITS).keptSeconds));
  };

  async function readAll(signal: AbortSignal): Promise<void> {
    for (let retryMs = RETRY_MIN_MS; !signal.aborted; retryMs = Math.min(RETRY_MAX_MS, 2 * retryMs)) {
      try {
        for await (const { metadata, data } of chunksIn(deps, signal)) {
          const [tenant, seq] = [metadata.labels?.[LEDGER_LABEL] ?? '', seqOf(metadata.name)];
          if (seq !== undefined) of(tenant).book.found(seq, metadata.resourceVersion, data ?? {});
        }
        return;
      } catch (error) {
        if (!signal.aborted) log.warn('the ledger of submissions could not be read yet; submissions wait', { error });
        await sleep(clock, retryMs, signal);
      }
    }
  }

  return {
    of,
    loaded: (signal) => Promise.race([load.promise, aborted(signal)]),
    async run(signal) {
      await readAll(signal);
      if (signal.aborted) return;
      load.resolve();
      while (!signal.aborted) {
        for (const tenant of tenants.values()) {
          // The next review finds what this one has not.
          await tenant.review(runs).catch((error: unknown) => log.warn('old parts of the ledger could not be deleted yet', { error }));
        }
        count();
        await sleep(clock, REVIEW_INTERVAL_MS, signal);
      }
      await Promise.all([...tenants.values()].map((tenant) => tenant.end()));
    },
  };
}

async function* chunksIn({ client, namespace }: LedgerDeps, signal: AbortSignal): AsyncIterable<ConfigMap> {
  let continueToken: string | undefined;
  do {
    const more: { readonly continueToken?: string } = continueToken === undefined ? {} : { continueToken };
    let page;
    try {
      page = await client.list(CONFIG_MAPS, { namespace, labelSelector: LEDGER_LABEL, limit: PAGE, signal, ...more });
    } catch (error) {
      if (!isGone(error) || continueToken === undefined) throw error;
      // The list is too old to be gone on with. What was read is read again.
      continueToken = undefined;
      continue;
    }
    yield* page.items;
    continueToken = page.continueToken === '' ? undefined : page.continueToken;
    if (continueToken === undefined) return;
  } while (!signal.aborted);
}

const nameOf = (tenant: string, seq: number): string => `switchyard-ledger-${tenant}-${seq}`;
function seqOf(name: string): number | undefined {
  const [, digits] = /-(\d{1,12})$/.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

type Waiting = { readonly hash: string; readonly done: () => void; readonly failed: (error: unknown) => void };

/** Writes one thing at a time: what comes meanwhile waits and goes together. */
class TenantStore implements TenantLedger {
  readonly book: LedgerBook;
  readonly #deps: LedgerDeps;
  readonly #tenant: string;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  /** When the next write is to begin. */
  #due: { readonly atMs: number; readonly cancel: () => void } | undefined;
  #lastWriteMs = -Infinity;
  #retryMs = 0;
  #ended = false;

  constructor(deps: LedgerDeps, tenant: string) {
    this.#deps = deps;
    this.#tenant = tenant;
    this.book = new LedgerBook(deps.limits);
  }

  get(key: string): LedgerEntry | undefined {
    return this.book.get(keyHash(key));
  }

  put(key: string, entry: LedgerEntry): Promise<void> {
    this.book.put(keyHash(key), entry);
    return this.written(key);
  }

  isWritten(key: string): boolean {
    return !this.book.isDirty(keyHash(key));
  }

  written(key: string): Promise<void> {
    const hash = keyHash(key);
    if (!this.book.isDirty(hash)) return Promise.resolve();
    if (this.#ended) return Promise.reject(new Error('the ledger of submissions is closed: this manager ends'));
    return new Promise((done, failed) => {
      this.#waiting.push({ hash, done, failed });
      this.#writeWithin(0);
    });
  }

  adopt(key: string, entry: LedgerEntry): void {
    this.book.put(keyHash(key), entry);
    this.#writeWithin(MARK_DELAY_MS);
  }

  mark(key: string, transition: Transition): void {
    const hash = keyHash(key);
    const entry = this.book.get(hash);
    const next = entry && transition(entry);
    if (next === undefined) return;
    this.book.put(hash, next);
    this.#writeWithin(MARK_DELAY_MS);
  }

  /** Deletes what is old. */
  async review(runs: LedgerDeps['runs']): Promise<void> {
    const { client, namespace, clock } = this.#deps;
    const gone = this.book.review(clock.now(), runs);
    this.#writeWithin(MARK_DELAY_MS);
    for (const seq of gone) {
      try {
        await client.delete(CONFIG_MAPS, { namespace, name: nameOf(this.#tenant, seq) });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      this.book.dropped(seq);
    }
  }

  /** The last write of this process. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#due?.cancel();
    await this.#writing;
    this.#retryMs = 0;
    while (this.book.isUnwritten() && this.#retryMs === 0) await this.#write();
  }

  #writeWithin(delayMs: number): void {
    if (this.#ended || this.#writing !== undefined || !this.book.isUnwritten()) return;
    const { clock } = this.#deps;
    const now = clock.monotonic();
    const atMs = Math.max(now + delayMs, this.#lastWriteMs + Math.max(WRITE_INTERVAL_MS, this.#retryMs));
    if (this.#due !== undefined && this.#due.atMs <= atMs) return;
    this.#due?.cancel();
    if (atMs <= now) return this.#begin();
    const timer = clock.schedule(() => this.#begin(), atMs - now);
    this.#due = { atMs, cancel: () => timer.cancel() };
  }

  #begin(): void {
    this.#due = undefined;
    this.#writing = this.#write().then(() => {
      this.#writing = undefined;
      this.#writeWithin(this.#waiting.length > 0 ? 0 : MARK_DELAY_MS);
    });
  }

  /** Never rejects: whoever waits hears. */
  async #write(): Promise<void> {
    const { clock, log, metrics } = this.#deps;
    this.#lastWriteMs = clock.monotonic();
    const waiting = this.#waiting;
    try {
      for (let tries = 0; !(await this.#carryOut(this.book.nextWrite(), tries < READ_BACKS_MAX)); ) tries++;
      this.#retryMs = 0;
    } catch (error) {
      this.#retryMs = Math.min(RETRY_MAX_MS, Math.max(RETRY_MIN_MS, 2 * this.#retryMs));
      log.warn('the ledger of submissions could not be written yet', { tenant: this.#tenant, error });
      this.#waiting = this.#waiting.filter((each) => !waiting.includes(each));
      for (const { failed } of waiting) failed(new Error('write the ledger of submissions', { cause: error }));
    }
    metrics.writes.inc();
    const written = this.#waiting.filter(({ hash }) => !this.book.isDirty(hash));
    this.#waiting = this.#waiting.filter(({ hash }) => this.book.isDirty(hash));
    for (const { done } of written) done();
  }

  /**
   * False when the chunk is not as it was thought to be: it was looked at, and what is still to be written is to be asked for anew. Each
   * write is for one version of its chunk, so that one whose answer was lost cannot be carried out after another was: it then either
   * stands, and is found, or never will.
   */
  async #carryOut(write: LedgerWrite | undefined, mayLook: boolean): Promise<boolean> {
    if (write === undefined) return true;
    const { client, namespace } = this.#deps;
    const { seq, version, data } = write;
    const name = nameOf(this.#tenant, seq);
    const options = { fieldManager: MANAGER_FIELD_MANAGER };
    try {
      const metadata = { name, namespace, labels: { [LEDGER_LABEL]: this.#tenant } };
      const written =
        version === undefined
          ? await client.create(CONFIG_MAPS, { metadata, data }, options)
          : await client.patch(
              CONFIG_MAPS,
              { namespace, name },
              { type: 'merge', body: { metadata: { resourceVersion: version }, data } },
              options,
            );
      this.book.wrote(write, written.metadata.resourceVersion);
      return true;
    } catch (error) {
      if (!mayLook) throw error;
      if (isTooLarge(error)) this.book.close(seq);
      else if (isConflict(error) || isAlreadyExists(error)) await this.#look(seq);
      else if (isNotFound(error) && version !== undefined) this.book.lost(seq);
      else throw error;
      return false;
    }
  }

  async #look(seq: number): Promise<void> {
    const { client, namespace } = this.#deps;
    try {
      const { metadata, data } = await client.get(CONFIG_MAPS, { namespace, name: nameOf(this.#tenant, seq) });
      this.book.found(seq, metadata.resourceVersion, data ?? {});
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.book.lost(seq);
    }
  }
}

/** Of the request, of what etcd takes, or of what a ConfigMap may be. */
const isTooLarge = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.code === 413 || (error.code === 422 && /Too long/i.test(error.message)) || /too large/i.test(error.message));
