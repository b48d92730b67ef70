/**
 * A copy whose manager is out of reach, in its status. Its pods go as those of a suspended Job do (scale.ts), but nobody has suspended it:
 * its spec, its condition Suspended and its startTime stay, and its deadline goes on.
 */
import type { DeepReadonly, JobCondition } from '../../shared/api/kubernetes.ts';
import { FENCED_ANNOTATION } from '../../shared/api/names.ts';
import { hasTrueCondition } from '../../shared/kube/conditions.ts';
import { ensureCondition } from './job-conditions.ts';
import type { JobView } from './job-view.ts';
import type { PodView } from './pod-view.ts';

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
  const isStopped = job.fence === 'Fenced' || (job.fence === 'Hold' && job.podsStopped);
  // A suspended copy has no pods that could be stopped. One that is held is as it was.
  const isKept = isStopped ? job.suspended : job.fence === 'Hold' || isStillCutShort(job, active);
  if (isKept) return { conditions, event: undefined };
  const ensured = ensureCondition(conditions, isStopped ? STOPPED : GOES_ON, nowMs);
  return { conditions: ensured.conditions, event: ensured.changed ? (isStopped ? 'Fenced' : 'FenceLifted') : undefined };
}

export const fenceMessage = (event: 'Fenced' | 'FenceLifted'): string => (event === 'Fenced' ? STOPPED : GOES_ON).message;

/**
 * A copy whose fence is open again is held until the pods have ended that the fence has stopped: they hold what was reserved for it until
 * then. Whoever resumes a suspended copy waits for the same.
 */
export function untilStopped(job: JobView, pods: readonly Pick<PodView, 'pod' | 'terminating'>[]): JobView {
  const ending = pods.filter(({ terminating }) => terminating);
  if (ending.length === 0) return job;
  const podsStopped = ending.some(({ pod }) => pod.metadata.annotations?.[FENCED_ANNOTATION] !== undefined);
  const seen = { ...job, podsStopped };
  return job.fence === 'Open' && wasFenced(seen) ? { ...seen, fence: 'Hold' } : seen;
}

/** The condition is missing where the worker crashed, or its write was lost, after the pods were stopped. */
export const wasFenced = (job: JobView): boolean => job.podsStopped || hasTrueCondition(job.status.conditions, FENCED);

/**
 * A work queue is complete once a pod has succeeded and none is left. That does not hold where the fence has taken the others away:
 * they were at work. `activeBefore` are the pods that there were before this sync.
 */
export const isCutShort = (job: JobView, activeBefore: number): boolean =>
  job.completions === undefined && (wasFenced(job) || (job.fence === 'Fenced' && activeBefore > 0));

/** The work queue has not got a pod again that could finish its work. */
const isStillCutShort = (job: JobView, active: number): boolean =>
  job.completions === undefined && wasFenced(job) && !job.suspended && job.parallelism > 0 && active === 0;
