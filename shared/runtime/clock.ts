import { uptime } from 'node:os';

/** Time as an argument: the real clock in programs, a fake one in tests and simulations. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Milliseconds since a start of its own. It never steps, whatever becomes of the time of day: only differences mean something. It goes on
   * while the machine sleeps; timers do not, and are late by that.
   */
  monotonic(): number;
  /** Runs `callback` once, `delayMs` from now. Like setTimeout, it keeps a process alive unless cancelled. */
  schedule(callback: () => void, delayMs: number): Timer;
}

export interface Timer {
  cancel(): void;
}

/** Longest delay that setTimeout takes; anything longer fires at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Sources of the time since a start: the operating system tells how long it is up in steps of a second at worst, and does not count all
 * alike.
 */
const SLEEP_MS_MIN = 2_000;
const ASK_EVERY_MS = 50;

/**
 * Node's own monotonic time stands still while the machine sleeps (CLOCK_MONOTONIC), and a Lease would be held, and a fence be open, for as
 * long as it slept in addition. How long the machine is up does not (CLOCK_BOOTTIME), so that what the one is ahead of the other by more
 * than before was sleep.
 */
export function createSteadyTime(awakeMs: () => number, upMs: () => number): () => number {
  let aheadMs = upMs() - awakeMs();
  let sleptMs = 0;
  let askedMs = awakeMs();
  return () => {
    const nowMs = awakeMs();
    if (nowMs - askedMs >= ASK_EVERY_MS) {
      askedMs = nowMs;
      const moreMs = upMs() - nowMs - aheadMs;
      if (moreMs >= SLEEP_MS_MIN) [sleptMs, aheadMs] = [sleptMs + moreMs, aheadMs + moreMs];
    }
    return nowMs + sleptMs;
  };
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: createSteadyTime(
    () => performance.now(),
    () => uptime() * 1000,
  ),
  schedule: (callback, delayMs) => {
    let handle: NodeJS.Timeout;
    const arm = (remainingMs: number): void => {
      handle =
        remainingMs > MAX_TIMEOUT_MS
          ? setTimeout(() => arm(remainingMs - MAX_TIMEOUT_MS), MAX_TIMEOUT_MS)
          : setTimeout(callback, Math.max(0, remainingMs));
    };
    arm(delayMs);
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Resolves after `delayMs`, or as soon as `signal` aborts (without an error: look at the signal). */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = clock.schedule(finish, delayMs);
    signal?.addEventListener('abort', finish, { once: true });
  });
}

/** Waits for `work`, but no longer than `limitMs`; false when the time was over first. Errors of `work` are thrown. */
export async function endsWithin(clock: Clock, limitMs: number, work: Promise<unknown>): Promise<boolean> {
  const over = Promise.withResolvers<false>();
  const timer = clock.schedule(() => over.resolve(false), limitMs);
  try {
    return await Promise.race([work.then(() => true), over.promise]);
  } finally {
    // A timer left behind would keep the process alive for as long as nobody waits any more.
    timer.cancel();
  }
}
