import { hash } from 'node:crypto';
import type { Requests } from './amount.ts';
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
 * expected to treat all Jobs of a shape alike. `program` is the digest of its pods.
 */
export function shapeOf(namespace: string, requests: Requests, program: string): string {
  const parts = [namespace, formatRequests(requests), program];
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 12);
}
