/**
 * The delay before failed pods are replaced: 10 s, doubled per failure since the last success, at most 10 minutes
 * (backoff_utils.go). Times are milliseconds since the epoch.
 */
export type BackoffRecord = {
  readonly failuresAfterLastSuccess: number;
  readonly lastFailureMs?: number;
};

export const NO_BACKOFF: BackoffRecord = { failuresAfterLastSuccess: 0 };
export const POD_FAILURE_BACKOFF_MS = 10_000;
export const MAX_POD_FAILURE_BACKOFF_MS = 600_000;

/**
 * The record after pods have ended at these times. Failures that a policy ignores delay their replacement too, so they are among
 * `failedMs`.
 */
export function nextBackoff(record: BackoffRecord, succeededMs: readonly number[], failedMs: readonly number[]): BackoffRecord {
  if (succeededMs.length === 0) {
    if (failedMs.length === 0) return record;
    return { failuresAfterLastSuccess: record.failuresAfterLastSuccess + failedMs.length, lastFailureMs: latest(failedMs) };
  }
  const lastSuccessMs = latest(succeededMs);
  const failedSince = failedMs.filter((time) => time > lastSuccessMs);
  return failedSince.length === 0 ? NO_BACKOFF : { failuresAfterLastSuccess: failedSince.length, lastFailureMs: latest(failedSince) };
}

/** How long to wait yet after the `failures`-th failure, which was at `failedMs`. */
export function remainingBackoffMs(failures: number, failedMs: number, nowMs: number): number {
  if (failures <= 0) return 0;
  const delayMs = Math.min(POD_FAILURE_BACKOFF_MS * 2 ** (failures - 1), MAX_POD_FAILURE_BACKOFF_MS);
  return Math.max(0, delayMs - (nowMs - failedMs));
}

const latest = (times: readonly number[]): number => times.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
