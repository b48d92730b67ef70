import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { keyOfObject } from '../../shared/kube/keys.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { RefusedSubmission, SharedSubmissions } from '../api/shared-submissions.ts';
import type { SubmissionQueueObject } from '../api/submission-queue.ts';
import { conditionViews } from './condition-view.ts';
import { seenUid, type Rights } from './rights.ts';
import type { SharedQueueView, SubmissionView } from './submission-views.ts';
import type { Health } from './views.ts';

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

/** The shared queue as its leader last described it; undefined: no leader has. */
export function sharedQueueView(record: SharedSubmissions | undefined, { namespaces }: Rights): SharedQueueView {
  if (record === undefined) return { health: 'Idle', refusals: [], hidden: 0 };
  const { refusals, redis, ...figures } = record;
  // A namespace that is gone may have had the name of one that the viewer sees.
  const isVisible = ({ namespace, namespaceUid }: RefusedSubmission): boolean =>
    namespaces === 'All' || (namespace !== undefined && namespaceUid !== undefined && seenUid(namespaces, namespace) === namespaceUid);
  const visible = refusals.filter(isVisible);
  return {
    health: sharedHealth(record),
    ...figures,
    ...omitUndefined({ redis: redis && redisView(redis) }),
    refusals: visible.map(({ namespaceUid: _uid, ...refusal }) => refusal),
    hidden: refusals.length - visible.length,
  };
}

const redisView = ({ works: _works, ...problem }: NonNullable<SharedSubmissions['redis']>): NonNullable<SharedQueueView['redis']> =>
  problem;

function sharedHealth({ redis, backlog }: SharedSubmissions): Health {
  const lasts = redis !== undefined && redis.untilMs === undefined;
  if (lasts && !redis.works) return 'Bad';
  return lasts || backlog === undefined || backlog > 0 ? 'Warning' : 'Good';
}
