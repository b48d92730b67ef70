import { expect, test } from 'vitest';
import { reportCsv, reportTable, reportValue } from '../../../../../manager/cli/usage/report-table.ts';
import { formatTable } from '../../../../../manager/cli/text-table.ts';
import type { UsageReport } from '../../../../../manager/history/usage-report.ts';

const REPORT: UsageReport = {
  by: 'user',
  fromMs: Date.UTC(2026, 0, 1),
  untilMs: Date.UTC(2026, 1, 1),
  isPartial: false,
  rows: [
    { name: 'oidc:ann', jobs: 12, failed: 1, admittedHours: 30.256, hours: { pods: 60.5, 'example.com/gpu': 8, memory: 12.3, cpu: 45 } },
    { name: '', jobs: 1, failed: 0, admittedHours: 0.25, hours: { cpu: 0.125 } },
  ],
};

test('one line for each, with the hours of each resource in the order of top', () => {
  expect(formatTable(reportTable(REPORT), 120)).toEqual([
    'USER         JOBS  FAILED  HOURS  CPU-HOURS  MEMORY-HOURS  EXAMPLE.COM/GPU-HOURS  PODS-HOURS',
    'oidc:ann     12    1       30.26  45         12.3          8                      60.5',
    '(not known)  1     0       0.25   0.13       0             0                      0',
  ]);
  expect(formatTable(reportTable(REPORT), 60)[0]).toBe('USER         JOBS  FAILED  HOURS  CPU-HOURS  MEMORY-HOURS');
});

test('CSV has a field for each, and none that a spreadsheet would compute', () => {
  expect(reportCsv(REPORT).split('\r\n')).toEqual([
    'user,jobs,failed,admitted hours,cpu hours,memory hours,example.com/gpu hours,pods hours',
    'oidc:ann,12,1,30.26,45,12.3,8,60.5',
    ',1,0,0.25,0.13,0,0,0',
    '',
  ]);
  const [row] = REPORT.rows;
  const named = (name: string) => reportCsv({ ...REPORT, rows: row === undefined ? [] : [{ ...row, name }] }).split('\r\n')[1];
  expect(named('=HYPERLINK("x")')).toMatch(/^"'=HYPERLINK\(""x""\)",12,/);
  expect(named('a,b')).toMatch(/^"a,b",12,/);
});

test('programs get the period as times, and are told what is missing', () => {
  expect(reportValue(REPORT)).toEqual({ by: 'user', from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z', rows: REPORT.rows });
  expect(reportValue({ ...REPORT, isPartial: true })).toMatchObject({ isPartial: true });
});
