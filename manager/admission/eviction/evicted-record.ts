import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { isOfShape } from '../../api/job-shape.ts';
import { preemptedBy } from '../../api/preempted.ts';
import { FailReason } from '../../api/reasons.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import type { AdmissionCache } from '../cache/admission-cache.ts';
import { backoffMs, refusedRecord } from '../workload/avoidance.ts';
import { cannotStartStory } from '../workload/cannot-start.ts';
import type { Eviction } from './evictions.ts';
import { endedRecord } from '../cache/execution-time.ts';
import { requeuedRecord, type RequeuingTimestamp } from './requeuing.ts';
import type { Workload } from '../workload/workload.ts';

/**
 * The record of an evicted Workload: its cluster, its preemptor, the clusters that it avoids, the age by which it queues again, and whether
 * it fails instead.
 */
export function evictedRecord(
  { reservation: { workload, record }, reason, refusal, displacement, fail: ends }: Eviction,
  cache: Pick<AdmissionCache, 'shapes' | 'queueing'>,
  requeuingTimestamp: RequeuingTimestamp,
  nowMs: number,
): AdmissionRecord {
  const last = refusal === undefined ? record : avoiding(workload, record, refusal, cache, nowMs);
  const fail = ends ?? failureOf(last, cache);
  const ended = requeuedRecord(endedRecord(last, nowMs), reason, requeuingTimestamp, nowMs);
  const preempted = displacement && preemptedBy(displacement.by, displacement.rule, workload.namespace);
  return { ...ended, ...omitUndefined({ preempted, fail }) };
}

const avoiding = (
  { shape }: Workload,
  record: AdmissionRecord,
  refusal: string,
  { shapes }: Pick<AdmissionCache, 'shapes'>,
  nowMs: number,
): AdmissionRecord =>
  refusedRecord(record, refusal, (refusals) =>
    isOfShape(refusal) ? shapes.next(shape, record, refusals, nowMs) : { untilMs: nowMs + backoffMs(refusals), level: refusals },
  );

/** Why the Job fails, if it has started on no cluster. */
function failureOf(record: AdmissionRecord, cache: Pick<AdmissionCache, 'queueing'>): AdmissionRecord['fail'] {
  const queue = cache.queueing().queues.get(record.clusterQueue);
  const message = queue?.onCannotStart === 'Fail' ? cannotStartStory(record, queue.maxMoves) : undefined;
  return message === undefined ? undefined : { reason: FailReason.CannotStart, message };
}
