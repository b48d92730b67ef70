import type { DeepReadonly, Job, Unsaved } from '../../../shared/api/kubernetes.ts';
import type { FieldProblem } from '../../api/field-problem.ts';
import type { JobRules } from '../../api/job-rules.ts';
import { claimProblems, namespaceProblems, PODS_AT_ONCE_MAX, requestProblems } from '../pod-set-problems.ts';
import { sizeProblems } from './job-size.ts';
import { podSetsOf } from './job-pod-sets.ts';
import { podsAtOnce } from './pod-count.ts';

/** Why a Job is refused, whatever the quota. Of a Job that is too large only the size is judged. */
export function ruleProblems(job: DeepReadonly<Unsaved<Job>>, { bytesMax, resourceClaims, deniedNamespaces }: JobRules): FieldProblem[] {
  const size = sizeProblems(job, bytesMax);
  if (size.length > 0) return size;
  const podSets = podSetsOf(job);
  return [
    ...namespaceProblems(job, deniedNamespaces, 'Job'),
    ...podCountProblems(job),
    ...requestProblems(podSets, POD),
    ...claimProblems(podSets, resourceClaims, POD, 'Job'),
  ];
}

const POD = 'spec.template.spec';

function podCountProblems(job: DeepReadonly<Pick<Job, 'spec'>>): FieldProblem[] {
  const pods = podsAtOnce(job);
  if (pods <= PODS_AT_ONCE_MAX) return [];
  return [
    { field: 'spec.parallelism', problem: `asks for ${pods} pods at once, and at most ${PODS_AT_ONCE_MAX} are taken; split the Job` },
  ];
}
