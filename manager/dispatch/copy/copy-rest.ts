import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { RESUMED_FROM_ANNOTATION } from '../../../shared/api/names.ts';
import { findCondition, hasTrueCondition, isFinished } from '../../../shared/kube/conditions.ts';
import { hasVerdict } from '../status-home/to-local-status.ts';

/**
 * Nothing of a copy runs, and nothing will unless it is resumed: it has ended, or is suspended with no pod active or stopping, as its cluster
 * tells. A Job controller sets the terminal condition only when all pods have ended (KEP-3939, KEP-4368), and `Suspended` when it has
 * deleted the active ones, which then count as terminating. It makes no pod after its verdict, whose interim condition it writes together with the
 * counts, and which keeps a suspended Job from `Suspended`.
 */
export function isAtRest(copy: DeepReadonly<CopyShown>): boolean {
  const { spec, status } = copy;
  if (isFinished(status)) return true;
  const idle = (status?.active ?? 0) === 0 && (status?.terminating ?? 0) === 0;
  return spec.suspend === true && idle && ((saysSuspended(copy) && !isResumeUnseen(copy)) || hasVerdict(status));
}

/** Its Job controller has not told of a start: of pods that it has made all the same, only a list of them tells. */
export const isUnbegun = ({ status }: DeepReadonly<CopyShown>): boolean =>
  status?.startTime === undefined &&
  (status?.active ?? 0) === 0 &&
  (status?.terminating ?? 0) === 0 &&
  !isFinished(status) &&
  !hasVerdict(status);

type CopyShown = Pick<Job, 'spec' | 'status'> & { readonly metadata?: Pick<Job['metadata'], 'annotations'> };

const saysSuspended = ({ status }: DeepReadonly<CopyShown>): boolean => hasTrueCondition(status?.conditions, 'Suspended');

/**
 * A copy that was resumed and suspended again, whose condition is still the one of the time before: its Job controller may have made pods meanwhile, and has not said so
 * yet, or may never have noticed. A condition that comes later is written on a version of the copy that was suspended again.
 */
export const isResumeUnseen = (copy: DeepReadonly<CopyShown>): boolean =>
  copy.spec.suspend === true && saysSuspended(copy) && copy.metadata?.annotations?.[RESUMED_FROM_ANNOTATION] === suspendedSince(copy);

/** What goes with a copy when it is resumed, and makes {@link isResumeUnseen} true until its Job controller has said something else. */
export const resumption = (copy: DeepReadonly<CopyShown>): Record<string, string> => ({ [RESUMED_FROM_ANNOTATION]: suspendedSince(copy) });

const suspendedSince = ({ status }: DeepReadonly<CopyShown>): string =>
  findCondition(status?.conditions, 'Suspended')?.lastTransitionTime ?? '';

/**
 * It has come to its verdict while it was suspended, all is counted, and its cluster cannot end it: a suspended Job has no startTime, and no API
 * server lets a Job end without one. Whoever has suspended it ends it.
 */
export function isJudgedAtRest(copy: DeepReadonly<CopyShown>): boolean {
  const { succeeded = [], failed = [] } = copy.status?.uncountedTerminatedPods ?? {};
  return hasVerdict(copy.status) && succeeded.length + failed.length === 0 && isAtRest(copy);
}
