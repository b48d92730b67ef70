/** The interval in which a Job was estimated to be admitted, in epoch milliseconds; `latestMs` may be infinite. */
export type Interval = { readonly earliestMs: number; readonly latestMs: number };

/** Outcomes of estimates; the values of a metric. */
export const EstimateOutcome = {
  /** The Job was admitted before the interval. */
  Before: 'before',
  Within: 'within',
  /** The interval passed while the Job still waited. */
  After: 'after',
  /** The Job was deleted, held, or removed from its queue. */
  Withdrawn: 'withdrawn',
  /** No estimate was possible. */
  Unknown: 'unknown',
} as const;
export type EstimateOutcome = (typeof EstimateOutcome)[keyof typeof EstimateOutcome];

/** Admission times have a resolution of one second. */
const PRECISION_MS = 1_000;

/**
 * The outcome of an estimate; undefined while it is not known. A Job that still waits after the interval counts then; otherwise Jobs that
 * are never admitted would not count.
 */
export function outcomeOf({ earliestMs, latestMs }: Interval, admittedMs: number | undefined, nowMs: number): EstimateOutcome | undefined {
  if (admittedMs === undefined) return nowMs > latestMs ? EstimateOutcome.After : undefined;
  if (admittedMs > latestMs) return EstimateOutcome.After;
  return admittedMs + PRECISION_MS <= earliestMs ? EstimateOutcome.Before : EstimateOutcome.Within;
}
