import type { TimeBucket } from './views.ts';

/** The way of one Job, as far as it is known. Of several admissions the last one. */
export type JobSpan = {
  readonly createdMs: number;
  readonly admittedMs?: number | undefined;
  readonly endedMs?: number | undefined;
  /** How it ended, where it has. */
  readonly outcome?: 'Complete' | 'Failed' | undefined;
};

export const HOURS_MAX = 168;
const HOURS_BY_DEFAULT = 6;
const BUCKETS = 60;
const MINUTE_MS = 60_000;

/** How many hours are asked for: 1 to a week. Undefined: that cannot be read. */
export function parseHours(text: string | null): number | undefined {
  if (text === null || text === '') return HOURS_BY_DEFAULT;
  const hours = Number(text);
  return /^\d{1,3}$/.test(text) && hours >= 1 && hours <= HOURS_MAX ? hours : undefined;
}

/** Whole buckets up to the one that `nowMs` is in, so that those that are over do not change from look to look. */
export function bucketsOf(hours: number, nowMs: number): { readonly fromMs: number; readonly bucketMs: number; readonly count: number } {
  const bucketMs = Math.max(MINUTE_MS, (hours * 60 * MINUTE_MS) / BUCKETS);
  const count = Math.round((hours * 60 * MINUTE_MS) / bucketMs);
  return { fromMs: (Math.floor(nowMs / bucketMs) + 1 - count) * bucketMs, bucketMs, count };
}

/** What happened in each bucket, and how things stood at its end. */
export function timeBuckets(
  spans: Iterable<JobSpan>,
  { fromMs, bucketMs, count }: { readonly fromMs: number; readonly bucketMs: number; readonly count: number },
): TimeBucket[] {
  const counts = Array.from({ length: count }, () => ({ created: 0, admitted: 0, complete: 0, failed: 0 }));
  /** What is added to those that wait and that run in this bucket, compared with the one before. */
  const change = Array.from({ length: count }, () => ({ waiting: 0, running: 0 }));
  const bucketOf = (ms: number): number => Math.floor((ms - fromMs) / bucketMs);
  const stand = (of: 'waiting' | 'running', sinceMs: number, untilMs: number | undefined): void => {
    const first = Math.max(0, bucketOf(sinceMs));
    const last = untilMs === undefined ? count : Math.min(count, bucketOf(untilMs));
    if (first >= last) return;
    const [begins, ends] = [change[first], change[last]];
    if (begins !== undefined) begins[of]++;
    if (ends !== undefined) ends[of]--;
  };
  for (const { createdMs, admittedMs, endedMs, outcome } of spans) {
    const created = counts[bucketOf(createdMs)];
    if (created !== undefined) created.created++;
    const admitted = admittedMs === undefined ? undefined : counts[bucketOf(admittedMs)];
    if (admitted !== undefined) admitted.admitted++;
    const ended = endedMs === undefined ? undefined : counts[bucketOf(endedMs)];
    if (ended !== undefined && outcome !== undefined) ended[outcome === 'Complete' ? 'complete' : 'failed']++;
    stand('waiting', createdMs, admittedMs ?? endedMs);
    if (admittedMs !== undefined) stand('running', admittedMs, endedMs);
  }
  let [waiting, running] = [0, 0];
  return counts.map((each, position) => {
    waiting += change[position]?.waiting ?? 0;
    running += change[position]?.running ?? 0;
    return { fromMs: fromMs + position * bucketMs, ...each, waiting, running };
  });
}
