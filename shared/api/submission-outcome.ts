/** What a submission resolves with when its Job, or object of another kind, has completed; plain JSON, for submitters in any language. */
export type JobResult = {
  /** Absent: a Job. */
  readonly kind?: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** WorkerCluster on which it ran. */
  readonly cluster?: string;
  readonly succeeded: number;
  readonly failed: number;
  readonly startTime?: string;
  readonly completionTime?: string;
  /** Indexed Jobs: `0,2-4`. */
  readonly completedIndexes?: string;
  readonly failedIndexes?: string;
};
