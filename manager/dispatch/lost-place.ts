import type { DeepReadonly, Job, JobStatus } from '../../shared/api/kubernetes.ts';
import { DispatchedReason } from '../api/reasons.ts';
import type { AdmissionRecord } from '../api/records.ts';
import { fencedOffMessage, isProvenAtRest } from '../api/rest-proof.ts';
import { isAtRest } from './copy-rest.ts';
import { isFencedOff, placeOf, viewOfPlace, type Copy, type MirrorGroup } from './mirror-group.ts';
import { cannotStart, notDispatched } from './own-conditions.ts';
import { copyIdentity } from './copy-marks.ts';
import { failedStatus, toLocalStatus, withoutPods, type OwnCondition } from './to-local-status.ts';

/**
 * What a Job that is to rest says once it is fenced off on a cluster that is lost: that it does, or its end, if admission has so decided. `Said` when it
 * has said so already; undefined where it cannot be said.
 */
export function fencedOffStatus(
  group: MirrorGroup,
  local: DeepReadonly<Job>,
  record: AdmissionRecord,
  nowMs: number,
): JobStatus | 'Said' | undefined {
  if (local.spec.suspend !== true || !isFencedOff(group)) return undefined;
  const { fail } = record;
  if (fail === undefined && isProvenAtRest(local.status, record)) return 'Said';
  const own = [fencedOff(record)];
  const remote = withoutPods(local.status, nowMs);
  return fail === undefined
    ? toLocalStatus({ local, remote, own, nowMs })
    : failedStatus(local, remote, fail, [...own, ...cannotStart(fail)], nowMs);
}

/** How it says so. */
export const fencedOff = (record: AdmissionRecord): OwnCondition =>
  notDispatched({ reason: DispatchedReason.FencedOff, message: fencedOffMessage(record) });

/** What there is to say of the loss of the recorded cluster; undefined while it answers. */
export const lossTold = (group: MirrorGroup): string | undefined =>
  viewOfPlace(group)?.contact === 'Ready' ? undefined : group.loss?.message;

/** When a Job that is to rest, or to go, counts as fenced off, though nothing may happen then; undefined when it does not come to that. */
export const fencedOffAfterMs = ({ loss, local }: MirrorGroup): number | undefined =>
  loss?.kind === 'NotYet' && (local?.spec.suspend === true || local?.metadata.deletionTimestamp !== undefined) ? loss.forMs : undefined;

/**
 * Whether a copy that is not the current one keeps the next one waiting. An earlier placement elsewhere was proven to be over before the present one was
 * recorded: what is remembered of a cluster that is lost says nothing against that.
 */
export function isInTheWay(group: MirrorGroup, { cluster, job }: Copy, record: AdmissionRecord): boolean {
  const contact = group.clusters.get(cluster)?.contact;
  if (contact === 'Ready') return true;
  return !isAtRest(job) && !isOutlived(group, { cluster, job }, record);
}

const isOutlived = (group: MirrorGroup, { cluster, job }: Pick<Copy, 'cluster' | 'job'>, { epoch }: AdmissionRecord): boolean =>
  group.clusters.get(cluster)?.contact === 'Lost' && cluster !== placeOf(group) && (copyIdentity(job)?.epoch ?? epoch) < epoch;

/** Nothing of this copy runs, though its cluster is lost: it is fenced off, or was proven to be over before the present placement was recorded. */
export const isStopped = (group: MirrorGroup, copy: Copy, record: AdmissionRecord): boolean =>
  copy.cluster === placeOf(group) ? isFencedOff(group) : isOutlived(group, copy, record);
