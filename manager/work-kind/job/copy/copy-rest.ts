import type { DeepReadonly, Job } from '../../../../shared/api/kubernetes.ts';
import { RESUMED_FROM_ANNOTATION } from '../../../../shared/api/names.ts';
import { findCondition, hasTrueCondition, isFinished } from '../../../../shared/kube/conditions.ts';
import { hasVerdict } from '../status-home/to-local-status.ts';

/**
 * Whether no pod of a copy runs, and none will unless the copy is resumed: it has ended, or is suspended with no pod active or terminating,
 * by its status. A Job controller sets the terminal condition only when all pods have ended (KEP-3939, KEP-4368), and `Suspended` when it
 * has deleted the active ones, which then count as terminating. It creates no pod after its verdict. It writes the interim condition of the
 * verdict together with the counts, and sets no `Suspended` on a suspended Job that has one.
 */
export function isAtRest(copy: DeepReadonly<CopyShown>): boolean {
  const { spec, status } = copy;
  if (isFinished(status)) return true;
  const idle = (status?.active ?? 0) === 0 && (status?.terminating ?? 0) === 0;
  return spec.suspend === true && idle && ((hasSuspendedCondition(copy) && !isResumeUnseen(copy)) || hasVerdict(status));
}

/** The Job controller has not reported a start. Pods that it has created all the same appear only in a list of pods. */
export const isUnbegun = ({ status }: DeepReadonly<CopyShown>): boolean =>
  status?.startTime === undefined &&
  (status?.active ?? 0) === 0 &&
  (status?.terminating ?? 0) === 0 &&
  !isFinished(status) &&
  !hasVerdict(status);

type CopyShown = Pick<Job, 'spec' | 'status'> & { readonly metadata?: Pick<Job['metadata'], 'annotations'> };

const hasSuspendedCondition = ({ status }: DeepReadonly<CopyShown>): boolean => hasTrueCondition(status?.conditions, 'Suspended');

/**
 * Whether a copy was resumed and suspended again while its condition is still that of the earlier suspension. Its Job controller may have
 * created pods meanwhile without reporting them, or may never have noticed. A later condition is written on a version of the copy that was
 * suspended again.
 */
export const isResumeUnseen = (copy: DeepReadonly<CopyShown>): boolean =>
  copy.spec.suspend === true &&
  hasSuspendedCondition(copy) &&
  copy.metadata?.annotations?.[RESUMED_FROM_ANNOTATION] === suspendedSince(copy);

/** The annotation of a resume, which makes {@link isResumeUnseen} true until the Job controller has changed the condition. */
export const resumption = (copy: DeepReadonly<CopyShown>): Record<string, string> => ({ [RESUMED_FROM_ANNOTATION]: suspendedSince(copy) });

const suspendedSince = ({ status }: DeepReadonly<CopyShown>): string =>
  findCondition(status?.conditions, 'Suspended')?.lastTransitionTime ?? '';

/**
 * Whether a suspended copy has its verdict, with all pods counted, and its cluster cannot end it: a suspended Job has no startTime, without
 * which no API server lets a Job end. This manager, which has suspended the copy, ends the Job.
 */
export function isJudgedAtRest(copy: DeepReadonly<CopyShown>): boolean {
  const { succeeded = [], failed = [] } = copy.status?.uncountedTerminatedPods ?? {};
  return hasVerdict(copy.status) && succeeded.length + failed.length === 0 && isAtRest(copy);
}
