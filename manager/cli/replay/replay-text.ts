import type { ReplayReport } from './report.ts';

type Figures = NonNullable<ReplayReport['queues'][number]['logged']>;

/** The report for people, in lines of 80 columns at most, but for names that are longer. */
export function replayText(report: ReplayReport): string {
  const { from, to, jobs, replaced, missing, agreement, queues } = report;
  const lines = [
    `${from} to ${to} (${lengthText(Date.parse(to) - Date.parse(from))}), ${counted(jobs, 'Job')} in ${counted(queues.length, 'queue')}`,
  ];
  if (replaced.length > 0) lines.push(`with others: ${replaced.join(', ')}`);
  const { droppedLines, cutOffLines, breaks } = missing;
  if (droppedLines > 0)
    lines.push(`the log misses ${counted(droppedLines, 'line')} that could not be written: what is between is not known`);
  if (cutOffLines > 0) lines.push(`passed over, because cut off: ${counted(cutOffLines, 'line')}`);
  if (breaks > 0) lines.push(`begun anew ${counted(breaks, 'time')}: what happened in between is not known`);
  if (report.unknownEnds > 0)
    lines.push(`ended while nobody wrote: ${counted(report.unknownEnds, 'Job')}; taken to have run until it was found out`);
  if (report.guessedRunTimes > 0) lines.push(`run times guessed from others: ${counted(report.guessedRunTimes, 'Job')}`);
  lines.push(...agreementLines(report, agreement), '', header());
  for (const { queue = 'in no queue', logged, replayed } of queues) {
    lines.push(`${queue} (${counted((logged ?? replayed)?.jobs ?? 0, 'Job')})`);
    if (logged !== undefined) lines.push(row('logged', logged));
    if (replayed !== undefined) lines.push(row('replayed', replayed));
  }
  return `${lines.map(printable).join('\n')}\n`;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** A log may have been written by anybody: what would move the cursor stands as a question mark. */
const printable = (line: string): string => line.replaceAll(/\p{Cc}/gu, '?');

function agreementLines({ isOtherPolicy }: ReplayReport, { cycles, of, firstDifference: first }: ReplayReport['agreement']): string[] {
  if (first === undefined) return [`decided as it was, in all ${of} cycles`];
  const until = isOtherPolicy ? '' : ', though under the setup of the log';
  return [
    `decided as it was in ${cycles} of ${of} cycles${until}; then otherwise, at ${first.at}:`,
    `  logged:   ${first.logged}`,
    `  replayed: ${first.replayed}`,
  ];
}

const COLUMNS = ['admitted', 'preempted', 'waiting', 'p50', 'p90', 'p99', 'used', 'makespan'] as const;
const WIDTHS: readonly number[] = [9, 10, 8, 8, 8, 8, 6, 10];

const header = (): string => `${' '.repeat(11)}${COLUMNS.map((column, index) => column.padStart(WIDTHS[index] ?? 0)).join('')}`;

function row(name: string, { admitted, preempted, waiting, waits, used, makespan }: Figures): string {
  const cells = [
    String(admitted),
    String(preempted),
    String(waiting),
    ...[waits?.p50, waits?.p90, waits?.p99, undefined].slice(0, 3).map((each) => (each === undefined ? '-' : lengthText(each))),
    used === undefined ? '-' : `${Math.round(used.part * 100)}%`,
    makespan === undefined ? '-' : lengthText(makespan),
  ];
  return `  ${name.padEnd(9)}${cells.map((cell, index) => cell.padStart(WIDTHS[index] ?? 0)).join('')}`;
}

/** Two units, which is as much as anybody compares: `1.4s`, `3m05s`, `2h10m`, `4d03h`. */
export function lengthText(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 60) return seconds < 10 ? `${Math.round(seconds * 10) / 10}s` : `${Math.round(seconds)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${two(Math.floor(seconds) % 60)}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours}h${two(minutes % 60)}m` : `${Math.floor(hours / 24)}d${two(hours % 24)}h`;
}

const two = (count: number): string => String(count).padStart(2, '0');
