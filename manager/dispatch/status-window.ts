import type { Clock } from '../../shared/runtime/clock.ts';

/**
 * How long the progress of a running Job is gathered before it is written home. An API server under a burst answers slowly; the longer its
 * answers take, the longer progress waits, so that admissions and final statuses come first and short Jobs need one status write less.
 */
export interface StatusWindow {
  /** Milliseconds from the first change to the write. */
  ms(): number;
  /** A status write was answered after so many milliseconds. */
  answered(tookMs: number): void;
}

/** The least, so that there is at most one such write of a Job in this time. */
export const STATUS_WINDOW_MS = 200;
/** Below the five seconds of the objective in docs/slo.md. */
const WINDOW_MAX_MS = 4_000;
/** The window, in answers. */
const ANSWERS = 16;
/** Weight of the latest answer in the average. */
const WEIGHT = 1 / 8;
/** An average to which nothing was added for this long says nothing about the server of now. */
const KNOWN_FOR_MS = 2_000;

export function createStatusWindow(clock: Pick<Clock, 'monotonic'>): StatusWindow {
  let averageMs = 0;
  let answeredMs = Number.NEGATIVE_INFINITY;
  const isKnown = (): boolean => clock.monotonic() - answeredMs < KNOWN_FOR_MS;
  return {
    ms: () => (isKnown() ? Math.min(WINDOW_MAX_MS, Math.max(STATUS_WINDOW_MS, ANSWERS * averageMs)) : STATUS_WINDOW_MS),
    answered(tookMs) {
      averageMs = isKnown() ? averageMs + (tookMs - averageMs) * WEIGHT : tookMs;
      answeredMs = clock.monotonic();
    },
  };
}
