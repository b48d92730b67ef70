import type { Clock } from '../runtime/clock.ts';

export type RateLimit = { readonly baseDelayMs: number; readonly maxDelayMs: number };

export type WorkqueueOptions = {
  /** Value of the `name` label of the workqueue metrics. */
  readonly name: string;
  readonly clock: Clock;
  /** Per-key exponential delay of addRateLimited: `min(base * 2^failures, max)`. */
  readonly rateLimit: RateLimit;
  /** Observes the queue; see workqueue-metrics.ts. */
  readonly metrics?: WorkqueueMetrics;
};

export interface WorkqueueMetrics {
  added(depth: number): void;
  got(depth: number, queuedMs: number): void;
  done(workMs: number): void;
  retried(): void;
}

/**
 * client-go's workqueue over string keys: fair (first in, first out), stingy (a key waits once however often it is
 * added; added while being processed, it waits again when processing is done), many producers and consumers,
 * never the same key twice at a time.
 */
export interface Workqueue {
  add(key: string): void;
  /** Adds the key after a delay; of several pending delays of one key the earliest counts. At most 0: at once. */
  addAfter(key: string, delayMs: number): void;
  /** Adds the key after its own exponential delay and counts one more failure. */
  addRateLimited(key: string): void;
  /** Resets the key's failure count. */
  forget(key: string): void;
  numRequeues(key: string): number;
  /** Waits for a key; undefined once the queue is shut down and drained. The caller must call `done`. */
  get(): Promise<string | undefined>;
  done(key: string): void;
  length(): number;
  /** Refuses new keys and lets `get` return what is left, then undefined. */
  shutDown(): void;
  /** shutDown, then resolves when every key handed out is done. */
  drain(): Promise<void>;
}

export declare function createWorkqueue(options: WorkqueueOptions): Workqueue;
