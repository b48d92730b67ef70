import { FinalCode } from '../api/submission-codes.ts';

/** Why a submission did not come to a result. */
export type SubmissionErrorCode = 'Invalid' | 'Forbidden' | 'Conflict' | 'Rejected' | 'Failed' | 'Cancelled' | 'TimedOut';

/** Anything that a submission ends with but a result. The code is what programs look at, the message is for people. */
export class SubmissionError extends Error {
  readonly code: SubmissionErrorCode;
  readonly key: string;

  constructor(code: SubmissionErrorCode, key: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = code;
    this.code = code;
    this.key = key;
  }
}

/** The payload cannot become a Job; the message names field and remedy. */
export class Invalid extends SubmissionError {
  constructor(key: string, message: string) {
    super(FinalCode.Invalid, key, message);
  }
}
/** Namespace, queue, rights or signature do not allow it. */
export class Forbidden extends SubmissionError {
  constructor(key: string, message: string) {
    super(FinalCode.Forbidden, key, message);
  }
}
/** The key was used for another payload, whose result stands. */
export class Conflict extends SubmissionError {
  constructor(key: string, message: string) {
    super(FinalCode.Conflict, key, message);
  }
}
/** Over a limit of its queue, or it could never be admitted. */
export class Rejected extends SubmissionError {
  constructor(key: string, message: string) {
    super(FinalCode.Rejected, key, message);
  }
}
/** Somebody cancelled the submission, or removed it from the queue. */
export class Cancelled extends SubmissionError {
  constructor(key: string, message: string) {
    super(FinalCode.Cancelled, key, message);
  }
}
/** It had not ended within the time that it was given; it goes on. */
export class TimedOut extends SubmissionError {
  constructor(key: string, message: string, options?: ErrorOptions) {
    super(FinalCode.TimedOut, key, message, options);
  }
}
/** Its Job failed, was deleted, or is not known any more. */
export class Failed extends SubmissionError {
  /**
   * Of the Job's Failed condition, such as `BackoffLimitExceeded`; `JobDeleted`; `NotFound` when the queue does not know the submission.
   */
  readonly reason: string;

  constructor(key: string, reason: string, message: string) {
    super('Failed', key, `${reason}: ${message}`);
    this.reason = reason;
  }
}

const CLASSES = { Invalid, Forbidden, Conflict, Rejected, Cancelled, TimedOut };

/** The error for what BullMQ calls the failed reason of a submission: `CODE: message`. */
export function errorOf(key: string, failedReason: string): SubmissionError {
  const [, code = 'Failed', message = failedReason] = /^([A-Z][A-Za-z0-9]*): ([\s\S]*)$/.exec(failedReason) ?? [];
  if (Object.hasOwn(CLASSES, code)) return new CLASSES[code as keyof typeof CLASSES](key, message);
  return new Failed(key, code, message);
}
