import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { hasTrueCondition, isFinished } from '../../shared/kube/conditions.ts';
import { hasVerdict } from './to-local-status.ts';

/**
 * Nothing of a copy runs, and nothing will unless it is resumed: it has ended, or is suspended with no pod active or stopping, as its cluster
 * tells. A Job controller sets the terminal condition only when all pods have ended (KEP-3939, KEP-4368), and `Suspended` when it has
 * deleted the active ones, which then count as terminating. It makes no pod after its verdict, whose interim condition it writes together with the
 * counts, and which keeps a suspended Job from `Suspended`.
 */
export function isAtRest({ spec, status }: DeepReadonly<Pick<Job, 'spec' | 'status'>>): boolean {
  if (isFinished(status)) return true;
  const idle = (status?.active ?? 0) === 0 && (status?.terminating ?? 0) === 0;
  return spec.suspend === true && idle && (hasTrueCondition(status?.conditions, 'Suspended') || hasVerdict(status));
}

/**
 * It has come to its verdict while it was suspended, all is counted, and its cluster cannot end it: a suspended Job has no startTime, and no API
 * server lets a Job end without one. Whoever has suspended it ends it.
 */
export function isJudgedAtRest(copy: DeepReadonly<Pick<Job, 'spec' | 'status'>>): boolean {
  const { succeeded = [], failed = [] } = copy.status?.uncountedTerminatedPods ?? {};
  return hasVerdict(copy.status) && succeeded.length + failed.length === 0 && isAtRest(copy);
}
