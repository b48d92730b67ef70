import type { DeepReadonly, Job, Unsaved } from '../../../shared/api/kubernetes.ts';
import { deniedBy } from '../../../shared/api/denied-namespaces.ts';
import type { FieldProblem } from '../../api/field-problem.ts';
import type { JobRules } from '../../api/job-rules.ts';
import { requestsOf } from '../pod-sets.ts';
import { sizeProblems } from './job-size.ts';
import { podSetsOf } from './job-pod-sets.ts';
import { podsAtOnce } from './pod-count.ts';

/** Upstream's bound for Indexed Jobs, here for all Jobs: Kubernetes is not made for clusters of many more pods. */
export const PODS_AT_ONCE_MAX = 100_000;

/** Why a Job is refused, whatever the quota. Of a Job that is too large only the size is judged. */
export function ruleProblems(job: DeepReadonly<Unsaved<Job>>, { bytesMax, resourceClaims, deniedNamespaces }: JobRules): FieldProblem[] {
  const size = sizeProblems(job, bytesMax);
  if (size.length > 0) return size;
  return [
    ...namespaceProblems(job, deniedNamespaces),
    ...podCountProblems(job),
    ...requestProblems(job),
    ...(resourceClaims === 'Ignore' ? [] : claimProblems(job)),
  ];
}

/** A manifest may have no namespace yet: the Job is then judged once it is in one. */
function namespaceProblems({ metadata: { namespace } }: DeepReadonly<Unsaved<Job>>, denied: readonly string[]): FieldProblem[] {
  const entry = namespace === undefined ? undefined : deniedBy(denied, namespace);
  if (entry === undefined) return [];
  const remedy = 'create the Job in another namespace, or ask an administrator to change that flag';
  return [{ field: 'metadata.namespace', problem: `is "${namespace}", which is denied by --denied-namespaces (${entry}); ${remedy}` }];
}

function podCountProblems(job: DeepReadonly<Pick<Job, 'spec'>>): FieldProblem[] {
  const pods = podsAtOnce(job);
  if (pods <= PODS_AT_ONCE_MAX) return [];
  return [
    { field: 'spec.parallelism', problem: `asks for ${pods} pods at once, and at most ${PODS_AT_ONCE_MAX} are taken; split the Job` },
  ];
}

/** Amounts beyond exact integers cannot be compared. */
function requestProblems(job: DeepReadonly<Unsaved<Job>>): FieldProblem[] {
  const { requests, problem } = requestsOf(podSetsOf(job));
  if (problem !== undefined) return [{ field: 'spec.template.spec', problem }];
  return [...requests]
    .filter(([, amount]) => amount >= Number.MAX_SAFE_INTEGER)
    .map(([resource]) => ({ field: 'spec.template.spec', problem: `asks for more ${resource} than can be counted; ask for less` }));
}

function claimProblems(job: DeepReadonly<Pick<Job, 'spec'>>): FieldProblem[] {
  const { resourceClaims = [], containers = [], initContainers = [] } = job.spec.template.spec ?? {};
  const claiming = [...containers, ...initContainers].some(({ resources }) => (resources?.claims?.length ?? 0) > 0);
  if (resourceClaims.length === 0 && !claiming) return [];
  const problem =
    'devices that are claimed are counted by no quota, so such Jobs are not taken; leave them out, or ask an administrator for --resource-claims=Ignore';
  return [{ field: 'spec.template.spec.resourceClaims', problem }];
}
