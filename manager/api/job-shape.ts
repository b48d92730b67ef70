import { hash } from 'node:crypto';
import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import type { Requests } from './amount.ts';
import { programOf } from './compact-job.ts';
import { formatRequests } from './job-requests.ts';
import { AvoidedReason, DispatchedReason } from './reasons.ts';

/** Whether others of equal shape are to expect the same: not where it is about the name of one Job, or about fields of it that its pods do not have. */
export const isOfShape = (reason: string): boolean => OF_SHAPE.includes(reason);
const OF_SHAPE: readonly string[] = [DispatchedReason.Refused, DispatchedReason.NamespaceMissing, AvoidedReason.NotStarted];

/**
 * A digest of what a cluster judges a Job by: namespace, requests, and all of its pods but what their programs are told: commands, arguments and environment. What a cluster
 * did with one Job of a shape it is expected to do with the others. The same for a Job of which all is known and for a compact one.
 */
export function shapeOf(job: DeepReadonly<Job>, requests: Requests): string {
  const parts = [job.metadata.namespace, formatRequests(requests), programOf(job)];
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 12);
}
