import type { ObjectKey } from '../../shared/api/kubernetes.ts';
import type { JobResult } from '../../shared/api/submission-outcome.ts';
import type { SubmissionProgress } from '../../shared/api/submission-progress.ts';

/** Which submission. */
export type SubmissionRef = {
  /** What it is known by for good, see shared/api/submission-key.ts. */
  readonly key: string;
  /** BullMQ's id of it. Ids that BullMQ counted start over when a queue is wiped. */
  readonly id: string;
  /** Epoch milliseconds. */
  readonly submittedAt: number;
};

/** Something a user put on the queue. */
export type Submission = SubmissionRef & {
  /** What the submitter called it; need not be unique. */
  readonly name: string;
  readonly data: unknown;
  /** How many times it has ended: 0 until it is retried, whether by BullMQ's `attempts` or by somebody's `retry()`. */
  readonly attemptsMade: number;
  /** BullMQ's: 1 is the most urgent, 0 is none. */
  readonly priority: number;
  /** The trace that its submitter has begun: W3C. */
  readonly traceparent?: string;
  /** The Job that it was parked for at an earlier delivery. */
  readonly parked?: ParkedSubmission;
  /** The latest attempt of which BullMQ has taken the outcome. */
  readonly delivered?: DeliveredMark;
};

/**
 * Written after BullMQ has taken an outcome. A submission of the same `submittedAt` that is handed out again was retried; one of another
 * time was put on the queue anew under its key. Without a mark, `attemptsMade` tells: it grows with each outcome that BullMQ takes.
 */
export type DeliveredMark = {
  readonly attempt: number;
  readonly submittedAt: number;
  /** As it was handed out. */
  readonly attemptsMade: number;
};

/** How the Job of a submission ended; plain JSON, for submitters in any language. */
export type Outcome =
  | { readonly kind: 'Completed'; readonly result: JobResult }
  | { readonly kind: 'Failed'; readonly failure: JobFailure };
export type JobFailure = { readonly reason: string; readonly message: string };

/** The Job that a submission became, and how it ended if it has. */
export type Acceptance = {
  readonly job: ObjectKey;
  readonly uid: string;
  /** Counted from 1, which it is when absent. */
  readonly attempt?: number;
  readonly outcome: Outcome | undefined;
};

/** A submission whose Job runs. */
export type ParkedSubmission = {
  readonly ref: SubmissionRef;
  readonly job: ObjectKey;
  readonly uid: string;
  /** Counted from 1. */
  readonly attempt: number;
};

/** A submission that is not parked: its Job may be there all the same, where a manager has died or waits for something else. */
export type SubmissionNotParked = { readonly ref: SubmissionRef; readonly uid?: undefined };

/** Why a submission is refused: what it says is wrong, its tenant may not, its key was used for something else, or there is a limit. */
export type RefusalCode = 'Invalid' | 'Forbidden' | 'Conflict' | 'Rejected';

/** The submission can never become a Job. The message is what its submitter hears: the code, and after a colon what to change. */
export class SubmissionRefused extends Error {
  override readonly name = 'SubmissionRefused';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, what: string, options?: ErrorOptions) {
    super(`${code}: ${what}`, options);
    this.code = code;
  }
}

export type Backlog = {
  readonly waiting: number;
  /** When the first of these was put on the queue, in epoch milliseconds; absent: there is none. */
  readonly oldestMs?: number;
  /** Submissions that have failed and are kept. */
  readonly failed: number;
};

/**
 * A durable queue of submissions. A submission is handed out at least once, is then parked for as long as its Job runs, holding neither
 * a worker nor a lock, and ends with the outcome of its Job. Everything may be repeated.
 */
export interface SubmissionQueue {
  /**
   * Hands submissions to `accept` until `signal` aborts. {@link SubmissionRefused} fails the submission for good; any other error is the
   * world's trouble, and the submission is handed out again later, for as long as it takes.
   * `withdraw` deletes the Job of a submission that was cancelled or removed, if it is still that of the UID, or whatever Job it has got
   * while it is not parked; `signature` is what stood beside the request to cancel it. `refusedUnread` hears of a submission that is
   * refused before it could be handed out, by its BullMQ id.
   */
  consume(
    accept: (submission: Submission) => Promise<Acceptance>,
    signal: AbortSignal,
    withdraw?: (of: ParkedSubmission | SubmissionNotParked, signature?: unknown) => Promise<void>,
    refusedUnread?: (id: string, refusal: SubmissionRefused) => void,
  ): Promise<void>;
  /**
   * Ends the attempt of a submission whose Job has this UID. The first outcome stands. Safe to call before it is parked, and for one that
   * is unknown.
   */
  finish(ref: SubmissionRef, outcome: Outcome, uid: string): Promise<void>;
  /** Tells how the Job of a submission gets on. Told again what it was told last, it does nothing. */
  report(ref: SubmissionRef, progress: SubmissionProgress): Promise<void>;
  /**
   * Tells the ends of logs to the submitter, if he asked for them; then alone they are read. Those `of` a copy are told once at most.
   * Absent: it tells nobody.
   */
  tellTails?(ref: SubmissionRef, of: string, read: () => Promise<readonly string[]>): Promise<void>;
  /** What nobody has taken up yet. Absent: it cannot tell. */
  backlog?(): Promise<Backlog>;
  /** Every parked submission, some at a time; one may come twice. */
  parked(): AsyncIterable<readonly ParkedSubmission[]>;
  close(): Promise<void>;
}
