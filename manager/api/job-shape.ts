import { hash } from 'node:crypto';
import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import type { Requests } from './amount.ts';
import { programOf } from '../work-kind/job/compact-job.ts';
import { formatRequests } from './job-requests.ts';
import { AvoidedReason, DispatchedReason } from './reasons.ts';

/**
 * Whether a refusal for this reason applies to all Jobs of the same shape. It does not where it is about the name of one Job, or about
 * fields outside its pods.
 */
export const isOfShape = (reason: string): boolean => OF_SHAPE.includes(reason);
const OF_SHAPE: readonly string[] = [DispatchedReason.Refused, DispatchedReason.NamespaceMissing, AvoidedReason.NotStarted];

/**
 * A digest of what a cluster judges a Job by: namespace, requests, and its pods without commands, arguments and environment. A cluster is
 * expected to treat all Jobs of a shape alike. A full Job and its compact form have the same shape.
 */
export function shapeOf(job: DeepReadonly<Job>, requests: Requests): string {
  const parts = [job.metadata.namespace, formatRequests(requests), programOf(job)];
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 12);
}
