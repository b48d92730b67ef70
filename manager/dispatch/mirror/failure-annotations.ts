import type { DeepReadonly, WorkStatus } from '../../../shared/api/kubernetes.ts';
import { LAST_FAILURE_ANNOTATION } from '../../../shared/api/names.ts';
import { hasTrueCondition } from '../../../shared/kube/conditions.ts';
import { lastFailureOf } from '../../api/last-failure.ts';
import type { Copy } from './mirror-group.ts';
import type { SingleKind } from '../../work-kind/work-kind.ts';

/**
 * The annotation for a status write with a new failed pod or a failed Job: the ending of the last failed pod of the copy, where it is
 * known.
 */
export function failureAnnotations(
  kind: SingleKind,
  before: DeepReadonly<WorkStatus>,
  after: DeepReadonly<WorkStatus>,
  { job, cluster }: Copy,
): Readonly<Record<string, string>> | undefined {
  if (!hasTrueCondition(after.conditions, 'Failed') && kind.progress({ status: after }).failed <= kind.progress({ status: before }).failed)
    return undefined;
  const failure = lastFailureOf(job, cluster);
  return failure === undefined ? undefined : { [LAST_FAILURE_ANNOTATION]: JSON.stringify(failure) };
}
