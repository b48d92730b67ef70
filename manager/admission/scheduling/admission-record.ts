import { COPIES_FINALIZER } from '../../../shared/api/names.ts';
import { POD_FENCE_AFTER_SECONDS } from '../../../shared/api/pod-fence.ts';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { formatRequests } from '../../api/job-requests.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { checksFor } from '../workload/check-rules.ts';
import { isRefused, rememberedRefusals } from '../workload/avoidance.ts';
import { isRecordedOn } from '../quota/cluster-state.ts';
import type { Placed } from '../flavors/placement.ts';
import type { QueueSetup } from '../snapshot/snapshot.ts';
import type { Workload } from '../workload/workload.ts';

/** The record of a new admission. A Job that resumes where it was keeps its epoch; one that moves, or was refused where it was, gets the next. */
export function recordOf(workload: Workload, queue: QueueSetup, { cluster, clusterUID, flavors }: Placed, nowMs: number): AdmissionRecord {
  const chosen = Object.fromEntries(flavors.flatMap(({ flavor, resources }) => resources.map((resource) => [resource, flavor])));
  const checks = checksFor(queue.checks ?? [], chosen);
  const previous = workload.record;
  const resumes = previous !== undefined && isRecordedOn(previous, { name: cluster, uid: clusterUID }) && !isRefused(previous);
  const epoch = previous === undefined ? firstEpoch(workload, nowMs) : resumes ? previous.epoch : previous.epoch + 1;
  return {
    clusterQueue: queue.name,
    flavors: chosen,
    cluster,
    ...omitUndefined({ clusterUID }),
    epoch,
    since: toWireTime(laterThan(previous, nowMs)),
    requests: formatRequests(workload.recordedRequests ?? workload.requests),
    ...omitUndefined({ parallelism: workload.admittedPods, executedSeconds: previous?.executedSeconds }),
    ...(isFenced(workload, queue) ? {} : { unfenced: true as const }),
    // The template of a copy never changes: one that goes on where it was has what it was made with.
    ...omitUndefined({ podFence: resumes ? previous.podFence : podFenceOf(workload, queue) }),
    ...(checks.length === 0 ? {} : { evicted: true as const, checks }),
    // Where it has started, the row of failures is over.
    ...omitUndefined({ avoid: workload.started ? undefined : rememberedRefusals(previous, nowMs) }),
  };
}

/** The record of a reservation whose checks have all said yes. */
export function releasedRecord({ evicted: _evicted, checks: _checks, ...record }: AdmissionRecord, nowMs: number): AdmissionRecord {
  return { ...record, since: toWireTime(Math.max(nowMs, Date.parse(record.since) + 1000)) };
}

/** Admissions of one Job are told apart by their second: what was proven of one says nothing of the next. */
const laterThan = (previous: AdmissionRecord | undefined, nowMs: number): number =>
  previous === undefined ? nowMs : Math.max(nowMs, Date.parse(previous.since) + 1000);

/**
 * A Job with our finalizer was admitted before, and somebody has removed its record: copies of it may be anywhere. Its age in seconds is more
 * than the placements that it can have had, so that they all count as earlier ones.
 */
const firstEpoch = ({ finalizers, createdMs }: Workload, nowMs: number): number =>
  finalizers.includes(COPIES_FINALIZER) ? 2 + Math.max(0, Math.floor((nowMs - createdMs) / 1000)) : 1;

/** Whether its copy is to be stopped where the manager is out of reach: the Job's own word goes first. */
const isFenced = ({ fenced }: Workload, { onLoss }: QueueSetup): boolean => fenced ?? onLoss.fencing !== 'Disabled';

/** Where the Job says nothing, its queue does. Who renews pods does so while they are fenced. */
function podFenceOf(workload: Workload, queue: QueueSetup): number | undefined {
  const isWanted = workload.podFenced ?? queue.onLoss.podFence === 'Enabled';
  return isWanted && isFenced(workload, queue) ? POD_FENCE_AFTER_SECONDS : undefined;
}
