import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { toWireTime } from '../../shared/api/wire-time.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { SubmissionQueueObject, SubmissionQueueStatus } from '../api/submission-queue.ts';
import type { RedisTrouble } from './redis-health.ts';

/** What is known of a queue. */
export type QueueFacts = {
  /** Why it is not served; undefined: it is. */
  readonly problem: { readonly reason: string; readonly message: string } | undefined;
  /** Why its Jobs cannot be created as its ServiceAccount. */
  readonly impersonationProblem: string | undefined;
  /** Why Jobs whose submissions have ended cannot be deleted. */
  readonly withdrawalProblem: string | undefined;
  /** With the Redis of all queues, the gravest first; undefined: nobody has looked. */
  readonly troubles: readonly RedisTrouble[] | undefined;
  /** BullMQ's, under which submissions are looked for; undefined: they are not. */
  readonly prefix: string | undefined;
  /** In Redis; undefined: Redis did not say. */
  readonly backlog: number | undefined;
  readonly parked: number;
  readonly accepted: number;
  readonly refused: number;
};

/** The condition of a SubmissionQueue: True where its submissions become Jobs. */
export const READY = 'Ready';
/** Its condition about Redis: True where nothing is wrong with it. Submissions may become Jobs all the same where it is False. */
export const REDIS_HEALTHY = 'RedisHealthy';

/**
 * Its condition about Jobs whose submissions were cancelled or removed: False while some of them cannot be deleted; absent as long as that
 * never was so.
 */
export const JOBS_WITHDRAWN = 'JobsWithdrawn';

/** The status of a SubmissionQueue; undefined when there is nothing new to say. */
export function submissionQueueStatus(
  { metadata: { generation }, status }: DeepReadonly<Pick<SubmissionQueueObject, 'metadata' | 'status'>>,
  facts: QueueFacts,
  nowMs: number,
): SubmissionQueueStatus | undefined {
  const { parked, accepted, refused } = facts;
  const present = status?.conditions ?? [];
  const said = [{ type: READY, ...judge(facts) }, ...judgeRedis(facts), ...judgeWithdrawals(facts, present)];
  const conditions = said.map((each) => {
    const before = findCondition(present, each.type);
    const lastTransitionTime = before?.status === each.status ? before.lastTransitionTime : toWireTime(nowMs);
    return { ...each, lastTransitionTime, ...omitUndefined({ observedGeneration: generation }) };
  });
  // What nobody has looked at since is left as it was said.
  const kept = present.filter(({ type }) => said.every((each) => each.type !== type));
  const isNew = conditions.some((each) => {
    const before = findCondition(present, each.type);
    return (
      before?.status !== each.status ||
      before.reason !== each.reason ||
      before.message !== each.message ||
      before.observedGeneration !== each.observedGeneration
    );
  });
  const figures = { ...omitUndefined({ prefix: facts.prefix, backlog: facts.backlog ?? status?.backlog }), parked, accepted, refused };
  const counted = Object.entries(figures).some(([name, value]) => status?.[name as keyof typeof figures] !== value);
  return isNew || counted ? { conditions: [...conditions, ...kept.map((each) => ({ ...each }))], ...figures } : undefined;
}

type Said = { readonly status: 'True' | 'False' | 'Unknown'; readonly reason: string; readonly message: string };

function judgeRedis({ troubles }: QueueFacts): readonly (Said & { readonly type: string })[] {
  if (troubles === undefined) return [];
  const [gravest] = troubles;
  if (gravest === undefined)
    return [{ type: REDIS_HEALTHY, status: 'True', reason: 'Healthy', message: 'Redis takes what it is given, and keeps it.' }];
  const message = troubles.map((each) => each.message).join('; ');
  return [{ type: REDIS_HEALTHY, status: 'False', reason: gravest.reason, message }];
}

function judgeWithdrawals(
  { withdrawalProblem }: QueueFacts,
  present: readonly { readonly type: string }[],
): readonly (Said & { readonly type: string })[] {
  if (withdrawalProblem !== undefined)
    return [{ type: JOBS_WITHDRAWN, status: 'False', reason: 'DeleteForbidden', message: withdrawalProblem }];
  if (present.every(({ type }) => type !== JOBS_WITHDRAWN)) return [];
  return [
    { type: JOBS_WITHDRAWN, status: 'True', reason: 'Deleted', message: 'Jobs of submissions that were cancelled or removed are deleted.' },
  ];
}

function judge({ problem, impersonationProblem, backlog }: QueueFacts): Said {
  if (problem !== undefined) return { status: 'False', ...problem };
  if (impersonationProblem !== undefined) return { status: 'False', reason: 'ImpersonationForbidden', message: impersonationProblem };
  if (backlog === undefined) {
    return {
      status: 'Unknown',
      reason: 'Unreachable',
      message: 'Redis does not answer; what is submitted waits there, and Jobs that run go on',
    };
  }
  return { status: 'True', reason: 'Serving', message: 'Submissions become Jobs.' };
}
