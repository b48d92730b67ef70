import { expect, test } from 'vitest';
import type { HistoryRecord } from '../../../../manager/history/history-record.ts';
import { usageReport, type UsageGroup, type UsagePeriod, type UsageRow } from '../../../../manager/history/usage-report.ts';

const T = Date.parse('2026-01-01T00:00:00Z');
const at = (hours: number): string => new Date(T + hours * 3_600_000).toISOString();
const period = (from: number, until: number) => ({ fromMs: T + from * 3_600_000, untilMs: T + until * 3_600_000 });
const aJob = (parts: Partial<HistoryRecord>): HistoryRecord => ({
  uid: 'u',
  namespace: 'team',
  name: 'train',
  outcome: 'Complete',
  clusterQueue: 'gpu',
  cluster: 'east',
  user: 'ann',
  created: at(0),
  admitted: at(1),
  ended: at(3),
  requests: { cpu: '1500m', memory: '2Gi', 'example.com/gpu': '4', pods: '2' },
  succeeded: 1,
  failed: 0,
  ...parts,
});
const usageOf = (records: readonly HistoryRecord[], by: UsageGroup, when: UsagePeriod) => usageReport(records, by, when, false).rows;
const summed = (rows: readonly UsageRow[]) =>
  rows.map(({ name, jobs, failed, admittedHours, hours }) => [name, jobs, failed, admittedHours, hours['cpu']]);

test('hours of cores, GiB, pods and devices are summed by whoever submitted or created the Jobs, the largest first', () => {
  const { user: _user, ...ofNobody } = aJob({});
  const jobs = [aJob({}), aJob({ outcome: 'Failed', ended: at(2) }), aJob({ submittedBy: 'bob', ended: at(11) }), ofNobody];
  const rows = usageOf(jobs, 'user', period(0, 24));
  expect(summed(rows)).toEqual([
    ['bob', 1, 0, 10, 15],
    ['ann', 2, 1, 3, 4.5],
    ['', 1, 0, 2, 3],
  ]);
  expect(rows[1]?.hours).toEqual({ cpu: 4.5, memory: 6, 'example.com/gpu': 12, pods: 6 });
});

test('of an admission counts what lies in the period, and of a Job that moved each part where it ran', () => {
  const moved = aJob({
    admitted: at(8),
    cluster: 'west',
    ended: at(10),
    pastAdmissions: [{ cluster: 'east', since: at(1), until: at(4) }],
    admittedSeconds: 5 * 3_600,
  });
  expect(summed(usageOf([moved], 'cluster', period(0, 24)))).toEqual([
    ['east', 1, 0, 3, 4.5],
    ['west', 1, 0, 2, 3],
  ]);
  expect(summed(usageOf([moved], 'queue', period(3, 9)))).toEqual([['gpu', 1, 0, 2, 3]]);
  expect(usageOf([moved], 'namespace', period(4, 8))).toEqual([]);
  expect(
    usageOf(
      [
        aJob({
          evicted: true,
          admittedSeconds: 3_600,
          admitted: at(1),
          ended: at(9),
          pastAdmissions: [{ cluster: 'east', since: at(1), until: at(2) }],
        }),
      ],
      'user',
      period(0, 24),
    ),
  ).toMatchObject([{ admittedHours: 1 }]);
});

test('time whose place is not recorded counts before what is, and requests that nobody can read count as none', () => {
  const old = aJob({ admitted: at(8), ended: at(10), admittedSeconds: 5 * 3_600 });
  expect(summed(usageOf([old], 'user', period(0, 24)))).toEqual([['ann', 1, 0, 5, 7.5]]);
  expect(summed(usageOf([old], 'user', period(0, 7)))).toEqual([['ann', 1, 0, 2, 3]]);
  expect(usageOf([aJob({ requests: { cpu: 'much', pods: '1' } })], 'user', period(0, 24))).toMatchObject([{ hours: { pods: 2 } }]);
});
