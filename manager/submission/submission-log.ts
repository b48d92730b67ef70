/** The progress of a submission and its log, which submitters read in BullMQ while their Jobs run. */
import type { SubmissionProgress } from '../../shared/api/submission-progress.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { hasOption, unlessGone } from './bullmq-job.ts';
import { transitionLine } from './progress.ts';
import type { RedisConnection } from './redis-connection.ts';
import type { SubmissionMarks } from './submission-marks.ts';
import type { SubmissionRef } from './submission-queue.ts';
import { textProblem, type TextLimits } from './submission-text.ts';

export type SubmissionLogs = {
  readonly redis: RedisConnection;
  /** The BullMQ queue. */
  readonly submissions: {
    toKey(id: string): string;
    updateJobProgress(id: string, progress: object): Promise<void>;
    addJobLog(id: string, line: string, linesKept: number): Promise<number>;
  };
  readonly marks: Pick<SubmissionMarks, 'toldOf' | 'tell' | 'isFirst'>;
  /** Data beyond these is not read. */
  readonly limits: TextLimits;
  readonly clock: Clock;
};

const LOG_LINES_KEPT = 100;

export async function reportProgress(
  { submissions, marks, clock }: SubmissionLogs,
  { key, id }: SubmissionRef,
  progress: SubmissionProgress,
): Promise<void> {
  const text = JSON.stringify(progress);
  const told = await marks.toldOf(key);
  if (told === text) return;
  const before = told === undefined ? undefined : (JSON.parse(told) as SubmissionProgress);
  const line = transitionLine(before, progress, new Date(clock.now()).toISOString());
  const isTold = await unlessGone(async () => {
    await submissions.updateJobProgress(id, progress);
    if (line !== undefined) await submissions.addJobLog(id, line, LOG_LINES_KEPT);
  });
  if (isTold) await marks.tell(key, text);
}

export async function tellTails(
  logs: SubmissionLogs,
  ref: SubmissionRef,
  of: string,
  read: () => Promise<readonly string[]>,
): Promise<void> {
  if (!(await asksForLogs(logs, ref))) return;
  const rows = await read();
  if (rows.length === 0 || !(await logs.marks.isFirst(`tails:${of}`))) return;
  await unlessGone(async () => {
    for (const row of rows) await logs.submissions.addJobLog(ref.id, row, LOG_LINES_KEPT);
  });
}

/** Its submitter may have written anything there since. */
async function asksForLogs({ redis, submissions, limits }: SubmissionLogs, { id, submittedAt }: SubmissionRef): Promise<boolean> {
  const key = submissions.toKey(id);
  if ((await redis.hstrlen(key, 'data')) > limits.bytesMax) return false;
  const [text = null, time] = await redis.hmget(key, 'data', 'timestamp');
  // Numbers of BullMQ name other submissions after the queue was wiped.
  if (text === null || (/^\d+$/.test(id) && Number(time) !== submittedAt)) return false;
  return textProblem(text, limits) === undefined && hasOption(JSON.parse(text), 'logs');
}
