import type { DeepReadonly, Job, JobStatus } from '../../../shared/api/kubernetes.ts';
import { DispatchedReason } from '../../api/reasons.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { fencedOffMessage, isProvenAtRest } from '../../api/rest-proof.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import { SwitchyardCondition } from '../../api/reasons.ts';
import { isAtRest } from '../copy/copy-rest.ts';
import { sameJson } from '../status-home/json-diff.ts';
import { isFencedOff, placeOf, viewOfPlace, type Copy, type MirrorGroup } from './mirror-group.ts';
import { cannotStart, notDispatched } from '../status-home/own-conditions.ts';
import { copyIdentity } from '../copy/copy-marks.ts';
import { failedStatus, toLocalStatus, withoutPods, type OwnCondition } from '../status-home/to-local-status.ts';

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

/** What there is to say of the loss of the recorded cluster, or of what is not seen there any more; undefined while it is seen. */
export function lossTold(group: MirrorGroup): string | undefined {
  const contact = viewOfPlace(group)?.contact;
  if (contact === 'Ready') return undefined;
  if (contact === 'NotServed') return notServed(group);
  return isLossYoung(group) ? undefined : group.loss?.message;
}

/** It is too early for its Jobs to say so: a cluster that flaps would cost each of them two writes every time. */
export const isLossYoung = ({ loss }: MirrorGroup): boolean => (loss?.toldInMs ?? 0) > 0;

/** Whether a write tells of nothing but the loss of the cluster, or that it is back: that can wait for all others. */
export function tellsLossOnly(before: DeepReadonly<JobStatus> | undefined, after: DeepReadonly<JobStatus>): boolean {
  const [told, tells] = [before, after].map((status) => findCondition(status?.conditions, SwitchyardCondition.Dispatched));
  const isSameOtherwise = told?.status === tells?.status && told?.reason === tells?.reason;
  return isSameOtherwise && told?.message !== tells?.message && sameJson(withoutDispatched(before), withoutDispatched(after));
}

const withoutDispatched = (status: DeepReadonly<JobStatus> | undefined): unknown => ({
  ...status,
  conditions: (status?.conditions ?? []).filter(({ type }) => type !== SwitchyardCondition.Dispatched),
});

/** Its copy may run on, and nobody may look: no later than that is it known to rest. */
const notServed = (group: MirrorGroup): string =>
  `cluster "${placeOf(group)}" no longer serves namespace "${group.local?.metadata.namespace}" (spec.servedNamespaces of its WorkerCluster), so that what becomes of the Job ` +
  'there is not seen, and its quota is held: put the namespace on the list again until the Job has ended or has moved (spec.state: Draining)';

/** When a Job is to say that its cluster is lost, or, where it is to rest or to go, counts as fenced off, though nothing may happen then; undefined: not by itself. */
export function lossChangesAfterMs(group: MirrorGroup): number | undefined {
  const { loss, local } = group;
  if (isLossYoung(group)) return loss?.toldInMs;
  const isToRest = local?.spec.suspend === true || local?.metadata.deletionTimestamp !== undefined;
  return loss?.kind === 'NotYet' && isToRest ? loss.forMs : undefined;
}

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
