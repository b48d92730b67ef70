import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import { isDispatched } from '../../api/dispatch-proof.ts';
import { DispatchedReason, SwitchyardCondition } from '../../api/reasons.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import { isProvenAtRest } from '../../api/rest-proof.ts';
import { placeOf, recordIn, viewOfPlace, type ClusterView, type MirrorGroup } from './mirror-group.ts';
import { dispatched, notDispatched } from '../status-home/own-conditions.ts';
import type { OwnCondition, WorkKind } from '../../work-kind/work-kind.ts';

/**
 * Whether the name of the copy is read on the recorded cluster before a Job without a listed copy is judged. Copies are listed by a label,
 * which users and webhooks of that cluster can remove: only its name shows whether the copy exists. An earlier manager may have created the
 * copy and ended before home said so. A Job that this manager recorded and never dispatched costs no such call, nor does one that is proven
 * to rest.
 */
export function isToBeLookedUp(group: MirrorGroup, local: DeepReadonly<WorkObject>, record: AdmissionRecord): boolean {
  const view = viewOfPlace(group);
  const { contact, absence } = view ?? {};
  if (contact !== 'Ready' || absence === undefined) return false;
  if (absence === 'Unlisted') return true;
  const mayStop = local.metadata.deletionTimestamp !== undefined || group.kind.isSuspended(local);
  return mayStop ? !isProvenAtRest(local.status, record) : wasDispatched(local, record) || isOfEarlierManager(view, record);
}

/** An earlier manager recorded the placement, and this one has sent no write for it. */
const isOfEarlierManager = (view: ClusterView | undefined, { since }: AdmissionRecord): boolean =>
  view?.untouchedSinceMs !== undefined && Date.parse(since) < view.untouchedSinceMs;

type NamedView = readonly [string, ClusterView];

/**
 * The clusters on which the name of the copy is to be read now, and how long to wait for clusters where a write may still be carried out.
 * Read are clusters with unanswered writes that the Job is not to run on, and the recorded cluster where the copy is missing.
 */
export function unclearPlaces(
  group: MirrorGroup,
  local: DeepReadonly<WorkObject>,
): { readonly looks: NamedView[]; readonly waitsMs: number[] } {
  const mayStop = local.metadata.deletionTimestamp !== undefined || group.kind.isSuspended(local);
  const record = recordIn(group.record);
  const isMissing = record !== undefined && isToBeLookedUp(group, local, record);
  const looks: NamedView[] = [];
  const waitsMs: number[] = [];
  for (const [name, view] of group.clusters) {
    const { doubt, absence } = view;
    const isPlace = name === placeOf(group);
    if (doubt.kind === 'Waiting' && (mayStop || !isPlace)) waitsMs.push(doubt.forMs);
    const isWaiting = doubt.kind === 'Waiting' && mayStop && absence === 'Open';
    if ((doubt.kind === 'Look' && (mayStop || !isPlace)) || (isMissing && isPlace && !isWaiting)) looks.push([name, view]);
  }
  return { looks, waitsMs };
}

/** Whether the status says that this placement was dispatched, or said so until its copy was missed. */
export const wasDispatched = ({ status }: DeepReadonly<WorkObject>, record: AdmissionRecord): boolean =>
  isDispatched(status, record) || isLost(status);

const isLost = (status: DeepReadonly<WorkObject['status']>): boolean =>
  findCondition(status?.conditions, SwitchyardCondition.Dispatched)?.reason === DispatchedReason.CopyLost;

/** The condition Dispatched while the existence of the copy is unclear. It keeps its present status, so that nothing follows from it. */
export function unclearCopy(local: DeepReadonly<WorkObject>, record: AdmissionRecord, { reason, message }: DispatchProblem): OwnCondition {
  if (isDispatched(local.status, record)) return dispatched(record, message);
  return notDispatched({ reason: isLost(local.status) ? DispatchedReason.CopyLost : reason, message });
}

/** A copy that vanished is created again only after this time and the grace period of its pods, so that they have stopped. */
export const COPY_LOST_DELAY_MS = 10_000;

export const lostDelayMs = (kind: WorkKind, local: DeepReadonly<WorkObject>): number =>
  COPY_LOST_DELAY_MS + kind.graceSeconds(local) * 1000;

/** Milliseconds that a Job whose condition reports a lost copy still waits; at most 0: it does not wait. */
export function remainingLostDelayMs(kind: WorkKind, local: DeepReadonly<WorkObject>, nowMs: number): number {
  const present = findCondition(local.status?.conditions, SwitchyardCondition.Dispatched);
  if (present?.reason !== DispatchedReason.CopyLost || present.lastTransitionTime === undefined) return 0;
  return Date.parse(present.lastTransitionTime) + lostDelayMs(kind, local) - nowMs;
}
