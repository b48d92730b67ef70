import { describe, expect, test } from 'vitest';
import { missedStarts, type NextTime } from '../../../../../../shared/controlplane/controllers/cron-job/missed-starts.ts';
import { aCronJob } from './a-cron-job.ts';

const MINUTE = 60_000;
const CREATED = Date.parse('2026-01-01T00:00:00Z');
const at = (minutes: number): number => CREATED + minutes * MINUTE;
/** A time every so many minutes. */
const every =
  (minutes: number): NextTime =>
  (afterMs) =>
    (Math.floor(afterMs / (minutes * MINUTE)) + 1) * minutes * MINUTE;
const missed = (minutes: number, { next = every(1), spec = {}, status = {}, options = {} } = {}) =>
  missedStarts(aCronJob('* * * * *', spec, status), next, at(minutes), options);

describe('what has fallen due', () => {
  test.each<[number, number | undefined, 'none' | 'few' | 'many']>([
    [0.5, undefined, 'none'],
    [1, 1, 'none'],
    [1.9, 1, 'none'],
    [2, 2, 'few'],
    [100.5, 100, 'few'],
    [101, 101, 'many'],
    [1_000_000, 1_000_000, 'many'],
  ])('after %f minutes is the latest minute %j, %s before it', (minutes, latest, count) => {
    expect(missed(minutes)).toEqual({ latestMs: latest === undefined ? undefined : at(latest), count, sinceMs: CREATED });
  });

  test('is looked for from the last start', () => {
    expect(missed(10, { status: { lastScheduleTime: '2026-01-01T00:09:00Z' } })).toEqual({
      latestMs: at(10),
      count: 'none',
      sinceMs: at(9),
    });
  });

  test('is not older than the deadline for starts, unless that is not to count', () => {
    const spec = { startingDeadlineSeconds: 90 };
    expect(missed(200, { spec })).toMatchObject({ latestMs: at(200), count: 'few', sinceMs: at(198.5) });
    expect(missed(200, { spec, options: { ignoreDeadline: true } })).toMatchObject({ count: 'many', sinceMs: CREATED });
  });

  test('is nothing where the schedule has no times, or no second one', () => {
    expect(missed(5, { next: () => undefined })).toBeUndefined();
    expect(missed(5, { next: (afterMs) => (afterMs < at(1) ? at(1) : undefined) })).toEqual({
      latestMs: at(1),
      count: 'none',
      sinceMs: CREATED,
    });
  });

  test('is the latest also where times are unevenly spread', () => {
    const times = [at(1), at(2), at(59), at(60)];
    const next: NextTime = (afterMs) => times.find((time) => time > afterMs);
    expect(missed(59.5, { next })?.latestMs).toBe(at(59));
  });
});
