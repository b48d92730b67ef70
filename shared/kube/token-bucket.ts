import type { Clock } from '../runtime/clock.ts';

/** Says whether something may be done now, for those who would rather leave it than wait. */
export interface TokenBucket {
  /** Takes a token, if there is one. */
  take(): boolean;
}

/** `qps` tokens a second, at most `burst` at once. */
export function createTokenBucket(options: {
  readonly qps: number;
  readonly burst: number;
  readonly clock: Pick<Clock, 'now'>;
}): TokenBucket {
  const { qps, burst, clock } = options;
  let tokens = burst;
  let countedAtMs = clock.now();
  return {
    take() {
      const nowMs = clock.now();
      tokens = Math.min(burst, tokens + (Math.max(0, nowMs - countedAtMs) * qps) / 1000);
      countedAtMs = nowMs;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
