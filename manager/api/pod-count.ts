import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';

/** How many pods of a Job may exist at once, whatever it has finished: what its record allows. What is charged of that says `podsNeeded`. */
export function podsAtOnce({ spec: { parallelism = 1, completions } }: DeepReadonly<Pick<Job, 'spec'>>): number {
  return Math.min(parallelism, completions ?? parallelism);
}
