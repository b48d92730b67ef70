import { QueueEvents, type ConnectionOptions, type Queue } from 'bullmq';
import type { SubmissionProgress } from '../api/submission-progress.ts';

/** How a BullMQ job ended, or that it is not there. */
export type Ending =
  | { readonly kind: 'Completed'; readonly value: unknown }
  | { readonly kind: 'Failed'; readonly reason: string }
  | { readonly kind: 'Removed' }
  | { readonly kind: 'NotFound' }
  /** The watcher was closed. */
  | { readonly kind: 'Closed' };

export type Watch = {
  readonly id: string;
  /** Epoch milliseconds: another job of this id is not meant. */
  readonly submittedAt?: number;
  readonly progress?: (progress: SubmissionProgress) => void;
  /** Once, when it ends; then the watch is over. */
  readonly ended: (ending: Ending) => void;
};

/** Tells of the ends of many jobs of one queue, and of their progress. */
export interface Watcher {
  /** Returns what ends the watch. */
  watch(watch: Watch): () => void;
  /** Why nothing could be looked up last; undefined when it could. */
  trouble(): unknown;
  close(): Promise<void>;
}

/** How soon what no event told is found out. */
const LOOK_UP_INTERVAL_MS = 5_000;
/** Of those that are watched, so many are looked up at a time, those first that were not for the longest. */
const LOOK_UP_COUNT = 1_000;
const FIELDS = ['timestamp', 'finishedOn', 'returnvalue', 'failedReason', 'progress'] as const;

/**
 * Hears of jobs by the queue's events, and looks up those that it still waits for: a stream of events may be cut while nobody reads it.
 * Connects with the first watch.
 */
export function createWatcher(queue: Queue, connection: ConnectionOptions, prefix: string): Watcher {
  return new QueueWatcher(queue, connection, prefix);
}

class QueueWatcher implements Watcher {
  readonly #queue: Queue;
  readonly #connection: ConnectionOptions;
  readonly #prefix: string;
  /** In the order in which they were looked up. */
  readonly #watched = new Map<string, Set<Watch>>();
  #events: QueueEvents | undefined;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Immediate | undefined;
  readonly #fresh = new Set<string>();
  #trouble: unknown;

  constructor(queue: Queue, connection: ConnectionOptions, prefix: string) {
    this.#queue = queue;
    this.#connection = connection;
    this.#prefix = prefix;
  }

  watch(watch: Watch): () => void {
    const watches = this.#watched.get(watch.id) ?? new Set();
    this.#watched.set(watch.id, watches.add(watch));
    this.#fresh.add(watch.id);
    this.#events ??= this.#listen();
    this.#timer ??= setInterval(() => void this.#lookUp(() => [...this.#watched.keys()].slice(0, LOOK_UP_COUNT)), LOOK_UP_INTERVAL_MS);
    this.#soon ??= setImmediate(() => this.#lookUpFresh());
    return () => this.#leave(watch);
  }

  #listen(): QueueEvents {
    const opened = new QueueEvents(this.#queue.name, { connection: this.#connection, prefix: this.#prefix });
    // It connects again by itself; until then there are the look-ups.
    opened.on('error', () => undefined);
    opened.on('completed', ({ jobId, returnvalue }) => this.#end(jobId, { kind: 'Completed', value: returnvalue }));
    opened.on('failed', ({ jobId, failedReason }) => this.#end(jobId, { kind: 'Failed', reason: failedReason }));
    opened.on('removed', ({ jobId }) => this.#end(jobId, { kind: 'Removed' }));
    opened.on('progress', ({ jobId, data }) => {
      for (const { progress } of this.#watched.get(jobId) ?? []) progress?.(data as SubmissionProgress);
    });
    // What ended before it listened has no event for it.
    void this.#lookUp(() => this.#watched.keys(), opened.waitUntilReady());
    return opened;
  }

  #end(id: string, ending: Ending, watches: Iterable<Watch> = this.#watched.get(id) ?? []): void {
    for (const watch of watches) {
      this.#leave(watch);
      watch.ended(ending);
    }
  }

  #leave(watch: Watch): void {
    const watches = this.#watched.get(watch.id);
    watches?.delete(watch);
    if (watches?.size === 0) this.#watched.delete(watch.id);
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Never rejects: what Redis does not tell now it tells at the next look-up. */
  async #lookUp(ids: () => Iterable<string>, ready?: Promise<unknown>): Promise<void> {
    try {
      await ready;
      const all = [...ids()];
      for (let start = 0; start < all.length; start += LOOK_UP_COUNT) await this.#lookUpSome(all.slice(start, start + LOOK_UP_COUNT));
      this.#trouble = undefined;
    } catch (error) {
      this.#trouble = error;
    }
  }

  async #lookUpSome(ids: readonly string[]): Promise<void> {
    const client = await this.#queue.getBackend().client;
    const answers = await Promise.all(ids.map((id) => client.hmget(this.#queue.toKey(id), ...FIELDS)));
    for (const [index, id] of ids.entries()) {
      const watches = this.#watched.get(id);
      if (watches === undefined) continue;
      this.#watched.delete(id); // It moves to the end.
      this.#watched.set(id, watches);
      const [timestamp = null, finishedOn = null, returnvalue = null, failedReason = null, progress = null] = answers[index] ?? [];
      const isMeant = ({ submittedAt }: Watch): boolean =>
        timestamp !== null && (submittedAt === undefined || submittedAt === Number(timestamp));
      this.#end(
        id,
        { kind: 'NotFound' },
        [...watches].filter((watch) => !isMeant(watch)),
      );
      if (progress !== null) for (const watch of this.#watched.get(id) ?? []) watch.progress?.(parsed(progress) as SubmissionProgress);
      if (finishedOn !== null)
        this.#end(id, failedReason === null ? { kind: 'Completed', value: parsed(returnvalue) } : { kind: 'Failed', reason: failedReason });
    }
  }

  /** Whoever waits for thousands asks for all of them at once. */
  #lookUpFresh(): void {
    this.#soon = undefined;
    const ids = [...this.#fresh];
    this.#fresh.clear();
    void this.#lookUp(() => ids);
  }

  trouble(): unknown {
    return this.#trouble;
  }

  async close(): Promise<void> {
    clearImmediate(this.#soon);
    for (const id of this.#watched.keys()) this.#end(id, { kind: 'Closed' });
    await this.#events?.close();
  }
}

/** As BullMQ reads it: a value that is no JSON is a text. */
export function parsed(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}
