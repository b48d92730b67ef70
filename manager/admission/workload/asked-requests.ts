import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { adjustedPod, type PodAdjustments } from '../../api/adjusted-pod.ts';
import { parseRequests, type Requests } from '../../api/amount.ts';
import { excess, requestsOfJob, type JobRequests, forPods } from '../../api/job-requests.ts';
import { limitProblem } from '../../api/limit-range.ts';
import { podsAtOnce } from '../../work-kind/job/pod-count.ts';
import type { AdmissionRecord } from '../../api/records.ts';

/** The requests of a Job. `forbidden`: why a LimitRange forbids its pods. */
export type Asked = JobRequests & { readonly forbidden?: string | undefined };

/** The requests of a Job once its pods are created, given the written requests. */
export function askedRequests(job: DeepReadonly<Job>, written: JobRequests, adjustments: PodAdjustments): Asked {
  const { spec, metadata } = job;
  const template = spec.template.spec;
  if (template === undefined || written.problem !== undefined) return written;
  const pod = adjustedPod(template, metadata.namespace, adjustments);
  if (pod === template) return written;
  const forbidden = limitProblem(pod, adjustments.limitRanges(metadata.namespace));
  return { ...requestsOfJob({ spec: { ...spec, template: { spec: pod } } }), forbidden };
}

/**
 * The requests of an admitted Job. Its pods are those of its admission. Later changes of namespace and RuntimeClass count from the next
 * admission on, as long as the recorded requests cover the written ones.
 */
export function stillAsked(job: DeepReadonly<Job>, record: AdmissionRecord, written: Requests, asked: Requests): Requests {
  if (asked === written) return asked;
  const recorded = parseRequests(record.requests);
  return excess(forPods(written, record.parallelism), recorded) === undefined ? forPods(recorded, podsAtOnce(job)) : asked;
}
