import type { CallerSignature } from './submission-signature.ts';

/** The BullMQ queue beside one of submissions, under the same prefix, on which its submitters put what they want of the manager. */
export const controlQueueName = (submissionQueue: string): string => `${submissionQueue}-control`;

/** Name and data of a control job, and what it resolves with. */
export const CANCEL = 'cancel';
export type CancelRequest = {
  readonly key: string;
  /** Where it came over HTTP: the manager says who cancels. */
  readonly signature?: CallerSignature;
};
export type CancelAnswer = {
  /** Whether the submission ends as Cancelled. It does not when it had ended, or is not there. */
  readonly cancelled: boolean;
  /** BullMQ's state of the submission when it was looked at; `unknown`: it is not there. */
  readonly state: string;
};
