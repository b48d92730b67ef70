import { describe, expect, test } from 'vitest';
import type { CronJob } from '../../../../../../shared/api/kubernetes.ts';
import { decideStart, jobName, nextStartMs } from '../../../../../../shared/controlplane/controllers/cron-job/decide-start.ts';
import { aCronJob, reference } from './a-cron-job.ts';

const time = (atMs: number | undefined): string | undefined => (atMs === undefined ? undefined : new Date(atMs).toISOString());
/** What is decided, in words. */
const decided = (cronJob: CronJob, now: string): { start: string | undefined; again: string | undefined; notes: string[] } => {
  const { start, againMs, notes } = decideStart(cronJob, Date.parse(now));
  return {
    start: time(start?.scheduledMs),
    again: time(againMs),
    notes: notes.map(({ type, reason, message }) => `${type} ${reason}: ${message}`),
  };
};

describe('a CronJob that runs every hour', () => {
  test('waits for its first time, and looks again a moment after it', () => {
    expect(decided(aCronJob('@hourly'), '2026-01-01T00:10:00Z')).toEqual({
      start: undefined,
      again: '2026-01-01T01:00:00.100Z',
      notes: [],
    });
  });
  test('starts when its time has come, and looks again at the next', () => {
    expect(decided(aCronJob('@hourly'), '2026-01-01T01:00:00.100Z')).toEqual({
      start: '2026-01-01T01:00:00.000Z',
      again: '2026-01-01T02:00:00.100Z',
      notes: [],
    });
  });
  test('does not start the same time twice, whether its status tells so or the name of an active Job', () => {
    const again = { start: undefined, again: '2026-01-01T02:00:00.100Z', notes: [] };
    expect(decided(aCronJob('@hourly', {}, { lastScheduleTime: '2026-01-01T01:00:00Z' }), '2026-01-01T01:30:00Z')).toEqual(again);
    const active = [reference(jobName('tick', Date.parse('2026-01-01T01:00:00Z')))];
    expect(decided(aCronJob('@hourly', {}, { active }), '2026-01-01T01:30:00Z')).toEqual(again);
  });
  test('makes up only for the latest of the starts that it missed', () => {
    expect(decided(aCronJob('@hourly', {}, { lastScheduleTime: '2026-01-01T01:00:00Z' }), '2026-01-01T09:20:00Z')).toEqual({
      start: '2026-01-01T09:00:00.000Z',
      again: '2026-01-01T10:00:00.100Z',
      notes: [],
    });
  });
  test('tells when it missed more than a hundred, and still makes up for the latest', () => {
    expect(decided(aCronJob('@hourly'), '2026-01-05T04:30:00Z').notes).toEqual([]);
    expect(decided(aCronJob('@hourly'), '2026-01-05T05:30:00Z')).toEqual({
      start: '2026-01-05T05:00:00.000Z',
      again: '2026-01-05T06:00:00.100Z',
      notes: ['Warning TooManyMissedTimes: too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew'],
    });
  });
  test('with a starting deadline counts no misses before it', () => {
    expect(decided(aCronJob('@hourly', { startingDeadlineSeconds: 7200 }), '2026-02-05T05:30:00Z').notes).toEqual([]);
  });
});

describe('a starting deadline', () => {
  test('lets a start go that comes too late for it, without a word where nothing else was due since', () => {
    expect(decided(aCronJob('@hourly', { startingDeadlineSeconds: 60 }), '2026-01-01T01:00:59Z').start).toBe('2026-01-01T01:00:00.000Z');
    expect(decided(aCronJob('@hourly', { startingDeadlineSeconds: 60 }), '2026-01-01T01:01:01Z')).toEqual({
      start: undefined,
      again: '2026-01-01T02:00:00.100Z',
      notes: [],
    });
  });
});

describe('while an earlier Job is active', () => {
  const active = [reference('tick-1')];
  const at = '2026-01-01T01:00:01Z';
  test('Allow starts another', () => {
    expect(decided(aCronJob('@hourly', {}, { active }), at).start).toBe('2026-01-01T01:00:00.000Z');
  });
  test('Replace starts another', () => {
    expect(decided(aCronJob('@hourly', { concurrencyPolicy: 'Replace' }, { active }), at).start).toBe('2026-01-01T01:00:00.000Z');
  });
  test('Forbid starts none and says so', () => {
    expect(decided(aCronJob('@hourly', { concurrencyPolicy: 'Forbid' }, { active }), at)).toEqual({
      start: undefined,
      again: '2026-01-01T02:00:00.100Z',
      notes: ['Normal JobAlreadyActive: Not starting job because prior execution is running and concurrency policy is Forbid'],
    });
  });
});

describe('nothing starts before a change', () => {
  const at = '2026-06-01T00:00:00Z';
  const never = (notes: string[] = []) => ({ start: undefined, again: undefined, notes });
  test('of a CronJob that is suspended', () => {
    expect(decided(aCronJob('@hourly', { suspend: true }), at)).toEqual(never());
  });
  test('of one that is being deleted', () => {
    const cronJob = aCronJob('@hourly');
    expect(decided({ ...cronJob, metadata: { ...cronJob.metadata, deletionTimestamp: at } }, at)).toEqual(never());
  });
  test('of one whose time zone nobody knows', () => {
    expect(decided(aCronJob('@hourly', { timeZone: 'Mars/Olympus' }), at)).toEqual(
      never(['Warning UnknownTimeZone: invalid timeZone: "Mars/Olympus": unknown time zone Mars/Olympus']),
    );
  });
  test('of one whose schedule cannot be read', () => {
    expect(decided(aCronJob('@often'), at)).toEqual(
      never(['Warning UnparseableSchedule: unparseable schedule: "@often" : unrecognized descriptor: @often']),
    );
  });
  test('of one whose schedule never comes', () => {
    expect(decided(aCronJob('0 0 31 2 *'), at)).toEqual(
      never(['Warning InvalidSchedule: invalid schedule: 0 0 31 2 * : time difference between two schedules is less than 1 second']),
    );
  });
});

test('the time zone of a CronJob says when its day begins', () => {
  const cronJob = aCronJob('0 0 * * *', { timeZone: 'Asia/Tokyo' }, {}, '2026-01-01T12:00:00Z');
  expect(decided(cronJob, '2026-01-01T15:00:01Z').start).toBe('2026-01-01T15:00:00.000Z');
});

test('times that are spread unevenly are still found, the latest of them', () => {
  const cronJob = aCronJob('30 6-16/4 * * 1-5', {}, { lastScheduleTime: '2026-01-01T06:30:00Z' });
  expect(decided(cronJob, '2026-01-05T15:00:00Z').start).toBe('2026-01-05T14:30:00.000Z');
});

test('a changed schedule is looked at when its next time comes', () => {
  const changed = aCronJob('@daily', {}, { lastScheduleTime: '2026-01-01T05:00:00Z' });
  expect(time(nextStartMs(changed, Date.parse('2026-01-01T06:00:00Z')))).toBe('2026-01-02T00:00:00.100Z');
  expect(nextStartMs(aCronJob('@often'), 0)).toBeUndefined();
  expect(nextStartMs(aCronJob('@daily', { timeZone: 'Mars/Olympus' }), 0)).toBeUndefined();
});

test('a Job is named after the minute it was due in', () => {
  expect(jobName('tick', Date.parse('2026-01-01T00:05:00Z'))).toBe('tick-29453765');
});
