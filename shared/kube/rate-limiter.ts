import type { Clock } from '../runtime/clock.ts';
import { sleep } from '../runtime/clock.ts';

/** Holds callers back so that no more than a number of calls happen in a second. */
export interface RateLimiter {
  /** Resolves when the caller may go ahead, with how long it waited (ms). Rejects when `signal` aborts first. */
  acquire(signal?: AbortSignal): Promise<number>;
}

/** Requests per second to one API server; qps 0 means no limit. */
export type ApiRate = { readonly qps: number; readonly burst: number };

/**
 * client-go's token bucket: `qps` tokens a second, at most `burst` at once, first come first served.
 * `qps` 0 means no limit.
 */
export function createRateLimiter(options: ApiRate & { readonly clock: Clock }): RateLimiter {
  const { qps, clock } = options;
  if (qps <= 0) return { acquire: async () => 0 };
  const burst = Math.max(1, options.burst);
  let tokens = burst;
  let countedAtMs = clock.now();
  return {
    async acquire(signal) {
      signal?.throwIfAborted();
      const nowMs = clock.now();
      tokens = Math.min(burst, tokens + (Math.max(0, nowMs - countedAtMs) * qps) / 1000);
      countedAtMs = nowMs;
      // Below zero the bucket holds reservations: the deeper it is, the later this caller's token comes.
      tokens -= 1;
      if (tokens >= 0) return 0;
      const delayMs = (-tokens / qps) * 1000;
      await sleep(clock, delayMs, signal);
      if (signal?.aborted === true) {
        tokens += 1;
        throw signal.reason;
      }
      return delayMs;
    },
  };
}
