import type { Clock, Timer } from '../../shared/runtime/clock.ts';

type Pending = { readonly dueMs: number; readonly order: number; readonly callback: () => void; cancelled: boolean };

/**
 * A clock that stands still until told to move. Timers run in the order of their due time, then of their making;
 * after each, everything that became ready (promises, and callbacks of setImmediate) runs before the next.
 */
export class FakeClock implements Clock {
  /** The time of day is the time that has passed, and this. */
  #startMs: number;
  #passedMs = 0;
  /** In which timers stood still. */
  #sleptMs = 0;
  #order = 0;
  #waiting = 0;
  /** A binary heap; cancelled timers stay in it until they come to the top. */
  readonly #heap: Pending[] = [];

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#startMs = startMs;
  }

  now(): number {
    return this.#startMs + this.#passedMs + this.#sleptMs;
  }

  monotonic(): number {
    return this.#passedMs + this.#sleptMs;
  }

  /** The machine sleeps for `ms`: time passes, and timers are late by that. */
  sleepMachine(ms: number): void {
    this.#sleptMs += ms;
  }

  /** Sets the time of day forward, or back, by `ms`. No time passes by that: timers and `monotonic` do not notice. */
  stepTimeOfDay(ms: number): void {
    this.#startMs += ms;
  }

  schedule(callback: () => void, delayMs: number): Timer {
    const timer = { dueMs: this.#passedMs + Math.max(0, delayMs), order: this.#order++, callback, cancelled: false };
    push(this.#heap, timer);
    this.#waiting++;
    return {
      cancel: () => {
        if (timer.cancelled) return;
        timer.cancelled = true;
        this.#waiting--;
      },
    };
  }

  /** Moves time forward by `ms` and runs every timer that falls due, those made on the way included. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#passedMs + ms;
    await settle();
    for (let next = this.#earliest(); next !== undefined && next.dueMs <= endMs; next = this.#earliest()) await this.#fire(next);
    this.#passedMs = endMs;
  }

  /**
   * Moves time forward by `ms` in which the program did nothing, as when its machine is paused: timers that fell due run at the end of it,
   * all in one turn of the event loop, before anything that arrived meanwhile is read.
   */
  stall(ms: number): void {
    this.#passedMs += ms;
    const endMs = this.#passedMs;
    for (let next = this.#earliest(); next !== undefined && next.dueMs <= endMs; next = this.#earliest()) this.#run(next);
  }

  /** Runs what is ready and due now, without moving time. */
  settle(): Promise<void> {
    return this.advance(0);
  }

  /** Moves time from timer to timer until none is left. Throws when that takes longer than `limitMs`. */
  async runUntilIdle(limitMs = 3_600_000): Promise<void> {
    const endMs = this.#passedMs + limitMs;
    await settle();
    for (let next = this.#earliest(); next !== undefined; next = this.#earliest()) {
      if (next.dueMs > endMs) throw new Error(`timers are still pending after ${limitMs} ms`);
      await this.#fire(next);
    }
  }

  /** How many timers are waiting. */
  pendingTimers(): number {
    return this.#waiting;
  }

  async #fire(timer: Pending): Promise<void> {
    this.#passedMs = timer.dueMs;
    this.#run(timer);
    await settle();
  }

  #run(timer: Pending): void {
    pop(this.#heap);
    // One that has fired can no longer be cancelled.
    timer.cancelled = true;
    this.#waiting--;
    timer.callback();
  }

  #earliest(): Pending | undefined {
    while (this.#heap[0]?.cancelled === true) pop(this.#heap);
    return this.#heap[0];
  }
}

/** Turns of the event loop until nobody asks for another: promises, what they set off with setImmediate, and the promises of that. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < TURNS_MAX; turns++) {
    await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
    if (!process.getActiveResourcesInfo().includes('Immediate')) return;
  }
}
/** Time would never pass for a program that asks for turns for ever. */
const TURNS_MAX = 1_000;

const isBefore = (a: Pending, b: Pending): boolean => a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);

function push(heap: Pending[], timer: Pending): void {
  let position = heap.length;
  heap.push(timer);
  while (position > 0) {
    const above = (position - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || !isBefore(timer, parent)) break;
    heap[position] = parent;
    position = above;
  }
  heap[position] = timer;
}

function pop(heap: Pending[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let position = 0;
  for (;;) {
    const left = heap[2 * position + 1];
    if (left === undefined) break;
    const right = heap[2 * position + 2];
    const [child, below] = right !== undefined && isBefore(right, left) ? [right, 2 * position + 2] : [left, 2 * position + 1];
    if (!isBefore(child, last)) break;
    heap[position] = child;
    position = below;
  }
  heap[position] = last;
}
