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
  /** In the order in which they were looked up. */
  const watched = new Map<string, Set<Watch>>();
  let events: QueueEvents | undefined;
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Immediate | undefined;
  const fresh = new Set<string>();
  let trouble: unknown;

  function end(id: string, ending: Ending, watches: Iterable<Watch> = watched.get(id) ?? []): void {
    for (const watch of watches) {
      leave(watch);
      watch.ended(ending);
    }
  }

  function leave(watch: Watch): void {
    const watches = watched.get(watch.id);
    watches?.delete(watch);
    if (watches?.size === 0) watched.delete(watch.id);
    if (watched.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function listen(): QueueEvents {
    const opened = new QueueEvents(queue.name, { connection, prefix });
    // It connects again by itself; until then there are the look-ups.
    opened.on('error', () => undefined);
    opened.on('completed', ({ jobId, returnvalue }) => end(jobId, { kind: 'Completed', value: returnvalue }));
    opened.on('failed', ({ jobId, failedReason }) => end(jobId, { kind: 'Failed', reason: failedReason }));
    opened.on('removed', ({ jobId }) => end(jobId, { kind: 'Removed' }));
    opened.on('progress', ({ jobId, data }) => {
      for (const { progress } of watched.get(jobId) ?? []) progress?.(data as SubmissionProgress);
    });
    // What ended before it listened has no event for it.
    void lookUp(() => watched.keys(), opened.waitUntilReady());
    return opened;
  }

  /** Never rejects: what Redis does not tell now it tells at the next look-up. */
  async function lookUp(ids: () => Iterable<string>, ready?: Promise<unknown>): Promise<void> {
    try {
      await ready;
      const all = [...ids()];
      for (let start = 0; start < all.length; start += LOOK_UP_COUNT) await lookUpSome(all.slice(start, start + LOOK_UP_COUNT));
      trouble = undefined;
    } catch (error) {
      trouble = error;
    }
  }

  async function lookUpSome(ids: readonly string[]): Promise<void> {
    const client = await queue.getBackend().client;
    const answers = await Promise.all(ids.map((id) => client.hmget(queue.toKey(id), ...FIELDS)));
    for (const [index, id] of ids.entries()) {
      const watches = watched.get(id);
      if (watches === undefined) continue;
      watched.delete(id); // It moves to the end.
      watched.set(id, watches);
      const [timestamp = null, finishedOn = null, returnvalue = null, failedReason = null, progress = null] = answers[index] ?? [];
      const isMeant = ({ submittedAt }: Watch): boolean =>
        timestamp !== null && (submittedAt === undefined || submittedAt === Number(timestamp));
      end(
        id,
        { kind: 'NotFound' },
        [...watches].filter((watch) => !isMeant(watch)),
      );
      if (progress !== null) for (const watch of watched.get(id) ?? []) watch.progress?.(parsed(progress) as SubmissionProgress);
      if (finishedOn !== null)
        end(id, failedReason === null ? { kind: 'Completed', value: parsed(returnvalue) } : { kind: 'Failed', reason: failedReason });
    }
  }

  /** Whoever waits for thousands asks for all of them at once. */
  function lookUpFresh(): void {
    soon = undefined;
    const ids = [...fresh];
    fresh.clear();
    void lookUp(() => ids);
  }

  return {
    watch(watch) {
      const watches = watched.get(watch.id) ?? new Set();
      watched.set(watch.id, watches.add(watch));
      fresh.add(watch.id);
      events ??= listen();
      timer ??= setInterval(() => void lookUp(() => [...watched.keys()].slice(0, LOOK_UP_COUNT)), LOOK_UP_INTERVAL_MS);
      soon ??= setImmediate(lookUpFresh);
      return () => leave(watch);
    },
    trouble: () => trouble,
    async close() {
      clearImmediate(soon);
      for (const id of watched.keys()) end(id, { kind: 'Closed' });
      await events?.close();
    },
  };
}

/** As BullMQ reads it: a value that is no JSON is a text. */
export function parsed(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}
