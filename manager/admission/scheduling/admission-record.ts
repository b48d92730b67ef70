import { COPIES_FINALIZER } from '../../../shared/api/names.ts';
import { POD_FENCE_AFTER_SECONDS } from '../../../shared/api/pod-fence.ts';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { resourceOf } from '../../api/amount.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { checksFor } from '../workload/check-rules.ts';
import { isRefused, rememberedRefusals } from '../workload/avoidance.ts';
import { isRecordedOn } from '../quota/cluster-state.ts';
import type { FlavorOption } from '../flavors/flavor-assigner.ts';
import type { Placed } from '../flavors/placement.ts';
import { recordFields } from '../workload/reservation.ts';
import type { QueueSetup } from '../snapshot/snapshot.ts';
import type { Workload } from '../workload/workload.ts';

/**
 * The admission record of a Workload that is admitted now. A Job that resumes on its cluster keeps its epoch; a Job that moves, or that
 * its cluster has refused, gets the next epoch.
 */
export function recordOf(workload: Workload, queue: QueueSetup, { cluster, clusterUID, flavors }: Placed, nowMs: number): AdmissionRecord {
  const podSets = podSetsOf(workload, flavors);
  // Of several pod sets, the record as a whole names the flavors of the first.
  const chosen = podSets?.[0]?.flavors ?? flavorsByResource(flavors);
  const checks = checksFor(queue.checks ?? [], new Set(flavors.map(({ flavor }) => flavor)));
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
    ...recordFields(workload.recordedRequests ?? workload.requests),
    ...omitUndefined({ podSets }),
    ...omitUndefined({
      parallelism: workload.admittedPods,
      executedSeconds: previous?.executedSeconds,
      pastAdmissions: previous?.pastAdmissions,
    }),
    ...(isFenced(workload, queue) ? {} : { unfenced: true as const }),
    // The template of a copy never changes: a resumed copy keeps the fence with which it was made.
    ...omitUndefined({ podFence: resumes ? previous.podFence : podFenceOf(workload, queue) }),
    ...omitUndefined(
      resumes
        ? { carry: previous.carry, carryContent: previous.carryContent }
        : { carry: carriedKinds(workload), carryContent: workload.carryContent },
    ),
    ...(checks.length === 0 ? {} : { evicted: true as const, checks }),
    // A Workload that has started forgets the clusters that refused it before.
    ...omitUndefined({ avoid: workload.started ? undefined : rememberedRefusals(previous, nowMs) }),
  };
}

/** What each pod set takes; undefined for one alone. */
const podSetsOf = ({ podSets }: Workload, flavors: readonly FlavorOption[]): AdmissionRecord['podSets'] =>
  podSets?.map(({ podSet: name, requests, admittedPods: count }) => ({
    name,
    flavors: flavorsByResource(flavors.filter(({ podSet }) => podSet?.name === name)),
    ...recordFields(requests),
    ...omitUndefined({ count }),
  }));

const flavorsByResource = (flavors: readonly FlavorOption[]): Record<string, string> =>
  Object.fromEntries(flavors.flatMap(({ flavor, resources }) => resources.map((name) => [resourceOf(name), flavor])));

/** The kinds of objects that travel with the copy; undefined: none. */
const carriedKinds = ({ carry = [] }: Workload): AdmissionRecord['carry'] => (carry.length === 0 ? undefined : carry);

/** The record of a reservation once all its admission checks are ready. */
export function releasedRecord({ evicted: _evicted, checks: _checks, ...record }: AdmissionRecord, nowMs: number): AdmissionRecord {
  return { ...record, since: toWireTime(Math.max(nowMs, Date.parse(record.since) + 1000)) };
}

/** Admissions of one Job differ in their second, so that proof about one admission is never taken for proof about the next. */
const laterThan = (previous: AdmissionRecord | undefined, nowMs: number): number =>
  previous === undefined ? nowMs : Math.max(nowMs, Date.parse(previous.since) + 1000);

/**
 * The first epoch of a Job. A Job that has the finalizer but no record was admitted before, and its record was removed: copies may
 * exist on any cluster. Its age in seconds exceeds the number of placements that it can have had, so all of them count as earlier ones.
 */
const firstEpoch = ({ finalizers, createdMs }: Workload, nowMs: number): number =>
  finalizers.includes(COPIES_FINALIZER) ? 2 + Math.max(0, Math.floor((nowMs - createdMs) / 1000)) : 1;

/** Whether a worker cluster stops the copy when it loses contact with the manager. The Job's setting outranks that of its ClusterQueue. */
const isFenced = ({ fenced }: Workload, { onLoss }: QueueSetup): boolean => fenced ?? onLoss.fencing !== 'Disabled';

/**
 * Seconds after which pods are fenced; undefined without a pod fence. The Job's setting outranks that of its ClusterQueue. A pod fence
 * requires the fence of the copy.
 */
function podFenceOf(workload: Workload, queue: QueueSetup): number | undefined {
  const isWanted = workload.podFenced ?? queue.onLoss.podFence === 'Enabled';
  return isWanted && isFenced(workload, queue) ? POD_FENCE_AFTER_SECONDS : undefined;
}
