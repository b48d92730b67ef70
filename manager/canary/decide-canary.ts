/** Outcomes of a canary. */
export const CANARY_OUTCOMES = [
  'complete',
  'failed',
  /** The canary was admitted, and did not end in time. */
  'timeout',
  /** The canary was not admitted in time: its queue is full or stopped. That does not count against the cluster. */
  'not_admitted',
  /** Its cluster was cordoned, lost or removed meanwhile, or a user deleted the canary: this does not count. */
  'withdrawn',
  /** The manager cluster refused the creation. */
  'refused',
] as const;
export type CanaryOutcome = (typeof CANARY_OUTCOMES)[number];

/** One cluster and its canary, at one moment. Times are epoch milliseconds. */
export type CanarySeen = {
  /** Ready: Jobs are placed there. */
  readonly cluster: 'Ready' | 'NotReady' | 'Gone';
  /** The Job of its canary; Foreign: another Job has the name. */
  readonly job: CanaryJobSeen | 'Foreign' | undefined;
  /** When the next canary is due where there is no Job; undefined: now. */
  readonly dueMs: number | undefined;
};
export type CanaryJobSeen = {
  readonly createdMs: number;
  readonly admitted: boolean;
  readonly ended: boolean;
  readonly deleting: boolean;
};
export type CanaryTimes = { readonly intervalMs: number; readonly timeoutMs: number };

export type CanaryPlan =
  | { readonly kind: 'None' }
  | { readonly kind: 'Start' }
  /** `outcome` where the canary has not ended by itself. */
  | { readonly kind: 'Remove'; readonly outcome: 'timeout' | 'not_admitted' | 'withdrawn' | undefined };

const NONE: CanaryPlan = { kind: 'None' };

/**
 * Decides about the canary of one cluster. There is at most one at a time, because it holds the name. An ended canary stays until the next
 * is due, so that a manager that starts knows the time of the last one.
 */
export function decideCanary({ cluster, job, dueMs }: CanarySeen, { intervalMs, timeoutMs }: CanaryTimes, nowMs: number): CanaryPlan {
  if (job === 'Foreign') return NONE;
  if (job === undefined) return cluster === 'Ready' && nowMs >= (dueMs ?? nowMs) ? { kind: 'Start' } : NONE;
  if (job.deleting) return NONE;
  if (job.ended) return cluster === 'Gone' || nowMs >= job.createdMs + intervalMs ? { kind: 'Remove', outcome: undefined } : NONE;
  if (cluster !== 'Ready') return { kind: 'Remove', outcome: 'withdrawn' };
  if (nowMs < job.createdMs + timeoutMs) return NONE;
  return { kind: 'Remove', outcome: job.admitted ? 'timeout' : 'not_admitted' };
}
