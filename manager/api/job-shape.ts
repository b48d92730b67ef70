import { createHash } from 'node:crypto';
import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import type { Requests } from './amount.ts';
import { programOf } from './compact-job.ts';
import { formatRequests } from './job-requests.ts';

/**
 * A digest of what a cluster judges a Job by: namespace, requests, and what of its pods decides whether and where they can start. What a cluster
 * did with one Job of a shape it is expected to do with the others. The same for a Job of which all is known and for a compact one.
 */
export function shapeOf(job: DeepReadonly<Job>, requests: Requests): string {
  const { nodeSelector, affinity, tolerations, priorityClassName } = job.spec.template.spec ?? {};
  const parts = [job.metadata.namespace, formatRequests(requests), nodeSelector, affinity, tolerations, priorityClassName, programOf(job)];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 12);
}
