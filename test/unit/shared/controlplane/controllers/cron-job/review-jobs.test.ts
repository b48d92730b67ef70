import { describe, expect, test } from 'vitest';
import { reviewJobs, surplusJobs } from '../../../../../../shared/controlplane/controllers/cron-job/review-jobs.ts';
import { aCronJob, aJob, reference } from './a-cron-job.ts';

const NOBODY: ReadonlySet<string> = new Set();
const words = (notes: readonly { readonly reason: string; readonly message: string }[]): string[] =>
  notes.map(({ reason, message }) => `${reason}: ${message}`);

describe('the status of a CronJob', () => {
  test('stays as it is while its Jobs run', () => {
    const cronJob = aCronJob('@hourly', {}, { active: [reference('a')] });
    expect(reviewJobs(cronJob, [aJob('a')], NOBODY)).toEqual({ status: cronJob.status, changed: false, notes: [] });
  });
  test('loses Jobs that have finished, and remembers the last that succeeded', () => {
    const cronJob = aCronJob('@hourly', {}, { active: [reference('a'), reference('b'), reference('c')] });
    const done = aJob('a', 'Complete', { completionTime: '2026-01-01T02:00:00Z' });
    const { status, changed, notes } = reviewJobs(cronJob, [done, aJob('b', 'Failed'), aJob('c')], NOBODY);
    expect(changed).toBe(true);
    expect(status).toEqual({ active: [reference('c')], lastSuccessfulTime: '2026-01-01T02:00:00Z' });
    expect(words(notes)).toEqual([
      'SawCompletedJob: Saw completed job: a, condition: Complete',
      'SawCompletedJob: Saw completed job: b, condition: Failed',
    ]);
  });
  test('counts a success that it did not know to be active, and no older one', () => {
    const cronJob = aCronJob('@hourly', {}, { lastSuccessfulTime: '2026-01-01T02:00:00Z' });
    const at = (completionTime: string) => [aJob('a', 'Complete', { completionTime })];
    expect(reviewJobs(cronJob, at('2026-01-01T03:00:00Z'), NOBODY)).toMatchObject({
      changed: true,
      status: { lastSuccessfulTime: '2026-01-01T03:00:00Z' },
    });
    expect(reviewJobs(cronJob, at('2026-01-01T01:00:00Z'), NOBODY)).toMatchObject({ changed: false });
  });
  test('loses Jobs that are gone', () => {
    const cronJob = aCronJob('@hourly', {}, { active: [reference('a'), reference('b')] });
    const { status, notes } = reviewJobs(cronJob, [aJob('b')], new Set(['uid of a']));
    expect(status.active).toEqual([reference('b')]);
    expect(words(notes)).toEqual(['MissingJob: Active job went missing: a']);
  });
  test('takes in no running Job that the controller has not started, but tells of it', () => {
    const { status, changed, notes } = reviewJobs(aCronJob('@hourly'), [aJob('a')], NOBODY);
    expect({ status, changed }).toEqual({ status: { active: [] }, changed: false });
    expect(words(notes)).toEqual(['UnexpectedJob: Saw a job that the controller did not create or forgot: a']);
  });
});

describe('the history', () => {
  const started = (name: string, end: 'Complete' | 'Failed', startTime?: string) =>
    aJob(name, end, startTime === undefined ? {} : { startTime });
  const names = (limits: { successfulJobsHistoryLimit?: number; failedJobsHistoryLimit?: number }): string[] =>
    surplusJobs(aCronJob('@hourly', limits), [
      started('never-started', 'Complete'),
      started('late', 'Complete', '2026-01-01T03:00:00Z'),
      started('early-b', 'Complete', '2026-01-01T01:00:00Z'),
      started('early-a', 'Complete', '2026-01-01T01:00:00Z'),
      started('failed', 'Failed', '2026-01-01T01:00:00Z'),
      aJob('running'),
    ]).map(({ metadata }) => metadata.name);
  test('keeps as many as its limits say, those that started last', () => {
    expect(names({ successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 1 })).toEqual(['early-a', 'early-b']);
    expect(names({ successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0 })).toEqual([
      'early-a',
      'early-b',
      'late',
      'never-started',
      'failed',
    ]);
  });
  test('keeps everything where there are no limits', () => {
    expect(names({})).toEqual([]);
  });
});
