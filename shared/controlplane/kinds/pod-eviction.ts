import { matchesLabelSelector } from '../../kube/selectors.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { badRequest, forbidden, tooManyRequests, type StatusError } from '../apimachinery/status-error.ts';
import { asPod, type DecodedPod } from './decoded.ts';
import { usableRequirements } from './label-selector-validation.ts';
import { asBudget, type DecodedBudget } from './pod-disruption-budget.ts';
import { withPodCondition } from './pod-conditions.ts';

/** How many evictions a budget remembers (MaxDisruptedPodSize). */
const DISRUPTED_PODS_MAX = 2000;
const VIOLATION = "Cannot evict pod as it would violate the pod's disruption budget.";

export type Eviction =
  /** The pod, as it is to be stored before it is deleted, and the budget that pays for it, if one does. */
  | { readonly kind: 'evict'; readonly pod: AnyObject; readonly budget?: AnyObject }
  /** Answered as a `Status` of code 500 in a successful response, as upstream does. */
  | { readonly kind: 'refuse'; readonly message: string };

/** Throws 400 when the body is about another pod. */
export const checkEviction = (podName: string, eviction: { readonly metadata: { readonly name?: string } }): void => {
  if ((eviction.metadata.name ?? '') !== podName) throw badRequest('name in URL does not match name in Eviction object');
};

/**
 * Decides an eviction of a pod, given all PodDisruptionBudgets of its namespace. Throws 429 when a budget forbids it for now.
 * Nothing given is changed. `time` is a wire time.
 */
export const decideEviction = (object: AnyObject, budgets: readonly AnyObject[], time: string): Eviction => {
  const pod = asPod(object);
  const evict: Eviction = { kind: 'evict', pod: withDisruptionTarget(pod, time) };
  if (isUnprotected(pod)) return evict;
  const [budget, ...others] = budgets.map(asBudget).filter((each) => covers(each, pod));
  if (budget === undefined) return evict;
  if (others.length > 0) {
    return {
      kind: 'refuse',
      message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    };
  }
  return isUnhealthyAndFree(pod, budget) ? evict : { ...evict, budget: charge(budget, pod, time) };
};

/** Budgets protect what runs. */
const isUnprotected = ({ metadata, status = {} }: DecodedPod): boolean =>
  metadata.deletionTimestamp !== undefined || ['Succeeded', 'Failed', 'Pending'].includes(status.phase ?? '');

const covers = ({ spec }: DecodedBudget, { metadata }: DecodedPod): boolean => {
  const requirements = usableRequirements(spec?.selector);
  return requirements !== undefined && matchesLabelSelector(requirements, metadata.labels);
};

/** A pod that serves nobody may go when its budget says so, or when the budget is met without it. */
const isUnhealthyAndFree = ({ status = {} }: DecodedPod, budget: DecodedBudget): boolean => {
  const ready = (status.conditions ?? []).some((condition) => condition.type === 'Ready' && condition.status === 'True');
  if (ready) return false;
  if (budget.spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {};
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
};

const charge = (budget: DecodedBudget, pod: DecodedPod, time: string): AnyObject => {
  const { metadata, status = {} } = budget;
  const { disruptionsAllowed = 0, disruptedPods = {} } = status;
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    throw violation(`The disruption budget ${metadata.name} is still being processed by the server.`, 10);
  }
  const resource = { group: 'policy', resource: 'poddisruptionbudget' };
  if (disruptionsAllowed < 0) throw forbidden(resource, metadata.name, 'pdb disruptions allowed is negative');
  if (Object.keys(disruptedPods).length > DISRUPTED_PODS_MAX) {
    throw forbidden(resource, metadata.name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (disruptionsAllowed === 0) {
    throw violation(whyNoneIsAllowed(budget), 0);
  }
  return {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed: disruptionsAllowed - 1,
      disruptedPods: { ...disruptedPods, [pod.metadata.name]: time },
    },
  };
};

function whyNoneIsAllowed({ metadata, status = {} }: DecodedBudget): string {
  const { desiredHealthy = 0, currentHealthy = 0, conditions = [] } = status;
  const { reason = '', message = '' } =
    conditions.find(({ type, status: value }) => type === 'DisruptionAllowed' && value === 'False') ?? {};
  const forbids = `The disruption budget ${metadata.name} does not allow evicting pods currently`;
  // Counts are not to be trusted where they could not be brought up to date.
  if (message !== '' && reason === 'SyncFailed') return `${forbids} because it failed sync: ${message}`;
  if (currentHealthy <= desiredHealthy) {
    return `The disruption budget ${metadata.name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  return message === '' ? forbids : `${forbids} (${reason}): ${message}`;
}

const violation = (message: string, retryAfterSeconds: number): StatusError =>
  tooManyRequests(VIOLATION, retryAfterSeconds, { causes: [{ reason: 'DisruptionBudget', message }] });

const withDisruptionTarget = (pod: DecodedPod, time: string): AnyObject => ({
  ...pod,
  status: withPodCondition(
    pod.status ?? {},
    { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' },
    time,
  ),
});
