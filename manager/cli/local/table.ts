import { isFinished, type JobRow } from './job-row.ts';

/** Columns side by side, each as wide as its widest cell. The last column is not padded. */
export function formatColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows.reduce<number[]>((known, row) => row.map((cell, column) => Math.max(known[column] ?? 0, cell.length)), []);
  return rows.map((row) => row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  '));
}

/** `850ms`, `4.2s`, `3m05s`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 1000) return `${Math.max(0, Math.round(durationMs))}ms`;
  if (durationMs < 60_000) return `${(durationMs / 1000).toFixed(1)}s`;
  const seconds = Math.round(durationMs / 1000);
  return `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
}

/** The live table: one line per Job, under a heading. `width` cuts lines, so that a terminal never wraps them. */
export function liveTable(rows: readonly JobRow[], nowMillis: number, width: number): string[] {
  const cells = rows.map((row) => [...rowCells(row), formatDuration((row.finishedMillis ?? nowMillis) - row.createdMillis), row.reason]);
  return formatColumns([['JOB', 'CLUSTER', 'STATE', 'ACTIVE', 'SUCCEEDED', 'FAILED', 'AGE', ''], ...cells]).map((line) =>
    line.trimEnd().slice(0, width),
  );
}

/** One line for each Job that looks different from before: what a log or a pipe gets instead of the table. */
export function changedLines(rows: readonly JobRow[], previous: readonly JobRow[], startMillis: number, nowMillis: number): string[] {
  const before = new Map(previous.map((row) => [row.name, describe(row)]));
  return rows
    .filter((row) => before.get(row.name) !== describe(row))
    .map((row) => `${formatDuration(nowMillis - startMillis).padStart(6)}  ${describe(row)}`);
}

/** What ran where, and how long it was queued, on its way to the cluster, and running. */
export function summaryTable(rows: readonly JobRow[], submittedThrough: (name: string) => string): string[] {
  const between = (from: number | undefined, to: number | undefined): string =>
    from === undefined || to === undefined ? '-' : formatDuration(Math.max(0, to - from));
  const cells = rows.map((row) => [
    row.name,
    submittedThrough(row.name),
    row.cluster ?? '-',
    row.state === 'Failed' ? `Failed (${row.reason})` : row.state,
    `${row.succeeded}`,
    `${row.failed}`,
    between(row.createdMillis, row.admittedMillis),
    between(row.admittedMillis, row.startedMillis),
    between(row.startedMillis, row.finishedMillis),
  ]);
  return formatColumns([['JOB', 'THROUGH', 'CLUSTER', 'OUTCOME', 'SUCCEEDED', 'FAILED', 'QUEUED', 'DISPATCHED', 'RUNNING'], ...cells]);
}

const rowCells = (row: JobRow): string[] => [row.name, row.cluster ?? '-', row.state, `${row.active}`, `${row.succeeded}`, `${row.failed}`];

const describe = (row: JobRow): string => {
  const counts = `active ${row.active}, succeeded ${row.succeeded}, failed ${row.failed}`;
  const where = row.cluster === undefined ? '' : ` on ${row.cluster}`;
  return `${row.name}: ${row.state}${where}${row.state === 'Waiting' ? '' : ` (${counts})`}${row.reason === '' || (isFinished(row) && row.state === 'Complete') ? '' : `: ${row.reason}`}`;
};
