import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME, QUEUE_NAME_LABEL } from '../../../shared/api/names.ts';
import { findCondition, isFinished } from '../../../shared/kube/conditions.ts';
import type { EventHandler } from '../../../shared/kube/informer.ts';
import { SwitchyardCondition } from '../../api/reasons.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import { createQueueCounts } from '../cache/queue-counts.ts';

/** The number of waiting Jobs by LocalQueue and reason, maintained as conditions change. */
export interface ReasonCounts {
  readonly handler: EventHandler<WorkObject>;
  /** Counts by LocalQueue (`namespace/name`) and reason. */
  all(): Iterable<readonly [localQueue: string, reason: string, count: number]>;
}

/** The reason of waiting Jobs that have no condition yet. */
export const UNREPORTED = 'Pending';

export function createReasonCounts(kind: WorkKind): ReasonCounts {
  const counts = createQueueCounts();
  return {
    handler: {
      added: (job) => counts.replace(undefined, keyOf(kind, job)),
      updated: (job, previous) => counts.replace(keyOf(kind, previous), keyOf(kind, job)),
      deleted: (job) => counts.replace(keyOf(kind, job), undefined),
    },
    *all() {
      for (const [key, count] of counts.all()) {
        const [localQueue = '', reason = ''] = key.split(' ');
        yield [localQueue, reason, count];
      }
    },
  };
}

/** The count that a Job belongs to; undefined if it does not wait. Neither names nor reasons contain spaces. */
function keyOf(kind: WorkKind, job: DeepReadonly<WorkObject>): string | undefined {
  const { metadata, status } = job;
  const queue = metadata.labels?.[QUEUE_NAME_LABEL] ?? '';
  if (queue === '' || metadata.deletionTimestamp !== undefined || isFinished(status) || kind.controllerOf(job) !== MANAGER_CONTROLLER_NAME)
    return undefined;
  const reserved = findCondition(status?.conditions, SwitchyardCondition.QuotaReserved);
  if (reserved?.status === 'True') return undefined;
  return `${metadata.namespace}/${queue} ${reserved?.reason ?? UNREPORTED}`;
}
