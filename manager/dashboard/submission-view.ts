import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { keyOfObject } from '../../shared/kube/keys.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { SubmissionQueueObject } from '../api/submission-queue.ts';
import { conditionViews } from './condition-view.ts';
import type { SubmissionView } from './views.ts';

/** A SubmissionQueue, by its status. */
export function submissionView(queue: DeepReadonly<SubmissionQueueObject>): SubmissionView {
  const { spec, status } = queue;
  const ready = findCondition(status?.conditions, 'Ready');
  const redis = findCondition(status?.conditions, 'RedisHealthy');
  const wrong = [ready, redis].find((condition) => condition?.status === 'False');
  return {
    key: keyOfObject(queue),
    health:
      wrong !== undefined
        ? wrong === ready
          ? 'Bad'
          : 'Warning'
        : ready?.status !== 'True'
          ? 'Idle'
          : (status?.backlog ?? 0) > 0
            ? 'Warning'
            : 'Good',
    weight: spec.weight ?? 1,
    conditions: conditionViews(status?.conditions),
    ...omitUndefined({
      problem: wrong && `${wrong.reason}: ${wrong.message}`,
      backlog: status?.backlog,
      parked: status?.parked,
      accepted: status?.accepted,
      refused: status?.refused,
      account: spec.serviceAccountName ?? (spec.identity === 'Manager' ? 'the manager' : undefined),
    }),
  };
}
