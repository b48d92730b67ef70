import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';

/** The most pods of a Job at once, whatever it has finished: the bound of its record. `podsNeeded` counts the pods that are charged. */
export function podsAtOnce({ spec: { parallelism = 1, completions } }: DeepReadonly<Pick<Job, 'spec'>>): number {
  return Math.min(parallelism, completions ?? parallelism);
}
