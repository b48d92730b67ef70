import type { DeepReadonly, WorkObject, WorkStatus } from '../../../shared/api/kubernetes.ts';
import { DispatchedReason } from '../../api/reasons.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { fencedOffMessage, isProvenAtRest } from '../../api/rest-proof.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import { SwitchyardCondition } from '../../api/reasons.ts';
import { sameJson } from '../../api/json-diff.ts';
import { isFencedOff, placeOf, viewOfPlace, type Copy, type MirrorGroup } from './mirror-group.ts';
import { cannotStart, notDispatched } from '../status-home/own-conditions.ts';
import { copyIdentity } from '../../work-kind/copy-marks.ts';
import type { OwnCondition } from '../../work-kind/work-kind.ts';

/**
 * The status of a suspended Job once it is fenced off on a lost cluster: at rest, or failed, if admission has decided so. `Said`: the
 * status shows this already; undefined: the Job is not suspended or not fenced off.
 */
export function fencedOffStatus(
  group: MirrorGroup,
  local: DeepReadonly<WorkObject>,
  record: AdmissionRecord,
  nowMs: number,
): WorkStatus | 'Said' | undefined {
  const { kind } = group;
  if (!kind.isSuspended(local) || !isFencedOff(group)) return undefined;
  const { fail } = record;
  if (fail === undefined && isProvenAtRest(local.status, record)) return 'Said';
  const own = [fencedOff(record)];
  const remote = kind.home.withoutPods(local.status, nowMs);
  return fail === undefined
    ? kind.home.of({ local, remote, own, nowMs })
    : kind.home.failed(local, remote, fail, [...own, ...cannotStart(fail)], nowMs);
}

/** The condition of a Job that is fenced off. */
export const fencedOff = (record: AdmissionRecord): OwnCondition =>
  notDispatched({ reason: DispatchedReason.FencedOff, message: fencedOffMessage(record) });

/**
 * What the Job reports of the loss of its cluster, or of a namespace that is no longer served there; undefined while its copy is in sight.
 */
export function lossMessage(group: MirrorGroup): string | undefined {
  const contact = viewOfPlace(group)?.contact;
  if (contact === 'Ready') return undefined;
  if (contact === 'NotServed') return notServed(group);
  if (contact === 'Unreadable') return `${unreadable(group)}; what becomes of the Job there is not seen, and its quota is held`;
  return isLossYoung(group) ? undefined : group.loss?.message;
}

/** The loss is too recent to report: a flapping cluster would cost each of its Jobs two writes every time. */
export const isLossYoung = ({ loss }: MirrorGroup): boolean => (loss?.reportInMs ?? 0) > 0;

/** Whether a status write reports nothing but the loss or the return of the cluster: such a write may come after all others. */
export function reportsLossOnly(before: DeepReadonly<WorkStatus> | undefined, after: DeepReadonly<WorkStatus>): boolean {
  const [told, tells] = [before, after].map((status) => findCondition(status?.conditions, SwitchyardCondition.Dispatched));
  const isSameOtherwise = told?.status === tells?.status && told?.reason === tells?.reason;
  return isSameOtherwise && told?.message !== tells?.message && sameJson(withoutDispatched(before), withoutDispatched(after));
}

const withoutDispatched = (status: DeepReadonly<WorkStatus> | undefined): unknown => ({
  ...status,
  conditions: (status?.conditions ?? []).filter(({ type }) => type !== SwitchyardCondition.Dispatched),
});

/** The copy may go on running out of sight: the Job is not known to rest until its namespace is served again. */
const notServed = (group: MirrorGroup): string =>
  `cluster "${placeOf(group)}" no longer serves namespace "${group.local?.metadata.namespace}" (spec.servedNamespaces of its WorkerCluster), so that what becomes of the Job ` +
  'there is not seen, and its quota is held: put the namespace on the list again until the Job has ended or has moved (spec.state: Draining)';

/** The cluster does not let the manager list Jobs in the namespace of this Job. */
export const unreadable = (group: MirrorGroup): string =>
  `cluster "${placeOf(group)}" does not let the manager list Jobs in namespace "${group.local?.metadata.namespace}": grant it the rights there ` +
  '(chart switchyard-worker: managerAccess.namespaces)';

/**
 * Milliseconds until a Job that is suspended or deleted counts as fenced off, even without an event; undefined: never by itself. When Jobs
 * are to report a loss, their cluster enqueues all of them (loss-reports.ts).
 */
export function fencedOffAfterMs({ kind, loss, local }: MirrorGroup): number | undefined {
  const isToRest = local !== undefined && (kind.isSuspended(local) || local.metadata.deletionTimestamp !== undefined);
  return loss?.kind === 'NotYet' && isToRest ? loss.forMs : undefined;
}

/**
 * Whether a copy other than the current one delays the next one. An earlier placement elsewhere was proven to be over before the present
 * one was recorded, so that cached copies of a lost cluster do not count against that.
 */
export function isBlocking(group: MirrorGroup, { cluster, job }: Copy, record: AdmissionRecord): boolean {
  const contact = group.clusters.get(cluster)?.contact;
  if (contact === 'Ready') return true;
  return !group.kind.copies.isAtRest(job) && !isOutlived(group, { cluster, job }, record);
}

const isOutlived = (group: MirrorGroup, { cluster, job }: Pick<Copy, 'cluster' | 'job'>, { epoch }: AdmissionRecord): boolean =>
  group.clusters.get(cluster)?.contact === 'Lost' && cluster !== placeOf(group) && (copyIdentity(job)?.epoch ?? epoch) < epoch;

/**
 * No pod of this copy runs, though its cluster is lost: the copy is fenced off, or its placement was proven to be over before the present
 * one was recorded.
 */
export const isStopped = (group: MirrorGroup, copy: Copy, record: AdmissionRecord): boolean =>
  copy.cluster === placeOf(group) ? isFencedOff(group) : isOutlived(group, copy, record);
