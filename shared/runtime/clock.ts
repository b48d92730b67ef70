/** Time as an argument: the real clock in programs, a fake one in tests and simulations. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds since a start of its own. It never steps, whatever becomes of the time of day: only differences mean something. */
  monotonic(): number;
  /** Runs `callback` once, `delayMs` from now. Like setTimeout, it keeps a process alive unless cancelled. */
  schedule(callback: () => void, delayMs: number): Timer;
}

export interface Timer {
  cancel(): void;
}

/** Longest delay that setTimeout takes; anything longer fires at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
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
