import type { Clock } from '../runtime/clock.ts';
import { IndexedHeap } from './indexed-heap.ts';

export type RateLimit = { readonly baseDelayMs: number; readonly maxDelayMs: number };

export type WorkqueueOptions = {
  /** Value of the `name` label of the workqueue metrics. */
  readonly name: string;
  readonly clock: Clock;
  /** Per-key exponential delay of addRateLimited: `min(base * 2^failures, max)`. */
  readonly rateLimit: RateLimit;
  /**
   * The lane that a key waits in, from 0 on; default: one lane for all. Each lane has its own order and its own consumers, so that keys of
   * one do not wait for those of another. Asked each time the key begins to wait.
   */
  readonly laneOf?: (key: string) => number;
  /** Observes the queue; see workqueue-metrics.ts. */
  readonly metrics?: WorkqueueMetrics | undefined;
};

export interface WorkqueueMetrics {
  /** `depth` counts the keys that wait, those included that wait for their own processing to end. */
  added(depth: number): void;
  /** `startedAtMs` is the instant at which processing began; `done` repeats it. */
  got(depth: number, queuedMs: number, startedAtMs: number): void;
  done(workMs: number, startedAtMs: number): void;
  retried(): void;
}

/**
 * client-go's workqueue over string keys: fair (first in, first out), stingy (a key waits once however often it is
 * added; added while being processed, it waits again when processing is done), many producers and consumers,
 * never the same key twice at a time.
 */
export interface Workqueue {
  add(key: string): void;
  /**
   * Adds keys of which there may be thousands, all for one reason. They wait behind keys that are added one by one, also later, of which
   * at most {@link AHEAD_OF_BULK} in a row go first.
   */
  addInBulk(keys: Iterable<string>): void;
  /**
   * Adds the key after a delay; of several pending delays of one key the earliest counts. At most 0: at once. Where more than
   * {@link DUE_TOGETHER_MAX} keys are due together, they are added in bulk.
   */
  addAfter(key: string, delayMs: number): void;
  /** Adds the key after its own exponential delay and counts one more failure. */
  addRateLimited(key: string): void;
  /** Resets the key's failure count. */
  forget(key: string): void;
  numRequeues(key: string): number;
  /** Waits for a key of a lane (default 0); undefined once the queue is shut down and drained. The caller must call `done`. */
  get(lane?: number): Promise<string | undefined>;
  done(key: string): void;
  length(): number;
  /** Refuses new keys and lets `get` return what is left, then undefined. */
  shutDown(): void;
  isShutDown(): boolean;
}

/** Keys added one by one go first so often in a row: those added in bulk come along under a load that never ends. */
const AHEAD_OF_BULK = 8;
/** Delays that end together may have one reason, and be thousands. */
const DUE_TOGETHER_MAX = 16;

type DelayedKey = { readonly key: string; readonly dueMs: number };

/** A queue as described by {@link Workqueue}. */
export function createWorkqueue(options: WorkqueueOptions): Workqueue {
  return new KeyedWorkqueue(options);
}

class KeyedWorkqueue implements Workqueue {
  readonly #clock: Clock;
  readonly #rateLimit: RateLimit;
  readonly #metrics: WorkqueueMetrics | undefined;
  /** Keys that wait, with the time of their arrival. */
  readonly #waiting = new Map<string, number>();
  readonly #laneOf: (key: string) => number;
  readonly #lanes: Lane[] = [];
  /** Keys handed out and not done, with the time they were handed out. */
  readonly #processing = new Map<string, number>();
  /** Keys added while being processed, with the time of that; they wait again when processing is done. */
  readonly #readded = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  readonly #delayed: DelayedKeys;
  #shutDown = false;

  constructor(options: WorkqueueOptions) {
    this.#clock = options.clock;
    this.#rateLimit = options.rateLimit;
    this.#metrics = options.metrics;
    this.#laneOf = options.laneOf ?? (() => 0);
    this.#delayed = new DelayedKeys(options.clock, (keys) => {
      if (keys.length > DUE_TOGETHER_MAX) this.addInBulk(keys);
      else for (const key of keys) this.add(key);
    });
  }

  add(key: string): void {
    if (this.#shutDown) return;
    if (this.#processing.has(key)) {
      if (this.#readded.has(key)) return;
      this.#readded.set(key, this.#clock.now());
      this.#metrics?.added(this.#depth());
      return;
    }
    if (this.#waiting.has(key)) return this.#lane(this.#laneOf(key)).prefer(key);
    this.#enqueue(key, this.#clock.now());
    this.#metrics?.added(this.#depth());
    this.#serveGetters();
  }

  addInBulk(keys: Iterable<string>): void {
    if (this.#shutDown) return;
    const nowMs = this.#clock.now();
    for (const key of keys) {
      if (this.#waiting.has(key)) continue;
      if (this.#processing.has(key)) {
        this.add(key);
        continue;
      }
      this.#waiting.set(key, nowMs);
      this.#lane(this.#laneOf(key)).pushBulk(key);
      this.#metrics?.added(this.#depth());
    }
    this.#serveGetters();
  }

  addAfter(key: string, delayMs: number): void {
    if (this.#shutDown) return;
    this.#metrics?.retried();
    if (delayMs <= 0) this.add(key);
    else this.#delayed.add(key, this.#clock.now() + delayMs);
  }

  addRateLimited(key: string): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.addAfter(key, Math.min(this.#rateLimit.baseDelayMs * 2 ** failures, this.#rateLimit.maxDelayMs));
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }

  numRequeues(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  get(lane = 0): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.#lane(lane).getters.push(resolve);
      this.#serveGetters();
    });
  }

  done(key: string): void {
    const startedMs = this.#processing.get(key);
    if (startedMs === undefined) return;
    this.#processing.delete(key);
    this.#metrics?.done(this.#clock.now() - startedMs, startedMs);
    const readdedMs = this.#readded.get(key);
    if (readdedMs !== undefined) {
      this.#readded.delete(key);
      this.#enqueue(key, readdedMs);
    }
    this.#serveGetters();
  }

  length(): number {
    return this.#waiting.size;
  }

  isShutDown(): boolean {
    return this.#shutDown;
  }

  shutDown(): void {
    this.#shutDown = true;
    this.#delayed.clear();
    this.#serveGetters();
  }

  #depth(): number {
    return this.#waiting.size + this.#readded.size;
  }

  #enqueue(key: string, sinceMs: number): void {
    this.#waiting.set(key, sinceMs);
    this.#lane(this.#laneOf(key)).push(key);
  }

  #lane(index: number): Lane {
    return (this.#lanes[index] ??= new Lane());
  }

  #serveGetters(): void {
    for (const lane of this.#lanes) if (lane !== undefined) this.#serveLane(lane);
    // Nothing waits. A key still being processed may come back (it was added meanwhile), so getters stay until it is done.
    if (this.#shutDown && this.#waiting.size === 0 && this.#readded.size === 0) {
      for (const lane of this.#lanes) for (const resolve of lane?.getters.splice(0) ?? []) resolve(undefined);
    }
  }

  #serveLane(lane: Lane): void {
    while (lane.getters.length > 0) {
      const key = lane.shift();
      if (key === undefined) break;
      const nowMs = this.#clock.now();
      const sinceMs = this.#waiting.get(key) ?? nowMs;
      this.#waiting.delete(key);
      this.#processing.set(key, nowMs);
      this.#metrics?.got(this.#depth(), nowMs - sinceMs, nowMs);
      lane.getters.shift()?.(key);
    }
  }
}

/** Keys in order of their arrival, those added in bulk apart, and those who wait for one. */
class Lane {
  readonly getters: ((key: string | undefined) => void)[] = [];
  readonly #single = new Fifo();
  readonly #bulk = new Fifo();
  /** Keys of `#bulk` that still wait there: the others were added again, one by one. */
  readonly #inBulk = new Set<string>();
  /** Keys in a row that were not of `#bulk`. */
  #ahead = 0;

  push(key: string): void {
    this.#single.push(key);
  }

  pushBulk(key: string): void {
    this.#inBulk.add(key);
    this.#bulk.push(key);
  }

  /** A key that waits was added again, by itself. */
  prefer(key: string): void {
    if (this.#inBulk.delete(key)) this.push(key);
  }

  shift(): string | undefined {
    return this.#ahead < AHEAD_OF_BULK ? (this.#shiftSingle() ?? this.#shiftBulk()) : (this.#shiftBulk() ?? this.#shiftSingle());
  }

  #shiftSingle(): string | undefined {
    const key = this.#single.shift();
    if (key !== undefined) this.#ahead++;
    return key;
  }

  #shiftBulk(): string | undefined {
    for (let key = this.#bulk.shift(); key !== undefined; key = this.#bulk.shift()) {
      if (!this.#inBulk.delete(key)) continue;
      this.#ahead = 0;
      return key;
    }
    return undefined;
  }
}

class Fifo {
  /** From `#head` on. (The first key of a long Map is slow to find after many deletions.) */
  #order: string[] = [];
  #head = 0;

  push(key: string): void {
    this.#order.push(key);
  }

  shift(): string | undefined {
    const key = this.#order[this.#head];
    if (key === undefined) return undefined;
    this.#head++;
    if (this.#head >= 1024 && this.#head * 2 > this.#order.length) {
      this.#order = this.#order.slice(this.#head);
      this.#head = 0;
    }
    return key;
  }
}

/** Keys that wait for a point in time: a heap by due time, one timer for the earliest. */
class DelayedKeys {
  readonly #clock: Clock;
  readonly #release: (keys: readonly string[]) => void;
  readonly #heap = new IndexedHeap<DelayedKey>(
    ({ key }) => key,
    (a, b) => a.dueMs - b.dueMs,
  );
  #timer: { readonly dueMs: number; cancel(): void } | undefined;

  constructor(clock: Clock, release: (keys: readonly string[]) => void) {
    this.#clock = clock;
    this.#release = release;
  }

  add(key: string, dueMs: number): void {
    const known = this.#heap.get(key);
    if (known !== undefined && known.dueMs <= dueMs) return;
    this.#heap.set({ key, dueMs });
    this.#arm();
  }

  clear(): void {
    this.#heap.clear();
    this.#arm();
  }

  #arm(): void {
    const dueMs = this.#heap.peek()?.dueMs;
    if (this.#timer?.dueMs === dueMs) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (dueMs === undefined) return;
    const timer = this.#clock.schedule(() => this.#fire(), dueMs - this.#clock.now());
    this.#timer = { dueMs, cancel: () => timer.cancel() };
  }

  #fire(): void {
    this.#timer = undefined;
    // A system timer may fire a fraction of a millisecond early; whatever is not due yet is armed again.
    const nowMs = this.#clock.now();
    const due: string[] = [];
    for (let first = this.#heap.peek(); first !== undefined && first.dueMs <= nowMs; first = this.#heap.peek()) {
      this.#heap.delete(first.key);
      due.push(first.key);
    }
    this.#release(due);
    this.#arm();
  }
}
