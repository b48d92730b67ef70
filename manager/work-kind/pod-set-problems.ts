import type { DeepReadonly, Unsaved, WorkObject } from '../../shared/api/kubernetes.ts';
import { deniedBy } from '../../shared/api/denied-namespaces.ts';
import type { FieldProblem } from '../api/field-problem.ts';
import type { ResourceClaimsRule } from '../api/job-rules.ts';
import { type PodSet, requestsOf } from './pod-sets.ts';

/** Upstream's bound for Indexed Jobs, here for all work: Kubernetes is not made for clusters of many more pods. */
export const PODS_AT_ONCE_MAX = 100_000;

/** A manifest may have no namespace yet: the object is then judged once it is in one. */
export function namespaceProblems(
  { metadata: { namespace } }: DeepReadonly<Pick<Unsaved<WorkObject>, 'metadata'>>,
  denied: readonly string[],
  kind: string,
): FieldProblem[] {
  const entry = namespace === undefined ? undefined : deniedBy(denied, namespace);
  if (entry === undefined) return [];
  const remedy = `create the ${kind} in another namespace, or ask an administrator to change that flag`;
  return [{ field: 'metadata.namespace', problem: `is "${namespace}", which is denied by --denied-namespaces (${entry}); ${remedy}` }];
}

/** Amounts beyond exact integers cannot be compared. `field`: where the pods are described. */
export function requestProblems(podSets: readonly PodSet[], field: string): FieldProblem[] {
  const { requests, problem } = requestsOf(podSets);
  if (problem !== undefined) return [{ field, problem }];
  return [...requests]
    .filter(([, amount]) => amount >= Number.MAX_SAFE_INTEGER)
    .map(([resource]) => ({ field, problem: `asks for more ${resource} than can be counted; ask for less` }));
}

/** Devices that pods claim (dynamic resource allocation). `field`: where the pods are described. */
export function claimProblems(podSets: readonly PodSet[], rule: ResourceClaimsRule, field: string, kind: string): FieldProblem[] {
  if (rule === 'Ignore' || !podSets.some(({ template }) => claimsDevices(template))) return [];
  const problem = `devices that are claimed are counted by no quota, so such ${kind}s are not taken; leave them out, or ask an administrator for --resource-claims=Ignore`;
  return [{ field: `${field}.resourceClaims`, problem }];
}

function claimsDevices({ spec }: PodSet['template']): boolean {
  const { resourceClaims, containers, initContainers } = spec ?? {};
  return (
    (resourceClaims?.length ?? 0) > 0 ||
    [...(containers ?? []), ...(initContainers ?? [])].some(({ resources }) => (resources?.claims?.length ?? 0) > 0)
  );
}
