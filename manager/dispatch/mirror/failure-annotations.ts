import type { DeepReadonly, JobStatus } from '../../../shared/api/kubernetes.ts';
import { LAST_FAILURE_ANNOTATION } from '../../../shared/api/names.ts';
import { hasTrueCondition } from '../../../shared/kube/conditions.ts';
import { lastFailureOf } from '../../api/last-failure.ts';
import type { Copy } from './mirror-group.ts';

/**
 * What is written beside a status in which more pods have failed than before, or the Job has: what the last pod ended with that failed of its copy,
 * where that is known.
 */
export function failureAnnotations(
  before: DeepReadonly<JobStatus>,
  after: DeepReadonly<JobStatus>,
  { job, cluster }: Copy,
): Readonly<Record<string, string>> | undefined {
  if (!hasTrueCondition(after.conditions, 'Failed') && (after.failed ?? 0) <= (before.failed ?? 0)) return undefined;
  const failure = lastFailureOf(job, cluster);
  return failure === undefined ? undefined : { [LAST_FAILURE_ANNOTATION]: JSON.stringify(failure) };
}
