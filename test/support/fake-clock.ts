import type { Clock, Timer } from '../../shared/runtime/clock.ts';

type Pending = { readonly dueMs: number; readonly order: number; readonly callback: () => void };

/**
 * A clock that stands still until told to move. Timers run in the order of their due time, then of their making;
 * after each, everything that became ready (promises, and callbacks of setImmediate) runs before the next.
 */
export class FakeClock implements Clock {
  #now: number;
  #order = 0;
  readonly #pending = new Set<Pending>();

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  schedule(callback: () => void, delayMs: number): Timer {
    const timer = { dueMs: this.#now + Math.max(0, delayMs), order: this.#order++, callback };
    this.#pending.add(timer);
    return { cancel: () => this.#pending.delete(timer) };
  }

  /** Moves time forward by `ms` and runs every timer that falls due, those made on the way included. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#now + ms;
    await settle();
    for (let next = this.#earliest(); next !== undefined && next.dueMs <= endMs; next = this.#earliest()) await this.#fire(next);
    this.#now = endMs;
  }

  /** Runs what is ready and due now, without moving time. */
  settle(): Promise<void> {
    return this.advance(0);
  }

  /** Moves time from timer to timer until none is left. Throws when that takes longer than `limitMs`. */
  async runUntilIdle(limitMs = 3_600_000): Promise<void> {
    const endMs = this.#now + limitMs;
    await settle();
    for (let next = this.#earliest(); next !== undefined; next = this.#earliest()) {
      if (next.dueMs > endMs) throw new Error(`timers are still pending after ${limitMs} ms`);
      await this.#fire(next);
    }
  }

  /** How many timers are waiting. */
  pendingTimers(): number {
    return this.#pending.size;
  }

  async #fire(timer: Pending): Promise<void> {
    this.#pending.delete(timer);
    this.#now = timer.dueMs;
    timer.callback();
    await settle();
  }

  #earliest(): Pending | undefined {
    let earliest: Pending | undefined;
    for (const timer of this.#pending) {
      if (earliest === undefined || timer.dueMs < earliest.dueMs || (timer.dueMs === earliest.dueMs && timer.order < earliest.order)) {
        earliest = timer;
      }
    }
    return earliest;
  }
}

/** Two turns of the event loop: promises, what they set off with setImmediate, and the promises of that. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}
