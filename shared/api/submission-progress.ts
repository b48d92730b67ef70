/** Where the Job of a submission stands. */
export const SubmissionPhase = {
  /** It waits to be admitted; the reason says for what. */
  Queued: 'Queued',
  /** It has a cluster, and none of its pods has started. */
  Admitted: 'Admitted',
  Running: 'Running',
  /** Stopped after it had been admitted; it goes on when it is admitted again. */
  Suspended: 'Suspended',
  Finished: 'Finished',
} as const;
export type SubmissionPhase = (typeof SubmissionPhase)[keyof typeof SubmissionPhase];

/** What a submitter sees of a Job on its way, as BullMQ's progress of the submission. Numbers are of pods. */
export type SubmissionProgress = {
  readonly phase: SubmissionPhase;
  /** Why it waits, or how it ended: `Complete`, or the reason of its failure. */
  readonly reason?: string;
  readonly cluster?: string;
  readonly active: number;
  readonly succeeded: number;
  readonly failed: number;
};
