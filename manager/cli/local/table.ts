import { isFinished, type JobRow } from './job-row.ts';
import { cutLine, wrapWords } from './text-layout.ts';

/** One line of cells, and what is to be said about it beside or below them. */
export type TableRow = { readonly cells: readonly string[]; readonly note: string };

/** A table for a terminal: `spare` names the columns that may be left out when the lines are too long, the first of them first. */
export type Table = { readonly heads: readonly string[]; readonly spare: readonly string[]; readonly rows: readonly TableRow[] };

const GAP = '  ';
const NOTE_INDENT = ' '.repeat(4);

/**
 * Lines of at most `width` columns. Cells stand side by side, each column as wide as its widest cell. Notes stand behind the cells where the
 * longest of them fits there, and else below their row, wrapped between words.
 */
export function formatTable({ heads, spare, rows }: Table, width: number): string[] {
  const [headLine = '', ...lines] = columnsWithin(width, spare, [heads, ...rows.map(({ cells }) => cells)]);
  const room = width - headLine.length - GAP.length;
  const beside = rows.every(({ note }) => cutLine(note, room) === note);
  const below = (note: string): string[] =>
    note === '' ? [] : wrapWords(note, width - NOTE_INDENT.length).map((line) => `${NOTE_INDENT}${line}`);
  return [
    headLine,
    ...rows.flatMap(({ note }, index) => {
      const line = lines[index] ?? '';
      return beside ? [`${line}${GAP}${note}`] : [line, ...below(note)];
    }),
  ].map((line) => cutLine(line.trimEnd(), width));
}

/** Names and numbers are plain ASCII: a character is a column. */
function columnsWithin(width: number, spare: readonly string[], lines: readonly (readonly string[])[]): string[] {
  const widths = (lines[0] ?? []).map((_head, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const formatted = lines.map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(GAP));
  const [dropped, ...others] = spare;
  if (dropped === undefined || (formatted[0]?.length ?? 0) <= width) return formatted;
  const column = lines[0]?.indexOf(dropped) ?? -1;
  return columnsWithin(
    width,
    others,
    lines.map((cells) => cells.filter((_cell, index) => index !== column)),
  );
}

/** `850ms`, `4.2s`, `3m05s`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 1000) return `${Math.max(0, Math.round(durationMs))}ms`;
  if (durationMs < 60_000) return `${(durationMs / 1000).toFixed(1)}s`;
  const seconds = Math.round(durationMs / 1000);
  return `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
}

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
