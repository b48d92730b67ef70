import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { indexesBelow, sizeOf, unionOf } from './index-list.ts';
import { podsAtOnce } from './pod-count.ts';

/**
 * How many pods of a Job may still exist at once: those that what is left of its work can have (Kueue's reclaimable pods are the others), and never
 * fewer than there are, as far as has been told, those that are stopping included. Only what the Job shows on the manager cluster counts: its copies
 * are told of all that before they run, so that what is over once needs no pod on any other cluster either.
 */
export function podsNeeded(job: DeepReadonly<Pick<Job, 'spec' | 'status'>>): number {
  const { spec, status } = job;
  const atOnce = podsAtOnce(job);
  const { parallelism = 1, completions } = spec;
  // A work queue whose cluster is lost begins anew with all of its pods.
  if (completions === undefined || completions === null) return atOnce;
  // Of nearly all Jobs more is left than pods fit beside one another, and then no list need be read.
  const overAtMost = (status?.succeeded ?? 0) + (status?.failed ?? 0);
  if (parallelism <= 1 || completions - overAtMost >= parallelism) return atOnce;
  const left = Math.max(0, completions - pastWork(job, completions));
  const there = (status?.active ?? 0) + (status?.terminating ?? 0);
  return Math.min(atOnce, Math.max(left, there));
}

/** Of an Indexed Job the lists tell what is over, whatever its counters claim; indexes count that failed for good. */
function pastWork({ spec, status }: DeepReadonly<Pick<Job, 'spec' | 'status'>>, completions: number): number {
  if (spec.completionMode !== 'Indexed') return status?.succeeded ?? 0;
  const [completed, failed] = [status?.completedIndexes ?? '', status?.failedIndexes ?? ''].map((list) => indexesBelow(list, completions));
  return sizeOf(unionOf(completed ?? [], failed ?? []));
}
