/** From when until when a Job was said to be admitted, in epoch milliseconds; `latestMs` may be infinite. */
export type Interval = { readonly earliestMs: number; readonly latestMs: number };

/** What became of estimates; the values of a metric. */
export const EstimateOutcome = {
  /** It was admitted before the interval. */
  Before: 'before',
  Within: 'within',
  /** The interval passed, and it still waited. */
  After: 'after',
  /** It was deleted, held, or taken out of its queue. */
  Withdrawn: 'withdrawn',
  /** None could be made. */
  Unknown: 'unknown',
} as const;
export type EstimateOutcome = (typeof EstimateOutcome)[keyof typeof EstimateOutcome];

/** Times of admissions are kept to the second. */
const PRECISION_MS = 1_000;

/** Whether it held; undefined while that is not known. One that waits on when the interval is over is counted then: else those that are never admitted would not be. */
export function outcomeOf({ earliestMs, latestMs }: Interval, admittedMs: number | undefined, nowMs: number): EstimateOutcome | undefined {
  if (admittedMs === undefined) return nowMs > latestMs ? EstimateOutcome.After : undefined;
  if (admittedMs > latestMs) return EstimateOutcome.After;
  return admittedMs + PRECISION_MS <= earliestMs ? EstimateOutcome.Before : EstimateOutcome.Within;
}
