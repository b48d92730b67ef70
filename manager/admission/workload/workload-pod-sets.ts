import { addRequests, parseRequests, type Requests } from '../../api/amount.ts';
import { excess, forPods } from '../../api/job-requests.ts';
import type { AdmissionRecord, RecordedPodSet } from '../../api/records.ts';
import type { PodAdjustments } from '../../api/adjusted-pod.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { requestsOf, type PodSet } from '../../work-kind/pod-sets.ts';
import { askedRequests, stillAsked } from './asked-requests.ts';
import { nodeWishOf, type NodeWish } from './node-wish.ts';

/** Pods of one template, as a part of a Workload. */
export type WorkloadPodSet = {
  readonly podSet: string;
  readonly requests: Requests;
  readonly nodeWish: NodeWish;
  /** The fewest pods with which it may be admitted, if fewer than requested. One pod set of a Workload may have that, as in Kueue. */
  readonly minPods?: number;
  /** The number of its pods in a partial admission, if fewer than requested. */
  readonly admittedPods?: number;
  /** How many of its pods may still exist at once, if fewer than requested or admitted. */
  readonly podsNeeded?: number;
};

/** Requests of a Workload: of several pod sets, `requests` is their sum. */
type Asked = { readonly requests: Requests; readonly podSets?: readonly WorkloadPodSet[] };
type Asking = Pick<Asked, 'requests'> & { readonly podSets?: Asked['podSets'] | undefined };

const podsOf = (requests: Requests): number => requests.get('pods') ?? 0;

export const sumOf = (podSets: readonly { readonly requests: Requests }[]): Requests =>
  podSets.map(({ requests }) => requests).reduce(addRequests);

/** With so many pods in all. Of several pod sets, the one that may have fewer has them. */
export function withPods({ requests, podSets }: Asking, count: number | undefined): Asked {
  if (podSets === undefined) return { requests: forPods(requests, count) };
  const surplus = podsOf(requests) - (count ?? Number.POSITIVE_INFINITY);
  if (surplus <= 0) return { requests, podSets };
  const sized = podSets.map((each): WorkloadPodSet => {
    if (each.minPods === undefined) return each;
    const admittedPods = Math.max(0, podsOf(each.requests) - surplus);
    return { ...each, requests: forPods(each.requests, admittedPods), admittedPods };
  });
  return { requests: sumOf(sized), podSets: sized };
}

/** Requests of an object with an admission, without the pods that a partial admission has left out. */
export function admittedOf({ requests, podSets }: Asking, record: Pick<AdmissionRecord, 'parallelism' | 'podSets'>): Requests {
  if (podSets === undefined) return forPods(requests, record.parallelism);
  if (record.podSets?.some(({ count }) => count !== undefined) !== true) return requests;
  return sumOf(podSets.map((each) => ({ requests: forPods(each.requests, recordedIn(record, each.podSet)?.count) })));
}

/** By how much one of several pod sets exceeds what it was admitted with: what another no longer asks for is not its own. */
export function excessOfPodSets({ podSets }: Pick<Asking, 'podSets'>, record: Pick<AdmissionRecord, 'podSets'>): string | undefined {
  for (const { podSet, requests } of record.podSets === undefined ? [] : (podSets ?? [])) {
    const recorded = recordedIn(record, podSet);
    const more = excess(forPods(requests, recorded?.count), parseRequests(recorded?.requests));
    if (more !== undefined) return more;
  }
  return undefined;
}

const recordedIn = ({ podSets }: Pick<AdmissionRecord, 'podSets'>, podSet: string): RecordedPodSet | undefined =>
  podSets?.find(({ name }) => name === podSet);

/**
 * Each pod set with its requests. Where one cannot be read, `problem` of the whole Workload says so. `admitted`: the record of an object
 * that holds its quota. `isReported`: its status is that of the copy of this record.
 */
export const podSetsAsked = (
  podSets: readonly PodSet[],
  namespace: string,
  adjustments: PodAdjustments,
  admitted: AdmissionRecord | undefined,
  isReported: boolean,
): WorkloadPodSet[] =>
  podSets.map((podSet) => {
    const { name, count, minCount = count, template } = podSet;
    const recorded = admitted && recordedIn(admitted, name);
    const written = requestsOf([podSet]);
    const { requests } = askedRequests([podSet], namespace, written, adjustments);
    return {
      podSet: name,
      requests:
        recorded === undefined
          ? requests
          : stillAsked(
              count,
              { requests: recorded.requests, ...omitUndefined({ parallelism: recorded.count }) },
              written.requests,
              requests,
            ),
      nodeWish: nodeWishOf(template.spec),
      ...omitUndefined({
        minPods: minCount < count ? minCount : undefined,
        podsNeeded: isReported ? remainingPods(podSet, recorded?.count) : undefined,
      }),
    };
  });

/** How many pods of a set are left that have not done their work; undefined: all. `admitted`: its pods in a partial admission. */
export const remainingPods = ({ count, finished = 0 }: PodSet, admitted = count): number | undefined =>
  finished === 0 ? undefined : Math.max(0, Math.min(count, admitted) - finished);

/** Equal for pod sets that ask for the same, in the same order. */
export const digestOfPodSets = (podSets: readonly WorkloadPodSet[]): string =>
  JSON.stringify(
    podSets.map(({ podSet, requests, nodeWish, minPods }) => [
      podSet,
      [...requests].toSorted(byName),
      nodeWish.digest,
      ...(minPods === undefined ? [] : [minPods]),
    ]),
  );

export const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : a > b ? 1 : 0);
