import { describe, expect, test } from 'vitest';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { formatAdmissionRecord } from '../../../../../manager/api/records.ts';
import { ADMISSION_ANNOTATION } from '../../../../../shared/api/names.ts';
import { isFinished, jobRow, withInstantsSeen } from '../../../../../manager/cli/local/job-row.ts';
import { changedLines, formatDuration, liveTable, summaryTable } from '../../../../../manager/cli/local/table.ts';

const CREATED = '2026-01-01T00:00:00Z';
const at = (seconds: number): string => new Date(Date.parse(CREATED) + seconds * 1000).toISOString();

const aJob = (status: Job['status'], placement?: { cluster: string; since: string }): Job => ({
  metadata: {
    name: 'pi',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: CREATED,
    ...(placement
      ? { annotations: { [ADMISSION_ANNOTATION]: formatAdmissionRecord({ clusterQueue: 'q', flavors: {}, epoch: 1, ...placement }) } }
      : {}),
  },
  spec: { suspend: placement === undefined, template: {} },
  ...(status ? { status } : {}),
});

describe('a row of the table', () => {
  test('a Job without a record waits, and says for what', () => {
    const row = jobRow(
      aJob({ conditions: [{ type: 'QuotaReserved', status: 'False', reason: 'InsufficientQuota', message: 'short of 1 cpu' }] }),
    );
    expect(row).toMatchObject({ state: 'Waiting', cluster: undefined, reason: 'short of 1 cpu' });
    expect(isFinished(row)).toBe(false);
  });

  test('an admitted Job is dispatching until its copy has started, then running', () => {
    const placement = { cluster: 'east', since: at(1) };
    expect(jobRow(aJob({}, placement))).toMatchObject({ state: 'Dispatching', cluster: 'east' });
    expect(jobRow(aJob({ startTime: at(2), active: 2 }, placement))).toMatchObject({ state: 'Running', active: 2 });
  });

  test('a failed Job shows the reason of its Failed condition', () => {
    const row = jobRow(
      aJob(
        { startTime: at(2), conditions: [{ type: 'Failed', status: 'True', reason: 'PodFailurePolicy', lastTransitionTime: at(5) }] },
        { cluster: 'west', since: at(1) },
      ),
    );
    expect(row).toMatchObject({ state: 'Failed', reason: 'PodFailurePolicy', finishedMillis: Date.parse(at(5)) });
  });
});

describe('instants of a row', () => {
  test('what was seen to happen replaces the whole seconds of the wire, and stays', () => {
    const placement = { cluster: 'east', since: at(1) };
    const admitted = withInstantsSeen(jobRow(aJob({}, placement)), undefined, Date.parse(at(1.2)));
    const started = withInstantsSeen(jobRow(aJob({ startTime: at(1) }, placement)), admitted, Date.parse(at(1.5)));
    expect(started).toMatchObject({ admittedMillis: Date.parse(at(1.2)), startedMillis: Date.parse(at(1.5)), finishedMillis: undefined });
  });
});

describe('the table', () => {
  const done = jobRow(
    aJob(
      { startTime: at(2), completionTime: at(8), succeeded: 4, conditions: [{ type: 'Complete', status: 'True' }] },
      { cluster: 'east', since: at(1.5) },
    ),
  );

  test('the live table lines up its columns and never exceeds the width of the terminal', () => {
    const lines = liveTable([done], Date.parse(at(60)), 60);
    expect(lines).toEqual([
      'JOB  CLUSTER  STATE     ACTIVE  SUCCEEDED  FAILED  AGE',
      'pi   east     Complete  0       4          0       8.0s',
    ]);
    expect(liveTable([done], Date.parse(at(60)), 20).every((line) => line.length <= 20)).toBe(true);
  });

  test('the summary splits the life of a Job into queued, dispatched and running', () => {
    expect(summaryTable([done], () => 'API')[1]).toBe('pi   API      east     Complete  4          0       1.5s    500ms       6.0s');
  });

  test('a pipe gets a line only for what has changed', () => {
    const start = Date.parse(CREATED);
    expect(changedLines([done], [], start, start + 8000)).toEqual(['  8.0s  pi: Complete on east (active 0, succeeded 4, failed 0)']);
    expect(changedLines([done], [done], start, start + 9000)).toEqual([]);
  });

  test('durations are short to read', () => {
    expect([850, 4200, 185_000, -5].map(formatDuration)).toEqual(['850ms', '4.2s', '3m05s', '0ms']);
  });
});
