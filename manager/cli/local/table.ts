import { isFinished, type JobRow } from '../job-row.ts';
import { formatTable } from '../text-table.ts';
import { formatDuration } from '../time-text.ts';

/** The live table: one line per Job, under a heading, and why it waits or ended as it did. */
export function liveTable(rows: readonly JobRow[], nowMillis: number, width: number): string[] {
  const table = rows.map((row) => ({
    cells: [
      row.name,
      row.cluster ?? '-',
      row.state,
      `${row.active}`,
      `${row.succeeded}`,
      `${row.failed}`,
      formatDuration((row.finishedMillis ?? nowMillis) - row.createdMillis),
    ],
    note: backoffNote(row, nowMillis) ?? row.reason,
  }));
  const heads = ['JOB', 'CLUSTER', 'STATE', 'ACTIVE', 'SUCCEEDED', 'FAILED', 'AGE'];
  return formatTable({ heads, spare: ['AGE', 'FAILED', 'ACTIVE', 'CLUSTER', 'SUCCEEDED'], rows: table }, width);
}

/** One line for each Job that looks different from before: what a log or a pipe gets instead of the table. */
export function changedLines(rows: readonly JobRow[], previous: readonly JobRow[], startMillis: number, nowMillis: number): string[] {
  const before = new Map(previous.map((row) => [row.name, describe(row)]));
  return rows
    .filter((row) => before.get(row.name) !== describe(row))
    .map((row) => `${formatDuration(nowMillis - startMillis).padStart(6)}  ${describe(row)}`);
}

/** What ran where, and how long it was queued, on its way to the cluster, and running. */
export function summaryTable(rows: readonly JobRow[], submittedThrough: (name: string) => string, width: number): string[] {
  const between = (from: number | undefined, to: number | undefined): string =>
    from === undefined || to === undefined ? '-' : formatDuration(Math.max(0, to - from));
  const table = rows.map((row) => ({
    cells: [
      row.name,
      submittedThrough(row.name),
      row.cluster ?? '-',
      row.state,
      `${row.succeeded}`,
      `${row.failed}`,
      between(row.createdMillis, row.admittedMillis),
      between(row.admittedMillis, row.startedMillis),
      between(row.startedMillis, row.finishedMillis),
    ],
    note: row.state === 'Failed' ? row.reason : '',
  }));
  const heads = ['JOB', 'THROUGH', 'CLUSTER', 'OUTCOME', 'OK', 'FAILED', 'QUEUED', 'SENT', 'RAN'];
  return formatTable({ heads, spare: ['SENT', 'QUEUED', 'THROUGH', 'RAN', 'FAILED', 'CLUSTER', 'OK'], rows: table }, width);
}

/** Nothing of it runs, and it is no end: the Job controller lets time pass before it tries again what has failed. */
function backoffNote({ state, active, nextTryMillis }: JobRow, nowMillis: number | undefined): string | undefined {
  if (state !== 'Running' || active > 0 || nextTryMillis === undefined) return undefined;
  if (nowMillis === undefined) return 'waits for its next try';
  const seconds = Math.ceil((nextTryMillis - nowMillis) / 1000);
  return seconds > 0 ? `waits ${seconds} s for its next try` : 'starts its next try';
}

function describe(row: JobRow): string {
  const counts = row.state === 'Waiting' ? '' : ` (active ${row.active}, succeeded ${row.succeeded}, failed ${row.failed})`;
  const where = row.cluster === undefined ? '' : ` on ${row.cluster}`;
  const note = backoffNote(row, undefined) ?? (isFinished(row) && row.state === 'Complete' ? '' : row.reason);
  return `${row.name}: ${row.state}${where}${counts}${note === '' ? '' : `: ${note}`}`;
}
