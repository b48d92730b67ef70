import { expect, test } from 'vitest';
import { bucketsOf, parseHours, timeBuckets } from '../../../../manager/dashboard/time-line.ts';

const buckets = { fromMs: 1_000, bucketMs: 10, count: 3 };

test('each bucket tells what happened in it, and how things stood at its end', () => {
  const spans = [
    { createdMs: 1_001, admittedMs: 1_002, endedMs: 1_015, outcome: 'Complete' as const },
    { createdMs: 1_001, admittedMs: 1_021 },
    { createdMs: 500, admittedMs: 600, endedMs: 1_029, outcome: 'Failed' as const },
    { createdMs: 500 },
    { createdMs: 100, admittedMs: 110, endedMs: 120, outcome: 'Complete' as const },
    { createdMs: 1_025, endedMs: 1_026, outcome: 'Failed' as const },
    { createdMs: 2_000 },
  ];
  expect(timeBuckets(spans, buckets)).toEqual([
    { fromMs: 1_000, created: 2, admitted: 1, complete: 0, failed: 0, waiting: 2, running: 2 },
    { fromMs: 1_010, created: 0, admitted: 0, complete: 1, failed: 0, waiting: 2, running: 1 },
    { fromMs: 1_020, created: 1, admitted: 1, complete: 0, failed: 2, waiting: 1, running: 1 },
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
