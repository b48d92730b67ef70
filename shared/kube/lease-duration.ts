import { type Clock, sleep } from '../runtime/clock.ts';

/** How long the claims of an election's Lease are, by how slow the server and the machine were of late. */
export interface LeaseDuration {
  /** In milliseconds, whole seconds. */
  ms(): number;
  /** Makes a call, and notes how long its answer took. */
  timed<T>(call: () => Promise<T>): Promise<T>;
  /** Sleeps, and notes how late the timer came: that is a sign of a machine that is too busy, as a late answer is. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

/** A Lease that is longer because server or machine are slow is no longer than this, unless it is asked for. */
const LEASE_DURATION_MS_MAX = 15_000;
/** A renewal that takes no longer is not slow. */
const SLOW_MS = 500;
/** For so long it is remembered how slow it was. */
const SLOWNESS_KEPT_MS = 30_000;

/** `leastMs`: while nothing is slow. */
export function createLeaseDuration(clock: Clock, leastMs: number): LeaseDuration {
  /** The longest that an answer, or a timer, took of late. */
  let slow = { ms: 0, sinceMs: 0 };
  const isOld = (nowMs: number): boolean => nowMs - slow.sinceMs >= SLOWNESS_KEPT_MS;
  const took = (ms: number): void => {
    const nowMs = clock.monotonic();
    if (ms >= slow.ms || isOld(nowMs)) slow = { ms, sinceMs: nowMs };
  };
  return {
    ms: () => leaseDurationFor(leastMs, isOld(clock.monotonic()) ? 0 : slow.ms),
    async timed(call) {
      const sentMs = clock.monotonic();
      try {
        return await call();
      } finally {
        took(clock.monotonic() - sentMs);
      }
    },
    async pause(ms, signal) {
      const dueMs = clock.monotonic() + ms;
      await sleep(clock, ms, signal);
      took(clock.monotonic() - dueMs);
    },
  };
}

/**
 * How long a Lease is to be where the slowest of late, of the answers to renewals and of the machine's own timers, took `slowMs`: so long
 * that two of them, one after the other, are answered within the two thirds of it for which it lets its holder write. In milliseconds,
 * whole seconds.
 */
export function leaseDurationFor(leastMs: number, slowMs: number): number {
  const wantedMs = leastMs + 3 * Math.max(0, slowMs - SLOW_MS);
  return Math.ceil(Math.min(wantedMs, Math.max(leastMs, LEASE_DURATION_MS_MAX)) / 1_000) * 1_000;
}
