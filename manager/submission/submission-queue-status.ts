import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { toWireTime } from '../../shared/api/wire-time.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { given } from '../../shared/runtime/given.ts';
import type { SubmissionQueueObject, SubmissionQueueStatus } from '../api/submission-queue.ts';

/** What is known of a queue. */
export type QueueFacts = {
  /** Why it is not served; undefined: it is. */
  readonly problem: { readonly reason: string; readonly message: string } | undefined;
  /** Why its Jobs cannot be created as its ServiceAccount. */
  readonly impersonationProblem: string | undefined;
  /** In Redis; undefined: Redis did not say. */
  readonly backlog: number | undefined;
  readonly parked: number;
  readonly accepted: number;
  readonly refused: number;
};

/** The condition of a SubmissionQueue: True where its submissions become Jobs. */
export const READY = 'Ready';

/** The status of a SubmissionQueue; undefined when there is nothing new to say. */
export function submissionQueueStatus(
  { metadata: { generation }, status }: DeepReadonly<Pick<SubmissionQueueObject, 'metadata' | 'status'>>,
  facts: QueueFacts,
  nowMs: number,
): SubmissionQueueStatus | undefined {
  const { parked, accepted, refused } = facts;
  const said = judge(facts);
  const present = findCondition(status?.conditions, READY);
  const changes = present?.status === said.status ? present.lastTransitionTime : toWireTime(nowMs);
  const ready = { type: READY, ...said, lastTransitionTime: changes, ...given({ observedGeneration: generation }) };
  const isNew =
    present?.status !== ready.status ||
    present.reason !== ready.reason ||
    present.message !== ready.message ||
    present.observedGeneration !== ready.observedGeneration;
  const counts = { ...given({ backlog: facts.backlog ?? status?.backlog }), parked, accepted, refused };
  const counted = Object.entries(counts).some(([name, value]) => status?.[name as keyof typeof counts] !== value);
  return isNew || counted ? { conditions: [ready], ...counts } : undefined;
}

function judge({ problem, impersonationProblem, backlog }: QueueFacts): {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
} {
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
