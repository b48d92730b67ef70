import type { DeepReadonly, Job, JobStatus } from '../../../shared/api/kubernetes.ts';
import { COPIES_FINALIZER, MANAGER_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import { findCondition, hasTrueCondition, isFinished } from '../../../shared/kube/conditions.ts';
import type { LossJudgement } from '../../api/fenced-off.ts';
import type { Retention } from '../../api/retention.ts';
import { DispatchedReason, SwitchyardCondition } from '../../api/reasons.ts';
import type { AdmissionRecord, ParsedRecord } from '../../api/records.ts';
import { isRefusal, isRefusalOf, type DispatchProblem } from '../../api/refusals.ts';
import type { ResourceFlavor } from '../../api/resource-flavor.ts';
import type { RecordedPlace } from './recorded-place.ts';
import { copyIdentity } from '../copy/copy-marks.ts';
import type { Tracing } from '../copy/remote-job.ts';

/** A Job of the manager cluster and everything known of its copies, seen at one moment. */
export type MirrorGroup = {
  readonly local: DeepReadonly<Job> | undefined;
  /** Its admission record, as far as it can be trusted. */
  readonly record: ParsedRecord;
  /** Why that record no longer stands, though admission made it; undefined while it does. */
  readonly unresolved: string | undefined;
  /** Every object with our origin label found under this name. One that does not say whose copy it is is left alone. */
  readonly copies: readonly Copy[];
  /** Where the record says that it is, or what is remembered of it; undefined where neither is known. */
  readonly place: RecordedPlace | undefined;
  /** The clusters that matter to it: that place, those that show something of it, and all where it {@link mayBeAnywhere}. */
  readonly clusters: ReadonlyMap<string, ClusterView>;
  /** What follows for it from the loss of the recorded cluster; undefined while that is not lost. */
  readonly loss?: (LossJudgement & { readonly toldInMs?: number }) | undefined;
  readonly flavors: Pick<ReadonlyMap<string, DeepReadonly<ResourceFlavor>>, 'get'>;
  /** Id of this manager. */
  readonly origin: string;
  readonly tracing?: Tracing;
  /** Of the sidecar of pod fences. */
  readonly podFenceImage: string;
  /** Why nothing of any Job may be set going now. */
  readonly homeRestored?: DispatchProblem | undefined;
  /** Since when {@link MirrorPlan.nameHeld}, in epoch milliseconds. */
  readonly nameHeldSinceMs?: number | undefined;
};
export type Copy = {
  readonly cluster: string;
  readonly job: DeepReadonly<Job>;
  /** It is on its way out, by its own account or because we have just deleted it. */
  readonly deleting: boolean;
};
export type ClusterView = {
  /** NotServed: it is not asked about Jobs of this namespace. */
  readonly contact: Contact | 'NotServed';
  /** Its WorkerCluster is being deleted. */
  readonly leaving?: boolean;
  readonly jobController: string;
  /** The built-in Job controller itself runs its copies, and no worker in its place: there is no fence. */
  readonly builtIn?: boolean;
  /** Why nobody has run its copies for some time; undefined while somebody does, or nobody can tell. */
  readonly withoutWorker?: string | undefined;
  readonly local: boolean;
  /** How long copies of Jobs that have ended stay there; absent: they go. */
  readonly retains?: Retention;
  /** Why the copy could not be made when last tried. */
  readonly problem: DispatchProblem | undefined;
  /** Why writes for the Job go on failing, and are tried again. */
  readonly trouble?: DispatchProblem | undefined;
  /** What keeps a copy that is there from starting. */
  readonly waiting?: string | undefined;
  /** Whether the copies that are known are all that there can be, as they are. */
  readonly doubt: Doubt;
  /** From when on nobody but this manager has written there, which has written nothing for this Job; undefined once it has. Epoch milliseconds. */
  readonly untouchedSinceMs: number | undefined;
  /** What it says of the Job that no copy is listed; absent: that there is none, or one is listed. */
  readonly absence?: Absence | undefined;
};
/**
 * What our own writes have left open. Waiting: one is under way, or its answer was lost a moment ago, and may be carried out until `forMs` have
 * passed. Look: the time is over, and the object itself must be looked at.
 */
export type Doubt = { readonly kind: 'None' } | { readonly kind: 'Waiting'; readonly forMs: number } | { readonly kind: 'Look' };
/**
 * Unlisted: a copy is out of the list without a deletion of ours, and may be there without the label that it is listed by. Open: something may have been
 * sent there once, and nobody has looked its name up since.
 */
export type Absence = 'Unlisted' | 'Open';
/**
 * Ready: connected, and its cache of copies is complete: a copy that is not in it does not exist, or has lost its label. Connecting: nothing is known yet.
 * Lost: it does not answer.
 */
export type Contact = 'Ready' | 'Connecting' | 'Lost';

export const recordIn = (parsed: ParsedRecord): AdmissionRecord | undefined => (parsed.kind === 'Record' ? parsed.record : parsed.last);
/** The name that the recorded cluster has now; undefined when it is not known under any. */
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
 * Clusters that may have a copy, and do not show what they have. A Job is recorded somewhere only once nothing of it runs anywhere else, so that is
 * the recorded one; where nobody knows, it is any that serves its namespace.
 */
export function unseenPlaces(group: MirrorGroup, record: AdmissionRecord | undefined): string[] {
  if (record === undefined) return [...group.clusters].flatMap(([name, { contact }]) => (isOpen(contact) ? [name] : []));
  const view = viewOfPlace(group);
  return view?.contact === 'Ready' || isUntouched(view, record) || isFencedOff(group) ? [] : [placeOf(group) ?? record.cluster];
}
const isOpen = (contact: ClusterView['contact']): boolean => contact === 'Connecting' || contact === 'Lost';

/** Nothing was ever sent there for this placement: it was recorded after anybody else could have. */
export const isUntouched = (view: ClusterView | undefined, { since }: AdmissionRecord): boolean =>
  view?.untouchedSinceMs !== undefined && Date.parse(since) >= view.untouchedSinceMs;
/** The copy is as it is known, or is known not to be. */
export const isCertain = (view: ClusterView | undefined, record: AdmissionRecord): boolean =>
  view?.doubt.kind === 'None' || isUntouched(view, record);
/** What can be seen of the Job is all that there can be. Writes that are open on a cluster that is lost say nothing where the record is of another one: see {@link hasOpenWrites}. */
export const isEmptyForSure = (group: MirrorGroup, record: AdmissionRecord | undefined): boolean =>
  [...group.clusters].every(([cluster, { contact, doubt }]) =>
    record !== undefined && cluster === placeOf(group)
      ? isFencedOff(group) || isCertain(viewOfPlace(group), record)
      : contact === 'NotServed' || doubt.kind === 'None' || (record !== undefined && contact === 'Lost'),
  );
/** Nothing of it runs on the recorded cluster, though that is lost and nobody can look. */
export const isFencedOff = (group: MirrorGroup): boolean => group.loss?.kind === 'FencedOff' && viewOfPlace(group)?.contact === 'Lost';
export const isReady = (group: MirrorGroup, cluster: string): boolean => group.clusters.get(cluster)?.contact === 'Ready';
/**
 * On another cluster than the recorded one a write of ours may still be carried out. Nothing is recorded elsewhere before that is settled; but a
 * record can be lost, or be put back. On a cluster that is lost nobody can settle it, and its worker is fenced.
 */
export const hasOpenWrites = (group: MirrorGroup): boolean =>
  [...group.clusters].some(([name, { doubt, contact }]) => name !== placeOf(group) && doubt.kind !== 'None' && contact !== 'Lost');
export const isOf = (copy: DeepReadonly<Job>, local: DeepReadonly<Job>): boolean => copyIdentity(copy)?.originUid === local.metadata.uid;
export const isCurrent = (group: MirrorGroup, { cluster, job }: Copy, local: DeepReadonly<Job>, record: AdmissionRecord): boolean =>
  cluster === placeOf(group) && isOf(job, local) && copyIdentity(job)?.epoch === record.epoch;
/** The placement itself, on what the WorkerCluster leads to now: somebody may have brought it there. It is neither followed nor ended. */
export const isOnChanged = ({ place }: MirrorGroup, { cluster, job }: Copy, local: DeepReadonly<Job>, record: AdmissionRecord): boolean =>
  place?.kind === 'Changed' && cluster === place.cluster && isOf(job, local) && copyIdentity(job)?.epoch === record.epoch;
/** The copy of another Job has the name that the copy needs, on the recorded cluster. */
export const isNameHeld = (group: MirrorGroup, local: DeepReadonly<Job>): boolean =>
  group.copies.some(({ cluster, job }) => cluster === placeOf(group) && copyIdentity(job) !== undefined && !isOf(job, local));
/** Whether copies of a Job may be on any cluster: it was admitted, and there is no record that says where to. */
export const mayBeAnywhere = (local: DeepReadonly<Job>, parsed: ParsedRecord): boolean =>
  recordIn(parsed) === undefined &&
  local.spec.managedBy === MANAGER_CONTROLLER_NAME &&
  !isFinished(local.status) &&
  (isHeld(local) || claimsCopy(local.status));

/** The status speaks of a copy that may run. */
export const claimsCopy = (status: DeepReadonly<JobStatus> | undefined): boolean =>
  status?.startTime !== undefined || (status?.active ?? 0) > 0 || hasTrueCondition(status?.conditions, SwitchyardCondition.Dispatched);

export const isHeld = ({ metadata }: DeepReadonly<Job>): boolean => metadata.finalizers?.includes(COPIES_FINALIZER) ?? false;

/** The Job is yet to be told that the cluster has refused it for good. */
export function isUntold({ local, record }: MirrorGroup, problem: DispatchProblem | undefined): boolean {
  if (record.kind !== 'Record' || !isRefusalOf(record.record.epoch, problem)) return false;
  return !isRefusalOf(record.record.epoch, findCondition(local?.status?.conditions, SwitchyardCondition.Dispatched));
}

/** An earlier create may still be carried out, whatever the next one is answered. Once the time for that is over, the next one looks. */
export const mayBeMadeYet = ({ record, clusters }: MirrorGroup, cluster: string): boolean => {
  const view = clusters.get(cluster);
  return record.kind === 'Record' && view?.doubt.kind !== 'Look' && !isCertain(view, record.record);
};

/** Where a cluster has refused a copy, its queue tries it again when it is time for that; but not once it has refused a placement for good, and this is the next. */
export function isTriedAnyway({ clusters }: MirrorGroup, { kind, cluster }: { readonly kind: string; readonly cluster: string }): boolean {
  const problem = clusters.get(cluster)?.problem;
  return (kind === 'Create' || kind === 'Seed') && (problem === undefined || !isRefusal(problem));
}
