/** `spec.podFailurePolicy`: what the failure of one pod means for its Job (pod_failure_policy.go). */
import type { ContainerStatus, DeepReadonly, Pod, PodFailurePolicy } from '../../shared/api/kubernetes.ts';

export type PolicyAction = 'FailJob' | 'Ignore' | 'Count' | 'FailIndex';

export type PolicyMatch = {
  /** Undefined when no rule matched. */
  readonly action: PolicyAction | undefined;
  /** Whether the failure uses up the backoff limit. */
  readonly counts: boolean;
  /** Why the Job fails; only with FailJob. */
  readonly message?: string;
};

type Rule = DeepReadonly<PodFailurePolicy>['rules'][number];
type ExitCodes = NonNullable<Rule['onExitCodes']>;

const NO_MATCH: PolicyMatch = { action: undefined, counts: true };

/** The first rule that matches decides. Only pods in phase Failed are asked about: with a policy no other pod is failed. */
export function matchPodFailurePolicy(policy: DeepReadonly<PodFailurePolicy> | undefined, pod: DeepReadonly<Pod>): PolicyMatch {
  for (const [position, rule] of (policy?.rules ?? []).entries()) {
    const reason = matchRule(rule, pod);
    if (reason === undefined) continue;
    switch (rule.action) {
      case 'Ignore':
        return { action: 'Ignore', counts: false };
      case 'Count':
      case 'FailIndex':
        return { action: rule.action, counts: true };
      case 'FailJob':
        return { action: 'FailJob', counts: true, message: `${reason} matching FailJob rule at index ${position}` };
      default: // an action from a newer API does not stop the scan
    }
  }
  return NO_MATCH;
}

/** What of the pod the rule matched, in upstream's words. */
function matchRule(rule: Rule, pod: DeepReadonly<Pod>): string | undefined {
  const podName = `${pod.metadata.namespace}/${pod.metadata.name}`;
  if (rule.onExitCodes !== undefined && rule.onExitCodes !== null) {
    const container = matchExitCodes(rule.onExitCodes, pod);
    return container && `Container ${container.name} for pod ${podName} failed with exit code ${container.state?.terminated?.exitCode}`;
  }
  const condition = (pod.status?.conditions ?? []).find(({ type, status }) =>
    rule.onPodConditions?.some((pattern) => pattern.type === type && pattern.status === status),
  );
  return condition && `Pod ${podName} has condition ${condition.type}`;
}

const matchExitCodes = (requirement: ExitCodes, pod: DeepReadonly<Pod>): DeepReadonly<ContainerStatus> | undefined =>
  [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])].find(({ name, state }) => {
    const exitCode = state?.terminated?.exitCode;
    if (exitCode === undefined || exitCode === 0) return false;
    if (typeof requirement.containerName === 'string' && requirement.containerName !== name) return false;
    if (requirement.operator === 'In') return requirement.values.includes(exitCode);
    return requirement.operator === 'NotIn' && !requirement.values.includes(exitCode);
  });
