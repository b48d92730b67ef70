import { formatAmount, isCharge, minus, shareOf, ZERO, type Requests } from './amount.ts';

/**
 * The requests of a Job: the sum over all pods that may exist at once, whose number is `pods`. Where a pod template is malformed, `problem`
 * says why, and only the pods count.
 */
export type JobRequests = { readonly requests: Requests; readonly problem?: string };

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

/** By how much `asked` exceeds `reserved`, such as `500m cpu and 1 pods`; undefined when it does not. Charges to quota do not count. */
export function excess(asked: Requests, reserved: Requests): string | undefined {
  const parts = [...asked].flatMap(([resource, amount]) => {
    if (isCharge(resource)) return [];
    const more = minus(amount, reserved.get(resource) ?? ZERO);
    return more > ZERO ? [`${formatAmount(resource, more)} ${resource}`] : [];
  });
  return parts.length === 0 ? undefined : parts.join(' and ');
}
