import { JOB_SET_EXAMPLE, type Example } from './examples.ts';
import type { JobRow } from '../job-row.ts';
import type { PodOutput } from './pod-watch.ts';
import type { SubmitterOutcome } from './submit-examples.ts';
import { formatDuration } from '../time-text.ts';
import { summaryTable } from './table.ts';
import { wrapHanging } from '../text-layout.ts';

export type SummaryInput = {
  readonly examples: readonly Example[];
  readonly rows: readonly JobRow[];
  readonly outcomes: readonly SubmitterOutcome[];
  readonly results: readonly PodOutput[];
  readonly externalJobs: readonly string[];
  readonly tookMs: number;
  /** Columns of the terminal; infinite in a pipe. */
  readonly width: number;
};

export type Summary = {
  readonly lines: readonly string[];
  /** What is not as expected; empty when all is well. */
  readonly problems: readonly string[];
};

/** What ran where, what came out, and whether it is what was expected. */
export function summarize({ examples, rows, outcomes, results, externalJobs, tookMs, width }: SummaryInput): Summary {
  const problems = examples.flatMap((example) => problemsOf(example, rows, outcomes));
  const clusters = new Set(rows.flatMap(({ cluster }) => cluster ?? []));
  if (clusters.size < 2) problems.push(`only ${[...clusters].join(', ') || 'no cluster'} was used`);
  const lines = [
    '',
    ...summaryTable(rows, (name) => examples.find((example) => example.name === name)?.through ?? '-', width),
    '',
    ...[
      ...resultLines(results),
      ...outcomes.map(({ name, settled, value }) => `BullMQ told the submitter of ${name}: ${settled} with ${value}`),
      ...externalJobs.map((sample) => `The worker on the manager cluster left them alone: ${sample}`),
      '',
      ...(problems.length === 0
        ? [`Every Job ended as expected, after ${formatDuration(tookMs)} in all.`]
        : problems.map((problem) => `Not as expected: ${problem}`)),
    ].flatMap((line) => wrapHanging(line, width, 2)),
  ];
  return { lines, problems };
}

function problemsOf(example: Example, rows: readonly JobRow[], outcomes: readonly SubmitterOutcome[]): string[] {
  const row = rows.find(({ name }) => name === example.name);
  if (row === undefined) return [`${example.name} was never seen on the manager cluster`];
  const wanted = `${example.ends}${example.reason === undefined ? '' : ` (${example.reason})`} with ${example.succeeded} succeeded`;
  const problems: string[] = [];
  if (
    row.state !== example.ends ||
    (example.reason !== undefined && row.reason !== example.reason) ||
    row.succeeded !== example.succeeded
  ) {
    problems.push(
      `${example.name} should be ${wanted}, but is ${row.state}${row.reason === '' ? '' : ` (${row.reason})`} with ${row.succeeded} succeeded`,
    );
  }
  const outcome = outcomes.find(({ name }) => name === example.name);
  const settled = example.ends === 'Complete' ? 'resolved' : 'rejected';
  if (example.through === 'BullMQ' && outcome?.settled !== settled)
    problems.push(`the submission of ${example.name} should have ${settled}, but ${outcome?.settled ?? 'is unknown'}`);
  return problems;
}

/** The words counted shard by shard with their sum, the beginning of pi, and what the child Jobs of the JobSet found. */
function resultLines(results: readonly PodOutput[]): string[] {
  const shards = results.filter(({ job }) => job === 'word-count').toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0));
  const words = shards.reduce((sum, { text }) => sum + Number(text.trim().split(' ')[1] ?? 0), 0);
  const childJobs = results.filter(({ job }) => job.startsWith(`${JOB_SET_EXAMPLE.name}-`)).toSorted((a, b) => (a.job < b.job ? -1 : 1));
  const pi = results.find(({ job }) => job === 'pi');
  return [
    ...(shards.length === 0
      ? []
      : [`word-count: ${shards.map(({ index, text }) => `[${index}] ${text.trim()}`).join(', ')}; ${words} words in all`]),
    ...(pi === undefined ? [] : [`pi: ${pi.text.slice(0, 42)}... (${pi.text.trim().length - 2} digits)`]),
    ...childJobs.map(({ job, cluster, text }) => `${JOB_SET_EXAMPLE.name}: its child Job ${job} on ${cluster}: ${text.trim()}`),
  ];
}
