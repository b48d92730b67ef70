import type { Random } from './random.ts';

/** Growing, jittered delays between attempts at something that keeps failing. */
export interface Backoff {
  /** The delay before the next attempt, in milliseconds. */
  nextDelayMs(): number;
  /** The last attempt succeeded: start small again. */
  reset(): void;
}

/** Delays drawn evenly from [baseMs, ceiling), where the ceiling starts at twice the base and doubles up to `maxMs`. */
export function createBackoff(options: { readonly baseMs: number; readonly maxMs: number; readonly random: Random }): Backoff {
  const { baseMs, maxMs, random } = options;
  let ceilingMs = baseMs;
  return {
    nextDelayMs() {
      ceilingMs = Math.min(maxMs, ceilingMs * 2);
      return baseMs + random() * (ceilingMs - baseMs);
    },
    reset() {
      ceilingMs = baseMs;
    },
  };
}
