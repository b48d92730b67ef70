import type { DeepReadonly, JobStatus } from '../../shared/api/kubernetes.ts';
import { LAST_FAILURE_ANNOTATION } from '../../shared/api/names.ts';
import { hasTrueCondition } from '../../shared/kube/conditions.ts';
import { lastFailureOf } from '../api/last-failure.ts';
import type { Copy } from './mirror-group.ts';

/** What is written beside the status with which a Job fails: what the last pod ended with that failed of its copy, where that is known. */
export function annotationsOfEnd(status: DeepReadonly<JobStatus>, { job, cluster }: Copy): Readonly<Record<string, string>> | undefined {
  const failure = hasTrueCondition(status.conditions, 'Failed') ? lastFailureOf(job, cluster) : undefined;
  return failure === undefined ? undefined : { [LAST_FAILURE_ANNOTATION]: JSON.stringify(failure) };
}
