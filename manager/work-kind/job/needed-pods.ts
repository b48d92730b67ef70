import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { indexesBelow, sizeOf, unionOf } from '../../api/index-list.ts';
import { podsAtOnce } from './pod-count.ts';

/**
 * The most pods of a Job that may still exist at once: those that its unfinished work can use (Kueue's reclaimable pods are the others),
 * and at least the existing ones by its status, terminating pods included. Only the status on the manager cluster counts: copies get all
 * finished work before they run, so that it needs no pod on another cluster either. `admittedPods`: the pods of its record.
 */
export function podsNeeded(job: DeepReadonly<Pick<Job, 'spec' | 'status'>>, admittedPods?: number): number {
  const { spec, status } = job;
  const atOnce = podsAtOnce(job);
  if (isElastic(job, admittedPods)) return atOnce;
  const { parallelism = 1, completions } = spec;
  // A work queue whose cluster is lost starts again with all of its pods.
  if (completions === undefined || completions === null) return atOnce;
  // Nearly all Jobs have more work left than pods at once, and need no index list parsed.
  const overAtMost = (status?.succeeded ?? 0) + (status?.failed ?? 0);
  if (parallelism <= 1 || completions - overAtMost >= parallelism) return atOnce;
  const left = Math.max(0, completions - pastWork(job, completions));
  const there = (status?.active ?? 0) + (status?.terminating ?? 0);
  return Math.min(atOnce, Math.max(left, there));
}

/**
 * Whether an Indexed Job was admitted with a pod for each index. It may shrink and grow within its record and rerun indexes, so it keeps
 * all its quota.
 */
const isElastic = ({ spec }: DeepReadonly<Pick<Job, 'spec'>>, admittedPods = 0): boolean =>
  spec.completionMode === 'Indexed' && (spec.completions ?? 0) <= admittedPods;

/** For an Indexed Job the lists count, whatever its counters are; indexes that failed for good are included. */
function pastWork({ spec, status }: DeepReadonly<Pick<Job, 'spec' | 'status'>>, completions: number): number {
  if (spec.completionMode !== 'Indexed') return status?.succeeded ?? 0;
  const [completed, failed] = [status?.completedIndexes ?? '', status?.failedIndexes ?? ''].map((list) => indexesBelow(list, completions));
  return sizeOf(unionOf(completed ?? [], failed ?? []));
}
