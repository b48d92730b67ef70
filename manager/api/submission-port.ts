import type { Attachment } from '../../shared/api/attachment.ts';
import type { JobResult } from '../../shared/api/submission-outcome.ts';
import type { SubmissionProgress } from '../../shared/api/submission-progress.ts';

/** The queue of one tenant for submissions that come by another transport than BullMQ. */
export interface SubmissionPort {
  /** Puts a payload on the queue for this user. Generates a key where none is given. Throws {@link SubmissionProblem}. */
  submit(payload: SubmissionPayload, key: string | undefined, user?: string): Promise<{ readonly key: string; readonly isNew: boolean }>;
  look(key: string): Promise<SubmissionState | undefined>;
  /**
   * Whether the submission ends as cancelled by this user, once the manager has handled it. Throws {@link SubmissionProblem} `TimedOut`
   * when it has not in time.
   */
  cancel(key: string, user?: string): Promise<{ readonly cancelled: boolean; readonly state: string }>;
  /** The state of the submission now and after each change, until it has ended. A slow reader gets the latest state. */
  follow(key: string, signal: AbortSignal): AsyncIterable<SubmissionState>;
}

export type SubmissionPayload = {
  readonly manifest: object;
  readonly attachments?: readonly Attachment[];
  readonly name?: string;
  readonly retry?: true;
  readonly logs?: true;
  readonly priority?: number;
  readonly delayMs?: number;
  readonly traceparent?: string;
};

export type SubmissionState = {
  readonly key: string;
  /** RFC 3339. */
  readonly submittedAt: string;
  /** Delayed: its start time is in the future. Accepted: it is in progress; `progress` says how far. */
  readonly state: 'Delayed' | 'Accepted' | 'Completed' | 'Failed';
  readonly progress?: SubmissionProgress;
  readonly result?: JobResult;
  /** `code` as in docs/submissions.md, or the reason of the Job's condition Failed. */
  readonly failure?: { readonly code: string; readonly message: string };
};

/** A problem with the request. */
export class SubmissionProblem extends Error {
  override readonly name = 'DoorProblem';
  readonly code: 'Invalid' | 'Conflict' | 'TimedOut';

  constructor(code: SubmissionProblem['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
