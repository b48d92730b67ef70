/** How a canary ended. */
export const CANARY_OUTCOMES = [
  'complete',
  'failed',
  /** It was admitted, and did not end in time. */
  'timeout',
  /** It was not admitted in time: its queue is full or stopped. That says nothing of the cluster. */
  'not_admitted',
  /** Its cluster was cordoned, went out of reach or away meanwhile, or somebody deleted it: it says nothing. */
  'withdrawn',
  /** The manager cluster did not let it be made. */
  'refused',
] as const;
export type CanaryOutcome = (typeof CANARY_OUTCOMES)[number];

/** One cluster and its canary, at one moment. Times are epoch milliseconds. */
export type CanarySeen = {
  /** Ready: Jobs are placed there. */
  readonly cluster: 'Ready' | 'NotReady' | 'Gone';
  /** The Job of its canary; Foreign: another Job has the name. */
  readonly job: CanaryJobSeen | 'Foreign' | undefined;
  /** When the next one is due where no Job tells; undefined: now. */
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
  /** `outcome` where it has not ended by itself. */
  | { readonly kind: 'Remove'; readonly outcome: 'timeout' | 'not_admitted' | 'withdrawn' | undefined };

const NONE: CanaryPlan = { kind: 'None' };

/**
 * What becomes of the canary of one cluster: at most one at a time, for the name is taken while there is one. One that has ended stays until the next is
 * due: so a manager that starts knows when the last one was.
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
