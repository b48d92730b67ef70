import type { JobResult } from '../../../shared/api/submission-outcome.ts';
import type { FileSubmission } from '../submit/manifests.ts';
import type { SubmissionProgress } from '../../../shared/api/submission-progress.ts';

export type SubmissionEnding =
  | { readonly kind: 'Completed'; readonly result: JobResult }
  /** `code` as in docs/submissions.md, or the reason of the Job's condition Failed. */
  | { readonly kind: 'Failed'; readonly code: string; readonly message: string };

/** A queue of submissions, by whatever way. Whatever goes wrong is a CommandError. */
export interface SubmissionWay {
  /** Without a key one is made. */
  submit(submission: FileSubmission, key: string | undefined): Promise<string>;
  /** Resolves when it has ended. Rejects once `signal` aborts. */
  follow(key: string, tell: (progress: SubmissionProgress) => void, signal: AbortSignal): Promise<SubmissionEnding>;
  cancel(key: string): Promise<CancelEnding>;
  close(): Promise<void>;
}

export type CancelEnding =
  /** It ends as Cancelled. */
  | 'Cancelled'
  | 'HadEnded'
  /** The manager has not seen to it yet; it will. */
  | 'Pending';

/** Where a submission stands, in a line for people. */
export function progressLine(key: string, { phase, cluster, reason }: SubmissionProgress): string {
  const where = cluster === undefined ? '' : ` on ${cluster}`;
  const why = reason === undefined ? '' : `: ${reason}`;
  return `${key} ${phase}${where}${why}`;
}

export function endingLine(key: string, ending: SubmissionEnding): string {
  if (ending.kind === 'Failed') return `${key} failed: ${ending.code}: ${ending.message}`;
  const { namespace, name, cluster } = ending.result;
  return `${key} complete: Job ${namespace}/${name}${cluster === undefined ? '' : ` on ${cluster}`}`;
}
