/**
 * A copy whose manager is out of reach, in its status. Its pods go as those of a suspended Job do (scale.ts), but nobody has suspended it:
 * its spec, its condition Suspended and its startTime stay, and its deadline goes on.
 */
import type { DeepReadonly, JobCondition } from '../../shared/api/kubernetes.ts';
import { hasTrueCondition } from '../../shared/kube/conditions.ts';
import { ensureCondition } from './job-conditions.ts';
import type { JobView } from './job-view.ts';

export const FENCED = 'Fenced';

const STOPPED = {
  type: FENCED,
  status: 'True',
  reason: 'ManagerOutOfReach',
  message: 'The manager of this copy is out of reach: its pods are stopped until the manager has come back and looked at this cluster',
} as const;
const GOES_ON = {
  type: FENCED,
  status: 'False',
  reason: 'ManagerInReach',
  message: 'The manager of this copy has come back and looked at this cluster: its pods may run',
} as const;

/** What the status says of the fence, which changes only in a sync that could act on it. `active` are the pods there are after that. */
export function fenceCondition(
  job: JobView,
  conditions: readonly DeepReadonly<JobCondition>[],
  active: number,
  nowMs: number,
): { readonly conditions: readonly DeepReadonly<JobCondition>[]; readonly event: 'Fenced' | 'FenceLifted' | undefined } {
  // A suspended copy has no pods that could be stopped. One that is held is as it was.
  if (job.fence === 'Hold' || (job.fence === 'Fenced' && job.suspended) || (job.fence === 'Open' && isStillCutShort(job, active))) {
    return { conditions, event: undefined };
  }
  const ensured = ensureCondition(conditions, job.fence === 'Fenced' ? STOPPED : GOES_ON, nowMs);
  return { conditions: ensured.conditions, event: ensured.changed ? (job.fence === 'Fenced' ? 'Fenced' : 'FenceLifted') : undefined };
}

export const fenceMessage = (event: 'Fenced' | 'FenceLifted'): string => (event === 'Fenced' ? STOPPED : GOES_ON).message;

/**
 * A copy whose fence is open again is held until the pods have ended that the fence has stopped: they hold what was reserved for it until
 * then. Whoever resumes a suspended copy waits for the same.
 */
export const untilStopped = (job: JobView, pods: readonly { readonly terminating: boolean }[]): JobView =>
  job.fence === 'Open' && wasFenced(job) && pods.some(({ terminating }) => terminating) ? { ...job, fence: 'Hold' } : job;

export const wasFenced = (job: JobView): boolean => hasTrueCondition(job.status.conditions, FENCED);

/**
 * A work queue is complete once a pod has succeeded and none is left. That does not hold where the fence has taken the others away:
 * they were at work. `activeBefore` are the pods that there were before this sync.
 */
export const isCutShort = (job: JobView, activeBefore: number): boolean =>
  job.completions === undefined && (wasFenced(job) || (job.fence === 'Fenced' && activeBefore > 0));

/** The work queue has not got a pod again that could finish its work. */
const isStillCutShort = (job: JobView, active: number): boolean =>
  job.completions === undefined && wasFenced(job) && !job.suspended && job.parallelism > 0 && active === 0;
