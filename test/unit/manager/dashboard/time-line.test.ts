import { expect, test } from 'vitest';
import {
  bucketsOf,
  createLevels,
  createPlacementBuckets,
  createTimeBuckets,
  parseHours,
  parseMoment,
} from '../../../../manager/dashboard/time-line.ts';

const buckets = { fromMs: 1_000, bucketMs: 10, count: 3 };

test('each bucket tells what happened in it, and how things stood at its end', () => {
  const admitted = (fromMs: number, untilMs?: number) => ({
    past: { admissions: [{ fromMs, ...(untilMs === undefined ? {} : { untilMs }) }], holds: [] },
  });
  const never = { past: { admissions: [], holds: [] } };
  const spans = [
    { createdMs: 1_001, ...admitted(1_002, 1_015), endedMs: 1_015, outcome: 'Complete' as const },
    { createdMs: 1_001, ...admitted(1_021) },
    { createdMs: 500, ...admitted(600, 1_029), endedMs: 1_029, outcome: 'Failed' as const },
    { createdMs: 500, ...never },
    { createdMs: 100, ...admitted(110, 120), endedMs: 120, outcome: 'Complete' as const },
    { createdMs: 1_025, ...never, endedMs: 1_026, outcome: 'Failed' as const },
    { createdMs: 2_000, ...never },
  ];
  const counted = createTimeBuckets(buckets);
  for (const span of spans) counted.add(span);
  expect(counted.told()).toEqual([
    { fromMs: 1_000, created: 2, admitted: 1, complete: 0, failed: 0, waiting: 2, running: 2 },
    { fromMs: 1_010, created: 0, admitted: 0, complete: 1, failed: 0, waiting: 2, running: 1 },
    { fromMs: 1_020, created: 1, admitted: 1, complete: 0, failed: 2, waiting: 1, running: 1 },
  ]);
});

test('a Job that was evicted runs in each of its admissions, waits between them, and does neither while that is not recorded', () => {
  const counted = createTimeBuckets(buckets);
  const admissions = [{ fromMs: 1_005, untilMs: 1_012 }, { fromMs: 1_025 }];
  counted.add({ createdMs: 500, past: { admissions, holds: [] } });
  counted.add({ createdMs: 500, past: { admissions: admissions.slice(1), holds: [], unknownUntilMs: 1_025 } });
  expect(counted.told().map(({ admitted, waiting, running }) => [admitted, waiting, running])).toEqual([
    [1, 0, 1],
    [0, 1, 0],
    [2, 0, 2],
  ]);
});

test('each bucket of a cluster tells what was placed there, how that left, and how much was there at its end', () => {
  const counted = createPlacementBuckets('east', buckets);
  const on = (cluster: string | undefined, fromMs: number, untilMs?: number) => ({
    fromMs,
    ...(untilMs === undefined ? {} : { untilMs }),
    ...(cluster === undefined ? {} : { cluster }),
  });
  const add = (
    admissions: readonly ReturnType<typeof on>[],
    end: { readonly endedMs?: number; readonly outcome?: 'Complete' | 'Failed' } = {},
  ) => counted.add({ createdMs: 500, past: { admissions, holds: [] }, ...end });
  add([on('east', 1_002, 1_015)], { endedMs: 1_015, outcome: 'Complete' });
  add([on('east', 600, 1_016)], { endedMs: 1_016, outcome: 'Failed' });
  // It moved away and came back, and was deleted while it waited.
  add([on('east', 1_001, 1_003), on('west', 1_004, 1_006), on('east', 1_011, 1_025)], { endedMs: 1_028, outcome: 'Failed' });
  add([on('east', 1_021)]);
  // Earlier versions did not record where.
  add([on(undefined, 1_001, 1_029), on('west', 1_029)]);
  expect(counted.told()).toEqual([
    { fromMs: 1_000, placed: 2, complete: 0, failed: 0, left: 1, running: 2 },
    { fromMs: 1_010, placed: 1, complete: 1, failed: 1, left: 0, running: 1 },
    { fromMs: 1_020, placed: 1, complete: 0, failed: 0, left: 1, running: 1 },
  ]);
});

test('buckets begin at round times, and the last has now in it', () => {
  const now = Date.UTC(2026, 0, 1, 12, 3);
  const { fromMs, bucketMs, count } = bucketsOf(6, now);
  expect([bucketMs, count, fromMs % bucketMs]).toEqual([360_000, 60, 0]);
  expect(fromMs + (count - 1) * bucketMs).toBeLessThanOrEqual(now);
  expect(fromMs + count * bucketMs).toBeGreaterThan(now);
  expect(bucketsOf(1, now)).toMatchObject({ bucketMs: 60_000, count: 60 });
});

test('hours are whole, from one to a week', () => {
  expect(['', null, '1', '168'].map((each) => parseHours(each))).toEqual([6, 6, 1, 168]);
  for (const wrong of ['0', '169', '1.5', '-1', 'x']) expect(parseHours(wrong)).toBeUndefined();
});

test('levels are those at the end of each bucket, also of what began before and of what has not ended', () => {
  const levels = createLevels(buckets);
  levels.add(500, 1_015, 2);
  levels.add(1_021, undefined, 0.5);
  levels.add(1_011, 1_012, 9);
  levels.add(2_000, undefined, 1);
  expect(levels.told()).toEqual([2, 0, 0.5]);
});

test('a moment is one of the last week, to a second', () => {
  const now = Date.UTC(2026, 0, 8);
  expect(parseMoment(String(now - 1_234), now)).toBe(now - 2_000);
  expect(parseMoment(String(Date.UTC(2026, 0, 1)), now)).toBe(Date.UTC(2026, 0, 1));
  for (const wrong of [null, '', 'x', '-1', '1e3', String(now + 1_000), String(Date.UTC(2026, 0, 1) - 1_000)])
    expect(parseMoment(wrong, now)).toBeUndefined();
});
