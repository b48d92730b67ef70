import { describe, expect, test } from 'vitest';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { aRecord } from '../../../../support/jobs.ts';
import { formatAdmissionRecord } from '../../../../../manager/api/records.ts';
import { ADMISSION_ANNOTATION } from '../../../../../shared/api/names.ts';
import { isFinished, jobRow, withInstantsSeen, type JobRow } from '../../../../../manager/cli/job-row.ts';
import { changedLines, liveTable, summaryTable } from '../../../../../manager/cli/local/table.ts';
import { formatDuration } from '../../../../../manager/cli/time-text.ts';

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
      ? { annotations: { [ADMISSION_ANNOTATION]: formatAdmissionRecord({ ...aRecord(), ...placement }, { written: CREATED, seal: '' }) } }
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

  test('a start that is seen too late, as together with the end, is put as long before that as the wire says', () => {
    const placement = { cluster: 'east', since: at(1) };
    const admitted = withInstantsSeen(jobRow(aJob({}, placement)), undefined, Date.parse(at(1.2)));
    const ended = aJob({ startTime: at(2), completionTime: at(6) }, placement);
    expect(withInstantsSeen(jobRow(ended), admitted, Date.parse(at(6.5)))).toMatchObject({
      startedMillis: Date.parse(at(2.5)),
      finishedMillis: Date.parse(at(6.5)),
    });
    const late = withInstantsSeen(jobRow(aJob({ startTime: at(2) }, placement)), admitted, Date.parse(at(6.4)));
    expect(withInstantsSeen(jobRow(ended), late, Date.parse(at(6.5)))).toMatchObject({ startedMillis: Date.parse(at(2.5)) });
    const inTime = withInstantsSeen(jobRow(aJob({ startTime: at(2) }, placement)), admitted, Date.parse(at(2.9)));
    expect(withInstantsSeen(jobRow(ended), inTime, Date.parse(at(6.5)))).toMatchObject({ startedMillis: Date.parse(at(2.9)) });
    // Nothing starts before it was admitted.
    const soon = aJob({ startTime: at(1), completionTime: at(3) }, placement);
    expect(withInstantsSeen(jobRow(soon), admitted, Date.parse(at(3)))).toMatchObject({ startedMillis: Date.parse(at(1.2)) });
  });
});

describe('the table', () => {
  const done = jobRow(
    aJob(
      { startTime: at(2), completionTime: at(8), succeeded: 4, conditions: [{ type: 'Complete', status: 'True' }] },
      { cluster: 'east', since: at(1.5) },
    ),
  );

  const waiting: JobRow = { ...jobRow(aJob({})), name: 'waiting', reason: 'cluster queue batch: flavor default is short of 2750m cpu' };
  const retry: JobRow = {
    ...jobRow(aJob({ startTime: at(2), failed: 1 }, { cluster: 'west', since: at(1) })),
    name: 'retry',
    nextTryMillis: Date.parse(at(60)),
  };

  test('reasons stand beside their rows where the terminal has room for them', () => {
    expect(liveTable([done, waiting], Date.parse(at(60)), 120)).toEqual([
      'JOB      CLUSTER  STATE     ACTIVE  SUCCEEDED  FAILED  AGE',
      'pi       east     Complete  0       4          0       8.0s',
      'waiting  -        Waiting   0       0          0       1m00s  cluster queue batch: flavor default is short of 2750m cpu',
    ]);
  });

  test('at 80 columns they stand below, and in a narrow terminal are wrapped between words, with columns left out', () => {
    expect(liveTable([done, waiting], Date.parse(at(60)), 79).slice(2)).toEqual([
      'waiting  -        Waiting   0       0          0       1m00s',
      '    cluster queue batch: flavor default is short of 2750m cpu',
    ]);
    expect(liveTable([done, waiting], Date.parse(at(60)), 40)).toEqual([
      'JOB      CLUSTER  STATE     SUCCEEDED',
      'pi       east     Complete  4',
      'waiting  -        Waiting   0',
      '    cluster queue batch: flavor default',
      '    is short of 2750m cpu',
    ]);
  });

  test.each([79, 59, 40, 20, 8, 3, 1])('no line is longer than %s columns', (width) => {
    const failed: JobRow = { ...done, name: 'failure-policy', state: 'Failed', reason: 'PodFailurePolicy', cluster: 'west' };
    const rows = [done, waiting, retry, failed];
    const lines = [...liveTable(rows, Date.parse(at(30)), width), ...summaryTable(rows, () => 'BullMQ', width)];
    expect(lines.filter((line) => line.length > width)).toEqual([]);
  });

  test('a Job between two tries says when the next will be, also when its failed pod is not counted yet', () => {
    const note = (row: JobRow, seconds: number): string | undefined =>
      liveTable([row], Date.parse(at(seconds)), 120)[1]
        ?.split(/ {2,}/)
        .at(7);
    expect(note(retry, 52)).toBe('waits 8 s for its next try');
    expect(note({ ...retry, failed: 0 }, 52.5)).toBe('waits 8 s for its next try');
    expect(note(retry, 61)).toBe('starts its next try');
    expect(note({ ...retry, active: 1 }, 52)).toBeUndefined();
    expect(changedLines([retry], [], 0, 8000)).toEqual([
      '  8.0s  retry: Running on west (active 0, succeeded 0, failed 1): waits for its next try',
    ]);
  });

  test('the summary splits the life of a Job into queued, sent and running', () => {
    expect(summaryTable([done], () => 'API', 79)).toEqual([
      'JOB  THROUGH  CLUSTER  OUTCOME   OK  FAILED  QUEUED  SENT   RAN',
      'pi   API      east     Complete  4   0       1.5s    500ms  6.0s',
    ]);
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
