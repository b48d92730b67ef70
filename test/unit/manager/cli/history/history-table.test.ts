import { expect, test } from 'vitest';
import { historyTable, podLines } from '../../../../../manager/cli/history/history-table.ts';
import { formatTable } from '../../../../../manager/cli/text-table.ts';

test('Jobs that are over stand in a table, with the reason of those that failed', () => {
  const records = [
    {
      uid: 'u',
      namespace: 'team',
      name: 'sum',
      outcome: 'Failed' as const,
      reason: 'BackoffLimitExceeded',
      message: 'too\u001boften',
      localQueue: 'main',
      cluster: 'east',
      placements: 2,
      created: '2026-01-01T00:00:00Z',
      admitted: '2026-01-01T00:00:05Z',
      started: '2026-01-01T00:00:10Z',
      ended: '2026-01-01T00:01:10Z',
      succeeded: 1,
      failed: 3,
    },
    {
      uid: 'v',
      namespace: 'b',
      name: 'gone',
      outcome: 'Deleted' as const,
      created: '2026-01-01T00:00:00Z',
      ended: '2026-01-01T00:00:10Z',
      succeeded: 0,
      failed: 0,
    },
  ];
  const nowMs = Date.parse('2026-01-01T01:01:10Z');
  const lines = formatTable(historyTable(records, true, nowMs), 200).map((line) => line.replaceAll(/ +/g, ' '));
  expect(lines[0]).toBe('JOB OUTCOME QUEUE CLUSTER OK FAILED MOVES WAITED RAN ENDED');
  expect(lines[1]).toMatch(/^team\/sum Failed main east 1 3 1 10\.0s 1m00s 60m ago BackoffLimitExceeded: too often$/);
  expect(lines[2]).toMatch(/^b\/gone Deleted 0 0 0 /);
  expect(formatTable(historyTable(records, false, nowMs), 80).every((line) => line.length <= 80)).toBe(true);
});

test('objects of other kinds are told by their kind, and a Job of another group by its resource', () => {
  const record = {
    uid: 'u',
    namespace: 'team',
    outcome: 'Complete' as const,
    created: '2026-01-01T00:00:00Z',
    ended: '2026-01-01T00:01:00Z',
    succeeded: 0,
    failed: 0,
  };
  const records = [
    { ...record, name: 'a' },
    { ...record, name: 'b', kind: 'JobSet', resource: 'jobsets.jobset.x-k8s.io' },
    { ...record, name: 'c', kind: 'Job', resource: 'jobs.batch.volcano.sh' },
  ];
  expect(historyTable(records, false, 0).rows.map(({ cells }) => cells.slice(0, 2))).toEqual([
    ['a', 'Job'],
    ['b', 'JobSet'],
    ['c', 'jobs.batch.volcano.sh'],
  ]);
});

test('a Job that was preempted waited while it was in no place, and ran in none after its eviction', () => {
  const preempted = {
    uid: 'u',
    namespace: 'team',
    name: 'big',
    outcome: 'Deleted' as const,
    created: '2026-01-01T00:00:00Z',
    pastAdmissions: [{ cluster: 'east', since: '2026-01-01T00:00:05Z', until: '2026-01-01T00:00:45Z' }],
    succeeded: 0,
    failed: 0,
  };
  const moved = {
    ...preempted,
    admitted: '2026-01-01T00:01:05Z',
    started: '2026-01-01T00:01:06Z',
    ended: '2026-01-01T00:01:16Z',
    admittedSeconds: 51,
  };
  const waiting = {
    ...preempted,
    admitted: '2026-01-01T00:00:05Z',
    evicted: true as const,
    started: '2026-01-01T00:00:06Z',
    ended: '2026-01-01T00:01:15Z',
    admittedSeconds: 40,
  };
  const times = (record: typeof moved | typeof waiting) => {
    const [row] = historyTable([record], false, 0).rows;
    return row?.cells.slice(7, 9);
  };
  expect(times(moved)).toEqual(['26.0s', '10.0s']);
  expect(times(waiting)).toEqual(['35.0s', '39.0s']);
  expect(times({ ...moved, admittedSeconds: 500 })).toEqual(['', '10.0s']);
});

test('pods stand in a line each', () => {
  const pods = [
    { pod: 'sum-a', phase: 'Failed' as const, exitCode: 3, lastLine: 'no\u202efile' },
    { pod: 'sum-b', phase: 'Succeeded' as const, exitCode: 0 },
  ];
  expect(podLines([{ cluster: 'east', epoch: 1, copyUid: 'c', pods }])).toEqual([
    'pod sum-a on cluster "east" ended with exit code 3: no\\u{202e}file',
    'pod sum-b on cluster "east" succeeded',
  ]);
});
