import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { QuantityError } from '../../shared/kube/quantity.ts';
import { formatAmount, minus, multiplyRequests, parseAmount, shareOf, ZERO, type Requests } from './amount.ts';
import { podsAtOnce } from '../work-kind/job/pod-count.ts';
import { podRequests } from './pod-requests.ts';

/**
 * The requests of a Job: the sum over all pods that may exist at once, whose number is `pods`. Where the pod template is malformed,
 * `problem` says why, and only the pods count.
 */
export type JobRequests = { readonly requests: Requests; readonly problem?: string };

export function requestsOfJob(job: DeepReadonly<Pick<Job, 'spec'>>): JobRequests {
  const count = podsAtOnce(job);
  const pods: Requests = new Map([['pods', parseAmount('pods', count)]]);
  try {
    const perPod = podRequests(job.spec.template.spec ?? { containers: [] });
    return { requests: new Map([...multiplyRequests(perPod, count), ...pods]) };
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    return { requests: pods, problem: `resources of the pod template: ${error.message}` };
  }
}

/** The share of requests that this number of their pods has. */
export function forPods(requests: Requests, count: number | undefined): Requests {
  const pods = requests.get('pods') ?? 0;
  if (count === undefined || count >= pods) return requests;
  return new Map([...requests].map(([resource, amount]) => [resource, shareOf(amount, count, pods)]));
}

/** Requests in the format of a record: quantities by resource, without zero amounts. */
export const formatRequests = (requests: Requests): Record<string, string> =>
  Object.fromEntries(
    [...requests]
      .filter(([, amount]) => amount > ZERO)
      .map(([resource, amount]): [string, string] => [resource, formatAmount(resource, amount)])
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

/** By how much `asked` exceeds `reserved`, such as `500m cpu and 1 pods`; undefined when it does not. */
export function excess(asked: Requests, reserved: Requests): string | undefined {
  const parts = [...asked].flatMap(([resource, amount]) => {
    const more = minus(amount, reserved.get(resource) ?? ZERO);
    return more > ZERO ? [`${formatAmount(resource, more)} ${resource}`] : [];
  });
  return parts.length === 0 ? undefined : parts.join(' and ');
}
