import type { CronJob, DeepReadonly } from '../../../api/kubernetes.ts';

/** The first time after one, in milliseconds; undefined when there is none. */
export type NextTime = (afterMs: number) => number | undefined;

/** What has fallen due since a CronJob last started a Job, or since it was created. */
export type MissedStarts = {
  /** Of what is due only the latest is made up for. */
  readonly latestMs: number | undefined;
  readonly count: 'none' | 'few' | 'many';
  /** From when on starts were looked for. */
  readonly sinceMs: number;
};

const MANY = 100;

/**
 * mostRecentScheduleTime: counts by the distance of the first two times, so as not to walk through years of them. Undefined when the
 * schedule has no times at all. The starting deadline narrows what is looked at, unless `ignoreDeadline`.
 */
export function missedStarts(
  cronJob: DeepReadonly<CronJob>,
  next: NextTime,
  nowMs: number,
  { ignoreDeadline = false } = {},
): MissedStarts | undefined {
  const { startingDeadlineSeconds } = cronJob.spec;
  const knownMs = Date.parse(cronJob.status?.lastScheduleTime ?? cronJob.metadata.creationTimestamp);
  const deadlineMs = ignoreDeadline || startingDeadlineSeconds === undefined ? -Infinity : nowMs - startingDeadlineSeconds * 1000;
  const sinceMs = Math.max(knownMs, deadlineMs);
  const firstMs = next(sinceMs);
  if (firstMs === undefined) return undefined;
  if (nowMs < firstMs) return { latestMs: undefined, count: 'none', sinceMs };
  const secondMs = next(firstMs);
  if (secondMs === undefined || nowMs < secondMs) return { latestMs: firstMs, count: 'none', sinceMs };
  const distanceMs = secondMs - firstMs;
  const count = Math.floor((nowMs - firstMs) / distanceMs) + 1;
  // One distance back, for schedules whose times are unevenly spread.
  let latestMs: number | undefined;
  for (let atMs = next(firstMs + (count - 2) * distanceMs); atMs !== undefined && atMs <= nowMs; atMs = next(atMs)) latestMs = atMs;
  return { latestMs, count: count > MANY ? 'many' : 'few', sinceMs };
}
