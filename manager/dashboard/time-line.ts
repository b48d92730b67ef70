import type { JobPast } from '../api/past-admissions.ts';
import type { PlacementBucket, TimeBucket } from './past-views.ts';

/** The known times of one Job. */
export type JobSpan = {
  readonly createdMs: number;
  readonly past: JobPast;
  readonly endedMs?: number | undefined;
  /** The outcome of an ended Job. */
  readonly outcome?: 'Complete' | 'Failed' | undefined;
};

export const HOURS_MAX = 168;
export const HOUR_MS = 3_600_000;
const DEFAULT_HOURS = 6;
const BUCKETS = 60;
const MINUTE_MS = 60_000;

/** Parses a number of hours: 1 to a week. Undefined: malformed. */
export function parseHours(text: string | null): number | undefined {
  if (text === null || text === '') return DEFAULT_HOURS;
  const hours = Number(text);
  return /^\d{1,3}$/.test(text) && hours >= 1 && hours <= HOURS_MAX ? hours : undefined;
}

/**
 * Parses a moment of the last week, as epoch milliseconds. It is rounded to a second, so that viewers share answers. Undefined: malformed,
 * or out of range.
 */
export function parseMoment(text: string | null, nowMs: number): number | undefined {
  if (text === null || !/^\d{1,15}$/.test(text)) return undefined;
  const atMs = Math.floor(Number(text) / 1_000) * 1_000;
  return atMs <= nowMs && atMs >= nowMs - HOURS_MAX * HOUR_MS ? atMs : undefined;
}

/** Whole buckets up to the one of `nowMs`, so that past buckets stay the same from answer to answer. */
export function bucketsOf(hours: number, nowMs: number): { readonly fromMs: number; readonly bucketMs: number; readonly count: number } {
  const bucketMs = Math.max(MINUTE_MS, (hours * 60 * MINUTE_MS) / BUCKETS);
  const count = Math.round((hours * 60 * MINUTE_MS) / bucketMs);
  return { fromMs: (Math.floor(nowMs / bucketMs) + 1 - count) * bucketMs, bucketMs, count };
}

/** Counts events in each bucket, and waiting and running Jobs at its end. */
export interface TimeBuckets {
  add(span: JobSpan): void;
  told(): readonly TimeBucket[];
}

export type BucketShape = { readonly fromMs: number; readonly bucketMs: number; readonly count: number };

export function createTimeBuckets(shape: BucketShape): TimeBuckets {
  const { fromMs, bucketMs, count } = shape;
  const counts = Array.from({ length: count }, () => ({ created: 0, admitted: 0, complete: 0, failed: 0 }));
  const bucketOf = (ms: number): number => Math.floor((ms - fromMs) / bucketMs);
  const [waiting, running] = [createLevels(shape), createLevels(shape)];
  return {
    add({ createdMs, past: { admissions, unknownUntilMs = 0 }, endedMs, outcome }) {
      const created = counts[bucketOf(createdMs)];
      if (created !== undefined) created.created++;
      const ended = endedMs === undefined ? undefined : counts[bucketOf(endedMs)];
      if (ended !== undefined && outcome !== undefined) ended[outcome === 'Complete' ? 'complete' : 'failed']++;
      let sinceMs: number | undefined = Math.max(createdMs, unknownUntilMs);
      for (const { fromMs, untilMs } of admissions) {
        const admitted = counts[bucketOf(fromMs)];
        if (admitted !== undefined) admitted.admitted++;
        running.add(fromMs, untilMs, 1);
        if (sinceMs !== undefined) waiting.add(sinceMs, fromMs, 1);
        sinceMs = untilMs;
      }
      if (sinceMs !== undefined) waiting.add(sinceMs, endedMs, 1);
    },
    told() {
      const [waits, runs] = [waiting.told(), running.told()];
      return counts.map((each, position) => ({
        fromMs: fromMs + position * bucketMs,
        ...each,
        waiting: waits[position] ?? 0,
        running: runs[position] ?? 0,
      }));
    },
  };
}

/** Counts what became of admissions to one cluster in each bucket, and Jobs there at its end. */
export interface PlacementBuckets {
  add(span: JobSpan): void;
  told(): readonly PlacementBucket[];
}

export function createPlacementBuckets(cluster: string, shape: BucketShape): PlacementBuckets {
  const { fromMs, bucketMs, count } = shape;
  const counts = Array.from({ length: count }, () => ({ placed: 0, complete: 0, failed: 0, left: 0 }));
  const running = createLevels(shape);
  const bucketAt = (ms: number): (typeof counts)[number] | undefined => counts[Math.floor((ms - fromMs) / bucketMs)];
  return {
    add({ past: { admissions }, endedMs, outcome }) {
      for (const admission of admissions) {
        if (admission.cluster !== cluster) continue;
        const { fromMs: placedMs, untilMs } = admission;
        running.add(placedMs, untilMs, 1);
        const placed = bucketAt(placedMs);
        if (placed !== undefined) placed.placed++;
        const over = untilMs === undefined ? undefined : bucketAt(untilMs);
        if (over === undefined) continue;
        const isEnd = admission === admissions.at(-1) && untilMs === endedMs;
        over[isEnd && outcome !== undefined ? (outcome === 'Complete' ? 'complete' : 'failed') : 'left']++;
      }
    },
    told() {
      const runs = running.told();
      return counts.map((each, position) => ({ fromMs: fromMs + position * bucketMs, ...each, running: runs[position] ?? 0 }));
    },
  };
}

/** Levels of an amount at the end of each bucket. */
export interface Levels {
  /** Adds an amount from then until then, or until now. */
  add(sinceMs: number, untilMs: number | undefined, much: number): void;
  told(): readonly number[];
}

export function createLevels({ fromMs, bucketMs, count }: BucketShape): Levels {
  /** The difference from the bucket before. */
  const changes = Array.from({ length: count + 1 }, () => 0);
  const bucketOf = (ms: number): number => Math.floor((ms - fromMs) / bucketMs);
  return {
    add(sinceMs, untilMs, much) {
      const first = Math.max(0, bucketOf(sinceMs));
      const last = untilMs === undefined ? count : Math.min(count, bucketOf(untilMs));
      if (first >= last) return;
      changes[first] = (changes[first] ?? 0) + much;
      changes[last] = (changes[last] ?? 0) - much;
    },
    told() {
      let level = 0;
      return changes.slice(0, count).map((change) => (level += change));
    },
  };
}
