import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { adjustedPod, type PodAdjustments } from '../../api/adjusted-pod.ts';
import { parseRequests, type Requests } from '../../api/amount.ts';
import { excess, requestsOfJob, type JobRequests, forPods } from '../../api/job-requests.ts';
import { limitProblem } from '../../api/limit-range.ts';
import { podsAtOnce } from '../../api/pod-count.ts';
import type { AdmissionRecord } from '../../api/records.ts';

/** What a Job asks for; `forbidden` is why a LimitRange forbids its pods. */
export type Asked = JobRequests & { readonly forbidden?: string | undefined };

/** What the pods of a Job ask for once they are made, given what is written. */
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
 * What a Job asks for that was admitted. Its pods are what they were then: what namespace and RuntimeClass have said since counts from the next
 * admission on, as long as what it was admitted with covers what is written.
 */
export function stillAsked(job: DeepReadonly<Job>, record: AdmissionRecord, written: Requests, asked: Requests): Requests {
  if (asked === written) return asked;
  const recorded = parseRequests(record.requests);
  return excess(forPods(written, record.parallelism), recorded) === undefined ? forPods(recorded, podsAtOnce(job)) : asked;
}
