/** Which Jobs do not wait for which: the lanes of the queue of Jobs. */
import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';

export const LANES = 2;

/** Jobs that never have more pods than this at once are small. */
const SMALL_PODS = 10;

/**
 * A sync of a Job with many pods makes many calls, and takes seconds where the rate limit is low. Small Jobs have workers of their own
 * (lane 1), so that one of one pod does not wait until a hundred others have made all of theirs. Large ones stay few at a time (lane 0):
 * side by side they would all end at the end. A Job that is gone needs no more than a look.
 */
export function laneOf(job: DeepReadonly<Job> | undefined): number {
  const { parallelism = 1, completions = parallelism } = job?.spec ?? {};
  return Math.min(parallelism, completions) > SMALL_PODS ? 0 : 1;
}
