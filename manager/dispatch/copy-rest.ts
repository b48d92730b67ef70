import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { hasTrueCondition, isFinished } from '../../shared/kube/conditions.ts';

/**
 * Nothing of a copy runs, and nothing will unless it is resumed: it has ended, or is suspended with no pod active or stopping, as its cluster
 * tells. A Job controller sets the terminal condition only when all pods have ended (KEP-3939, KEP-4368), and `Suspended` when it has
 * deleted the active ones, which then count as terminating.
 */
export function isAtRest({ spec, status }: DeepReadonly<Pick<Job, 'spec' | 'status'>>): boolean {
  if (isFinished(status)) return true;
  const idle = (status?.active ?? 0) === 0 && (status?.terminating ?? 0) === 0;
  return spec.suspend === true && hasTrueCondition(status?.conditions, 'Suspended') && idle;
}
