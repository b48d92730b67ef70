/**
 * How the reason begins for which a submission fails, before its colon, when it is not that its Job failed: trying again unchanged would
 * not help. Any other is the reason of the Job's Failed condition.
 */
export const FinalCode = {
  /** The payload is no Job as it should be. */
  Invalid: 'Invalid',
  /** Namespace, queue, rights or signature do not allow it. */
  Forbidden: 'Forbidden',
  /** The key has been used for another payload. */
  Conflict: 'Conflict',
  /** Over a limit of its queue, or it could never be admitted. */
  Rejected: 'Rejected',
  /** Somebody cancelled or removed the submission. */
  Cancelled: 'Cancelled',
  /** Its Job was deleted before it had finished. */
  JobDeleted: 'JobDeleted',
  /** It did not end within the time that its submitter gave it. */
  TimedOut: 'TimedOut',
} as const;
export type FinalCode = (typeof FinalCode)[keyof typeof FinalCode];
