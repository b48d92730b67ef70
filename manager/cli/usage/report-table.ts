import { toWireTime } from '../../../shared/api/wire-time.ts';
import type { UsageReport, UsageRow } from '../../history/usage-report.ts';
import type { Table } from '../text-table.ts';

export function reportTable({ by, rows }: UsageReport): Table {
  const resources = resourcesOf(rows);
  const heads = resources.map((resource) => `${resource.toUpperCase()}-HOURS`);
  return {
    heads: [by.toUpperCase(), 'JOBS', 'FAILED', 'HOURS', ...heads],
    spare: heads.slice(2),
    rows: rows.map((row) => ({ cells: [row.name || '(not known)', ...numbersOf(row, resources).map(String)], note: '' })),
  };
}

/** Comma-separated values (RFC 4180), of which spreadsheets take no field for a formula. */
export function reportCsv({ by, rows }: UsageReport): string {
  const resources = resourcesOf(rows);
  const heads = [by, 'jobs', 'failed', 'admitted hours', ...resources.map((resource) => `${resource} hours`)];
  return [heads, ...rows.map((row) => [row.name, ...numbersOf(row, resources).map(String)])]
    .map((fields) => `${fields.map(csvField).join(',')}\r\n`)
    .join('');
}

/** For programs. */
export const reportValue = ({ by, fromMs, untilMs, isPartial, rows }: UsageReport): object => ({
  by,
  from: toWireTime(fromMs),
  to: toWireTime(untilMs),
  ...(isPartial ? { isPartial } : {}),
  rows,
});

/** In the order of the columns of `top`: cpu and memory first, others by name, the number of pods last. */
function resourcesOf(rows: readonly UsageRow[]): string[] {
  const rank = (resource: string): number => ({ cpu: 0, memory: 1, pods: 3 })[resource] ?? 2;
  return [...new Set(rows.flatMap(({ hours }) => Object.keys(hours)))].toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

const numbersOf = ({ jobs, failed, admittedHours, hours }: UsageRow, resources: readonly string[]): number[] =>
  [jobs, failed, admittedHours, ...resources.map((resource) => hours[resource] ?? 0)].map((value) => Math.round(value * 100) / 100);

function csvField(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
