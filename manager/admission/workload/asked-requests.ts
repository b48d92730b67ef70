import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { adjustedPod, type PodAdjustments } from '../../api/adjusted-pod.ts';
import { parseRequests, type Requests } from '../../api/amount.ts';
import { excess, type JobRequests, forPods } from '../../api/job-requests.ts';
import { limitProblem } from '../../api/limit-range.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { requestsOf, type PodSet } from '../../work-kind/pod-sets.ts';

/** The requests of a Job. `forbidden`: why a LimitRange forbids its pods. */
export type Asked = JobRequests & { readonly forbidden?: string | undefined };

/** The requests of a Job once its pods are created, given the written requests. */
export function askedRequests(podSets: readonly PodSet[], namespace: string, written: JobRequests, adjustments: PodAdjustments): Asked {
  if (written.problem !== undefined) return written;
  const adjusted = podSets.map((podSet) => {
    const { spec } = podSet.template;
    const pod = spec && adjustedPod(spec, namespace, adjustments);
    return pod === spec ? podSet : { ...podSet, template: { ...podSet.template, ...omitUndefined({ spec: pod }) } };
  });
  if (adjusted.every((podSet, index) => podSet === podSets[index])) return written;
  const limitRanges = adjustments.limitRanges(namespace);
  const problems = adjusted.flatMap(({ template }) => (template.spec && limitProblem(template.spec, limitRanges)) ?? []);
  return { ...requestsOf(adjusted), forbidden: problems[0] };
}

/**
 * The requests of an admitted Job. Its pods are those of its admission. Later changes of namespace and RuntimeClass count from the next
 * admission on, as long as the recorded requests cover the written ones.
 */
export function stillAsked(
  podsAtOnce: number,
  record: Pick<AdmissionRecord, 'requests' | 'parallelism'>,
  written: Requests,
  asked: Requests,
): Requests {
  if (asked === written) return asked;
  const recorded = parseRequests(record.requests);
  return excess(forPods(written, record.parallelism), recorded) === undefined ? forPods(recorded, podsAtOnce) : asked;
}
