import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { COPIES_FINALIZER, MANAGER_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import { findCondition, hasTrueCondition, isFinished } from '../../../shared/kube/conditions.ts';
import type { LossJudgement } from '../../api/fenced-off.ts';
import type { Retention } from '../../api/retention.ts';
import { DispatchedReason, SwitchyardCondition } from '../../api/reasons.ts';
import type { AdmissionRecord, ParsedRecord } from '../../api/records.ts';
import { isRefusal, isRefusalOf, type DispatchProblem } from '../../api/refusals.ts';
import type { ResourceFlavor } from '../../api/resource-flavor.ts';
import type { RecordedPlace } from './recorded-place.ts';
import { copyIdentity } from '../../work-kind/copy-marks.ts';
import type { Tracing } from '../../work-kind/copy-options.ts';
import type { SingleKind, WorkKind } from '../../work-kind/work-kind.ts';

/** A Job of the manager cluster and everything known of its copies, at one moment. */
export type MirrorGroup = {
  readonly kind: SingleKind;
  readonly local: DeepReadonly<WorkObject> | undefined;
  /** The admission record, as far as it can be trusted. */
  readonly record: ParsedRecord;
  /** Why the record of admission is no longer valid; undefined while it is valid. */
  readonly unresolved: string | undefined;
  /** Every copy with the origin label of this manager under the key of this Job. A copy without an identity is left alone. */
  readonly copies: readonly Copy[];
  /** The place that the record, or the last valid record, names; undefined where there is none. */
  readonly place: RecordedPlace | undefined;
  /** The clusters that matter to the Job: its place, those that have traces of it, and all where it {@link mayBeAnywhere}. */
  readonly clusters: ReadonlyMap<string, ClusterView>;
  /** What the loss of the recorded cluster means for the Job; undefined while the cluster is not lost. */
  readonly loss?: (LossJudgement & { readonly reportInMs?: number }) | undefined;
  readonly flavors: Pick<ReadonlyMap<string, DeepReadonly<ResourceFlavor>>, 'get'>;
  /** Id of this manager. */
  readonly origin: string;
  readonly tracing?: Tracing;
  /** Image of the sidecar of pod fences. */
  readonly podFenceImage: string;
  /** Why no copy of the Job may be started now: a placement that no record names may have one on a cluster that is not known yet. */
  readonly homeRestored?: DispatchProblem | undefined;
  /** Since when {@link MirrorPlan.nameHeld}, in epoch milliseconds. */
  readonly nameHeldSinceMs?: number | undefined;
  /** Since when a copy is known to have ended (`awaited-ends.ts`), in epoch milliseconds; undefined: since now, or none has. */
  readonly endedSinceMs?: number | undefined;
};
export type Copy = {
  readonly cluster: string;
  readonly job: DeepReadonly<WorkObject>;
  /** The copy is being deleted: by its deletionTimestamp, or by a deletion of this manager that the cache lacks. */
  readonly deleting: boolean;
};
export type ClusterView = {
  /**
   * NotServed: Jobs of this namespace are not listed on the cluster. Unreadable: they may not be listed there, as after the Role of the
   * manager was deleted.
   */
  readonly contact: Contact | 'NotServed' | 'Unreadable';
  /** The WorkerCluster is being deleted. */
  readonly leaving?: boolean;
  readonly jobController: string;
  /** The built-in Job controller runs the copies, with no worker in its place: there is no fence. */
  readonly builtIn?: boolean;
  /** Why no worker has run the copies for some time; undefined while a worker runs them, or when that is unknown. */
  readonly withoutWorker?: string | undefined;
  readonly local: boolean;
  /** How long copies of finished Jobs stay; absent: they are deleted. */
  readonly retains?: Retention;
  /** Why the last attempt to create the copy failed. */
  readonly problem: DispatchProblem | undefined;
  /** Why writes for the Job keep failing, with retries. */
  readonly trouble?: DispatchProblem | undefined;
  /** Why the pods of an existing copy do not start. */
  readonly waiting?: string | undefined;
  /** Whether the known copies are all there can be, in their present state. */
  readonly doubt: Doubt;
  /**
   * From when on no other manager can have written there, while this one has written nothing for the Job; undefined once it has. Epoch
   * milliseconds.
   */
  readonly untouchedSinceMs: number | undefined;
  /** What it means that no copy is listed; undefined: there is no copy, or one is listed. */
  readonly absence?: Absence | undefined;
};
/**
 * The result of this manager's own writes. Waiting: a write is in flight, or its answer was lost, and may be carried out until `forMs` have
 * passed. Look: the time is over, and the object must be read.
 */
export type Doubt = { readonly kind: 'None' } | { readonly kind: 'Waiting'; readonly forMs: number } | { readonly kind: 'Look' };
/**
 * Unlisted: a copy left the list without a deletion by this manager, and may exist without the label that lists it. Open: a write may once
 * have been sent there, and the name of the copy was not read since.
 */
export type Absence = 'Unlisted' | 'Open';
/**
 * Ready: connected with a complete cache of copies: a copy outside the cache does not exist, or has lost its label. Connecting: nothing is
 * known yet. Lost: the cluster does not answer.
 */
export type Contact = 'Ready' | 'Connecting' | 'Lost';

export const recordIn = (parsed: ParsedRecord): AdmissionRecord | undefined => (parsed.kind === 'Record' ? parsed.record : parsed.last);
/** The present name of the recorded cluster; undefined when no WorkerCluster is known to be it. */
export const placeOf = ({ place }: MirrorGroup): string | undefined => (place?.kind === 'Known' ? place.cluster : undefined);
export const viewOfPlace = (group: MirrorGroup): ClusterView | undefined => group.clusters.get(placeOf(group) ?? '');

/** Why nothing can be known of the recorded cluster. */
export function absence({ place }: MirrorGroup, { cluster, clusterUID }: AdmissionRecord): DispatchProblem {
  if (place?.kind !== 'Changed') return { reason: DispatchedReason.ClusterNotFound, message: `WorkerCluster "${cluster}" does not exist` };
  const message =
    `WorkerCluster "${cluster}" leads to another cluster now (UID ${place.uid}) than when the Job was placed there (UID ${clusterUID}), and what runs ` +
    'of the Job on that one is out of sight; join that cluster again, under any name';
  return { reason: DispatchedReason.ClusterChanged, message };
}

/**
 * Clusters that may have a copy, and do not show their copies. A Job gets a record for a cluster only once no copy runs elsewhere, so that
 * is the recorded cluster; without a record it is any that serves the namespace.
 */
export function unseenPlaces(group: MirrorGroup, record: AdmissionRecord | undefined): string[] {
  if (record === undefined) return [...group.clusters].flatMap(([name, { contact }]) => (isOpen(contact) ? [name] : []));
  const view = viewOfPlace(group);
  return view?.contact === 'Ready' || isUntouched(view, record) || isFencedOff(group) ? [] : [placeOf(group) ?? record.cluster];
}
const isOpen = (contact: ClusterView['contact']): boolean => contact !== 'Ready' && contact !== 'NotServed';

/** No write was ever sent there for this placement: it was recorded after the last moment at which another manager could have written. */
export const isUntouched = (view: ClusterView | undefined, { since }: AdmissionRecord): boolean =>
  view?.untouchedSinceMs !== undefined && Date.parse(since) >= view.untouchedSinceMs;
/** The copy is in its known state, or is known not to exist. */
export const isCertain = (view: ClusterView | undefined, record: AdmissionRecord): boolean =>
  view?.doubt.kind === 'None' || isUntouched(view, record);
/**
 * The known copies are all there can be. Open writes on a lost cluster do not count where the record names another one: see {@link
 * hasOpenWrites}.
 */
export const isEmptyForSure = (group: MirrorGroup, record: AdmissionRecord | undefined): boolean =>
  [...group.clusters].every(([cluster, { contact, doubt }]) =>
    record !== undefined && cluster === placeOf(group)
      ? isFencedOff(group) || isCertain(viewOfPlace(group), record)
      : contact === 'NotServed' || doubt.kind === 'None' || (record !== undefined && contact === 'Lost'),
  );
/** No copy runs on the recorded cluster, though it is lost and cannot be read. */
export const isFencedOff = (group: MirrorGroup): boolean => group.loss?.kind === 'FencedOff' && viewOfPlace(group)?.contact === 'Lost';
export const isReady = (group: MirrorGroup, cluster: string): boolean => group.clusters.get(cluster)?.contact === 'Ready';
/**
 * A write of this manager may still be carried out on a cluster other than the recorded one. Admission records no other cluster before such
 * writes are settled, but a record can be lost or restored. On a lost cluster a write cannot be settled, and the worker there is fenced.
 */
export const hasOpenWrites = (group: MirrorGroup): boolean => viewsInDoubt(group).length > 0;
/** Why it is not known yet whether something runs on a cluster that the record does not name. */
export const troubleOfDoubt = (group: MirrorGroup): DispatchProblem | undefined =>
  viewsInDoubt(group).find(({ problem }) => problem !== undefined)?.problem;
const viewsInDoubt = (group: MirrorGroup): readonly ClusterView[] =>
  [...group.clusters].flatMap(([name, view]) =>
    name !== placeOf(group) && view.doubt.kind !== 'None' && view.contact !== 'Lost' ? [view] : [],
  );
export const isOf = (copy: DeepReadonly<WorkObject>, local: DeepReadonly<WorkObject>): boolean =>
  copyIdentity(copy)?.originUid === local.metadata.uid;
export const isCurrent = (group: MirrorGroup, { cluster, job }: Copy, local: DeepReadonly<WorkObject>, record: AdmissionRecord): boolean =>
  cluster === placeOf(group) && isOf(job, local) && copyIdentity(job)?.epoch === record.epoch;
/**
 * The copy of this placement, found on the cluster that its WorkerCluster has now, as a user may have moved it there. It is neither
 * mirrored nor deleted.
 */
export const isOnChanged = (
  { place }: MirrorGroup,
  { cluster, job }: Copy,
  local: DeepReadonly<WorkObject>,
  record: AdmissionRecord,
): boolean => place?.kind === 'Changed' && cluster === place.cluster && isOf(job, local) && copyIdentity(job)?.epoch === record.epoch;
/** The copy of another Job has the name of this Job's copy on the recorded cluster. */
export const isNameHeld = (group: MirrorGroup, local: DeepReadonly<WorkObject>): boolean =>
  group.copies.some(({ cluster, job }) => cluster === placeOf(group) && copyIdentity(job) !== undefined && !isOf(job, local));
/** Whether copies of the Job may be on any cluster: it was admitted, and no record names a cluster. */
export const mayBeAnywhere = (kind: WorkKind, local: DeepReadonly<WorkObject>, parsed: ParsedRecord): boolean =>
  recordIn(parsed) === undefined &&
  kind.controllerOf(local) === MANAGER_CONTROLLER_NAME &&
  !isFinished(local.status) &&
  (isHeld(local) || claimsCopy(kind, local));

/** The status reports a copy that may run. */
export const claimsCopy = (kind: WorkKind, job: DeepReadonly<WorkObject>): boolean => {
  const { startTime, active } = kind.progress(job);
  return startTime !== undefined || active > 0 || hasTrueCondition(job.status?.conditions, SwitchyardCondition.Dispatched);
};

export const isHeld = ({ metadata }: DeepReadonly<WorkObject>): boolean => metadata.finalizers?.includes(COPIES_FINALIZER) ?? false;

/** The cluster has refused the placement for good, and the Job does not report it yet. */
export function isUnreported({ local, record }: MirrorGroup, problem: DispatchProblem | undefined): boolean {
  if (record.kind !== 'Record' || !isRefusalOf(record.record.epoch, problem)) return false;
  return !isRefusalOf(record.record.epoch, findCondition(local?.status?.conditions, SwitchyardCondition.Dispatched));
}

/** An earlier create may still be carried out, whatever the answer to the next one. Once its time is over, the name of the copy is read. */
export const mayBeMadeYet = ({ record, clusters }: MirrorGroup, cluster: string): boolean => {
  const view = clusters.get(cluster);
  return record.kind === 'Record' && view?.doubt.kind !== 'Look' && !isCertain(view, record.record);
};

/**
 * The queue of the cluster retries a refused copy by itself when its back-off ends; but not where the problem is the final refusal of an
 * earlier placement.
 */
export function isTriedAnyway({ clusters }: MirrorGroup, { kind, cluster }: { readonly kind: string; readonly cluster: string }): boolean {
  const problem = clusters.get(cluster)?.problem;
  return (kind === 'Create' || kind === 'Seed') && (problem === undefined || !isRefusal(problem));
}
