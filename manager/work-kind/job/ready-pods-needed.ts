import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { minReadyPodsOf } from '../../api/job-annotations.ts';
import { workLeft } from './needed-pods.ts';

/**
 * How many pods must be ready for the Job to have started. A gang needs all: a Job whose completions, if it has any, are no more than its
 * parallelism, so that no pod waits for the end of another. Any other Job needs one. The annotation min-ready-pods says otherwise. Pods
 * that a partial admission left out (`admittedPods`), and those whose work is done, by the status of the Job or `told`, are not needed:
 * that is Kueue's `ready + succeeded >= pods`.
 */
export function readyPodsNeeded(job: DeepReadonly<Job>, admittedPods: number | undefined, told?: DeepReadonly<Job['status']>): number {
  const { parallelism = 1, completions } = job.spec;
  const succeeded = Math.max(told?.succeeded ?? 0, job.status?.succeeded ?? 0);
  const now = told === undefined ? job : { ...job, status: { ...told, succeeded } };
  const atOnce = Math.min(parallelism, admittedPods ?? parallelism, workLeft(now));
  const isGang = completions === undefined || completions === null || completions <= parallelism;
  const wish = minReadyPodsOf(job);
  const wanted = (wish.kind === 'MinReadyPods' ? wish.pods : undefined) ?? (isGang ? atOnce : 1);
  return Math.max(1, Math.min(wanted, atOnce));
}
