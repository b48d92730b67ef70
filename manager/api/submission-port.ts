import type { JobResult } from '../../shared/api/submission-outcome.ts';
import type { SubmissionProgress } from '../../shared/api/submission-progress.ts';

/** Who submits by some other way than BullMQ goes in here: the queue of one tenant, seen from outside. */
export interface SubmissionPort {
  /** Puts a payload on the queue, as that of this user. Without a key one is made. Throws {@link SubmissionProblem}. */
  submit(payload: SubmissionPayload, key: string | undefined, user?: string): Promise<{ readonly key: string; readonly isNew: boolean }>;
  look(key: string): Promise<SubmissionState | undefined>;
  /**
   * Whether the submission ends as cancelled by this user, once the manager has seen to it. Throws {@link SubmissionProblem} `TimedOut` when it has not yet.
   */
  cancel(key: string, user?: string): Promise<{ readonly cancelled: boolean; readonly state: string }>;
  /** The submission as it is now, and whenever that changes, until it has ended. Who reads slowly gets the latest. */
  follow(key: string, signal: AbortSignal): AsyncIterable<SubmissionState>;
}

export type SubmissionPayload = {
  readonly manifest: object;
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
  /** Delayed: it was submitted for later. Accepted: it is on its way; `progress` says how far. */
  readonly state: 'Delayed' | 'Accepted' | 'Completed' | 'Failed';
  readonly progress?: SubmissionProgress;
  readonly result?: JobResult;
  /** `code` as in docs/submissions.md, or the reason of the Job's condition Failed. */
  readonly failure?: { readonly code: string; readonly message: string };
};

/** What is wrong with what was asked for. */
export class SubmissionProblem extends Error {
  override readonly name = 'DoorProblem';
  readonly code: 'Invalid' | 'Conflict' | 'TimedOut';

  constructor(code: SubmissionProblem['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
