import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { ClusterCondition, type WorkerClusterStatus } from '../../api/worker-cluster.ts';
import type { RemovalJudgement } from './judge-removal.ts';

type Status = DeepReadonly<WorkerClusterStatus>;

/** A status without the condition of its removal: the state of the cluster itself. */
export function withoutRemoval(status: Status | undefined): Status | undefined {
  if (findCondition(status?.conditions, ClusterCondition.Removing) === undefined) return status;
  return { ...status, conditions: (status?.conditions ?? []).filter(({ type }) => type !== ClusterCondition.Removing) };
}

/** The same status with what keeps the WorkerCluster that is being deleted; `before` is the last status. */
export function withRemoval(
  status: Status | undefined,
  removal: RemovalJudgement | undefined,
  before: Status | undefined,
  generation: number | undefined,
  nowMs: number,
): Status | undefined {
  if (removal?.kind !== 'Stays') return status;
  const { reason, message } = removal;
  const lastTransitionTime = findCondition(before?.conditions, ClusterCondition.Removing)?.lastTransitionTime ?? toWireTime(nowMs);
  const condition = {
    type: ClusterCondition.Removing,
    status: 'True' as const,
    reason,
    message,
    lastTransitionTime,
    ...omitUndefined({ observedGeneration: generation }),
  };
  return { ...status, conditions: [...(status?.conditions ?? []), condition] };
}
