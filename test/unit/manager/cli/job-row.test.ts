import { describe, expect, test } from 'vitest';
import { isFinished, jobRow, withInstantsSeen, type JobRow } from '../../../../manager/cli/job-row.ts';
import { aCondition, aHomeJob, anAdmittedJob } from '../../../support/jobs.ts';

const CREATED = Date.parse('2026-01-01T00:00:00Z');
const ENDED = '2026-01-01T00:05:00Z';
const startTime = '2026-01-01T00:02:00Z';

describe('the state of a Job', () => {
  test('it waits, and says why, until it is admitted and no longer suspended', () => {
    const waits = aCondition('QuotaReserved', { status: 'False', message: 'short of 1 cpu' });
    expect(jobRow(aHomeJob())).toMatchObject({ state: 'Waiting', reason: '', cluster: undefined, admittedMillis: undefined });
    expect(jobRow(aHomeJob({ status: { conditions: [waits] } }))).toMatchObject({ state: 'Waiting', reason: 'short of 1 cpu' });
    const suspended = anAdmittedJob({ spec: { suspend: true }, status: { startTime } });
    expect(jobRow(suspended)).toMatchObject({ state: 'Waiting', cluster: 'eu-1' });
    expect(jobRow(aHomeJob({ spec: { suspend: false } }))).toMatchObject({ state: 'Waiting' });
  });

  test('it is dispatched with its record, and runs with its start', () => {
    expect(jobRow(anAdmittedJob())).toMatchObject({ state: 'Dispatching', cluster: 'eu-1', startedMillis: undefined });
    const running = jobRow(anAdmittedJob({ status: { startTime, active: 2, succeeded: 1, failed: 3 } }));
    expect(running).toMatchObject({ state: 'Running', active: 2, succeeded: 1, failed: 3, startedMillis: CREATED + 120_000 });
    expect(isFinished(running)).toBe(false);
  });

  test('it ends with a condition that is true, and says why it failed', () => {
    const ended = (type: string, status = 'True') =>
      jobRow(
        anAdmittedJob({
          status: { startTime, conditions: [aCondition(type, { status, reason: 'BackoffLimitExceeded', lastTransitionTime: ENDED })] },
        }),
      );
    expect(ended('Complete')).toMatchObject({ state: 'Complete', reason: '', finishedMillis: CREATED + 300_000 });
    expect(ended('Failed')).toMatchObject({ state: 'Failed', reason: 'BackoffLimitExceeded', finishedMillis: CREATED + 300_000 });
    expect(ended('Failed', 'False')).toMatchObject({ state: 'Running', finishedMillis: undefined });
    expect([ended('Complete'), ended('Failed'), ended('Failed', 'False')].map(isFinished)).toEqual([true, true, false]);
  });

  test('it has ended when its last pod did, where that is known', () => {
    const completionTime = '2026-01-01T00:04:00Z';
    const conditions = [aCondition('Complete', { lastTransitionTime: ENDED })];
    expect(jobRow(anAdmittedJob({ status: { startTime, completionTime, conditions } })).finishedMillis).toBe(CREATED + 240_000);
  });
});

describe('instants as they were seen', () => {
  const row = (parts: Partial<JobRow> = {}): JobRow => ({ ...jobRow(aHomeJob()), createdMillis: 0, ...parts });
  const instants = ({ createdMillis, admittedMillis, startedMillis, finishedMillis }: JobRow) => [
    createdMillis,
    admittedMillis,
    startedMillis,
    finishedMillis,
  ];

  test('each is when it was first seen, and stays', () => {
    const created = withInstantsSeen(row(), undefined, 100);
    const admitted = withInstantsSeen(row({ admittedMillis: 0 }), created, 250);
    const started = withInstantsSeen(row({ admittedMillis: 0, startedMillis: 1_000 }), admitted, 1_300);
    const finished = withInstantsSeen(row({ admittedMillis: 0, startedMillis: 1_000, finishedMillis: 3_000 }), started, 3_400);
    expect([created, admitted, started, finished].map(instants)).toEqual([
      [100, undefined, undefined, undefined],
      [100, 250, undefined, undefined],
      [100, 250, 1_300, undefined],
      [100, 250, 1_300, 3_400],
    ]);
  });

  const ended = { admittedMillis: 0, startedMillis: 1_000, finishedMillis: 6_000 };
  test.each([
    ['seen together with its end is as long before it as the wire says', { admittedMillis: 200 }, 9_000, 4_000],
    ['seen together with its end is never before its admission', { admittedMillis: 5_500 }, 9_000, 5_500],
    ['seen late is moved back', { admittedMillis: 200, startedMillis: 7_000 }, 9_000, 4_000],
    ['seen late by a whole second at most stays', { admittedMillis: 200, startedMillis: 5_000 }, 9_000, 5_000],
    ['seen late by more than a second is moved back', { admittedMillis: 200, startedMillis: 5_001 }, 9_000, 4_000],
  ])('a start %s', (_what, seen, nowMillis, started) => {
    const after = withInstantsSeen(row(ended), row({ createdMillis: 50, ...seen }), nowMillis);
    expect(instants(after)).toEqual([50, seen.admittedMillis, started, nowMillis]);
  });
});
