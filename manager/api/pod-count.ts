import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';

/**
 * How many pods of a Job may exist at once: what quota is reserved for. Completions free nothing before the Job ends: a copy that is made
 * anew, on another cluster or because the last one was lost, counts from zero and runs as many pods again.
 */
export function podsAtOnce({ spec: { parallelism = 1, completions } }: DeepReadonly<Pick<Job, 'spec'>>): number {
  return Math.min(parallelism, completions ?? parallelism);
}
