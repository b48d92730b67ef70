import type { EndedPod } from '../../shared/api/ended-pods.ts';
import type { DeepReadonly, WorkObject } from '../../shared/api/kubernetes.ts';
import { PRIORITY_CLASS_LABEL, SUBMISSION_ANNOTATION } from '../../shared/api/names.ts';
import { parseWireTime, toWireTime } from '../../shared/api/wire-time.ts';
import { controllerOf } from '../../shared/kube/controller-of.ts';
import { finishedCondition } from '../../shared/kube/conditions.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { creatorOf, submitterOf } from '../api/creator.ts';
import { actsOn, type JobAct } from '../api/job-acts.ts';
import { queueNameOf } from '../api/job-annotations.ts';
import type { NamespaceIdentity } from '../api/namespace-identities.ts';
import type { AdmissionRecord, PastAdmission } from '../api/records.ts';
import { parseQualifiedName } from '../work-kind/qualified-name.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

/** The record of an ended Job, in a few hundred bytes. */
export type HistoryRecord = {
  readonly uid: string;
  readonly namespace: string;
  /** Absent: at the time of writing it was unknown which of the namespaces of that name it was. */
  readonly namespaceUid?: string;
  readonly name: string;
  /** Its kind, such as `JobSet`, and its resource and group, `jobsets.jobset.x-k8s.io`. Absent: Job. */
  readonly kind?: string;
  readonly resource?: string;
  readonly outcome: 'Complete' | 'Failed' | 'Deleted';
  readonly reason?: string;
  readonly message?: string;
  readonly localQueue?: string;
  readonly clusterQueue?: string;
  readonly flavors?: Readonly<Record<string, string>>;
  /** The last cluster. */
  readonly cluster?: string;
  /** The number of its placements. */
  readonly placements?: number;
  readonly priorityClass?: string;
  /** The key of the submission in its queue. */
  readonly submission?: string;
  /** User who submitted the Job over HTTP. */
  readonly submittedBy?: string;
  /** The creator, where it was recorded. */
  readonly user?: string;
  /** The latest acts that the manager carried out for users. */
  readonly acts?: readonly JobAct[];
  /** The owner, such as `CronJob/nightly`. */
  readonly owner?: string;
  /** RFC 3339. */
  readonly created: string;
  /** The last admission. */
  readonly admitted?: string;
  /** That one had ended before the Job did: it is among `pastAdmissions`. */
  readonly evicted?: true;
  /** Earlier admissions, as far as they are recorded, the oldest first. */
  readonly pastAdmissions?: readonly PastAdmission[];
  readonly started?: string;
  readonly ended: string;
  /** Quantities that its pods requested together, and the seconds that the Job was admitted with them, over all its admissions. */
  readonly requests?: Readonly<Record<string, string>>;
  readonly admittedSeconds?: number;
  readonly succeeded: number;
  /** Failed pods: the number of retries. */
  readonly failed: number;
};

/** Whether the user created the Job, or submitted it over HTTP. */
export const isOfUser = ({ submittedBy, user }: Pick<HistoryRecord, 'submittedBy' | 'user'>, name: string): boolean =>
  user === name || submittedBy === name;

/** Whether it is of this resource: `jobs`, or `RESOURCE.GROUP` of another kind. */
export const isOfResource = ({ resource = 'jobs' }: Pick<HistoryRecord, 'resource'>, wanted: string): boolean => resource === wanted;

/** The endings of the pods of one copy. */
export type HistoryPods = {
  readonly cluster: string;
  readonly epoch: number;
  readonly copyUid: string;
  readonly pods: readonly EndedPod[];
};

const MESSAGE_LENGTH_MAX = 512;

/**
 * Whether an ended Job belongs to this namespace, and not to an earlier one of its name. A record without a UID counts where its Job was
 * created in a later second than the namespace.
 */
export const belongsTo = ({ namespace, namespaceUid, created }: Of, now: NamespaceIdentity): boolean =>
  namespace === now.name && (namespaceUid === undefined ? (parseWireTime(created) ?? 0) > now.createdMs : namespaceUid === now.uid);
type Of = Pick<HistoryRecord, 'namespace' | 'namespaceUid' | 'created'>;

export type HistoryRecordDeps = {
  readonly kind: WorkKind;
  /** The present namespace of that name, where it is known. */
  readonly namespace: NamespaceIdentity | undefined;
  readonly nowMs: number;
};

/** The record of an ended Job, or of one that is deleted at `nowMs`. */
export function historyRecord(
  job: DeepReadonly<WorkObject>,
  record: AdmissionRecord | undefined,
  { kind, namespace, nowMs }: HistoryRecordDeps,
): HistoryRecord {
  const { metadata, status } = job;
  const { qualifier: resource, name } = parseQualifiedName(metadata.name);
  const { startTime, completionTime, succeeded, failed } = kind.progress(job);
  const end = finishedCondition(status);
  const acts = actsOn(job);
  const ended = completionTime ?? end?.lastTransitionTime ?? toWireTime(nowMs);
  return {
    uid: metadata.uid,
    namespace: metadata.namespace,
    ...omitUndefined({ namespaceUid: namespaceUidOf(job, namespace) }),
    name,
    ...omitUndefined({ kind: resource === undefined ? undefined : kind.of(metadata.name).resource.kind, resource }),
    outcome: end === undefined ? 'Deleted' : end.type === 'Complete' ? 'Complete' : 'Failed',
    ...omitUndefined({
      reason: end?.type === 'Complete' ? undefined : end?.reason,
      message: end?.type === 'Complete' ? undefined : end?.message?.slice(0, MESSAGE_LENGTH_MAX),
      localQueue: queueNameOf(job),
      clusterQueue: record?.clusterQueue,
      flavors: record?.flavors,
      cluster: record?.cluster,
      placements: record?.epoch,
      priorityClass: metadata.labels?.[PRIORITY_CLASS_LABEL],
      submission: metadata.annotations?.[SUBMISSION_ANNOTATION],
      submittedBy: submitterOf(job),
      user: creatorOf(job),
      acts: acts.length === 0 ? undefined : acts,
      owner: ownerOf(job),
      admitted: record?.since,
      evicted: record?.evicted,
      pastAdmissions: record?.pastAdmissions,
      started: startTime,
      requests: record?.requests,
      admittedSeconds: record && admittedSeconds(record, ended),
    }),
    created: metadata.creationTimestamp ?? ended,
    ended,
    succeeded,
    failed,
  };
}

/** The cache of namespaces may be ahead of that of Jobs: a Job does not belong to a namespace younger than itself. */
function namespaceUidOf({ metadata }: DeepReadonly<WorkObject>, namespace: NamespaceIdentity | undefined): string | undefined {
  const createdMs = parseWireTime(metadata.creationTimestamp);
  return namespace === undefined || createdMs === undefined || namespace.createdMs > createdMs ? undefined : namespace.uid;
}

function admittedSeconds(record: AdmissionRecord, ended: string): number {
  const before = record.executedSeconds ?? 0;
  const [from, to] = [parseWireTime(record.since), parseWireTime(ended)];
  return record.evicted === true || from === undefined || to === undefined ? before : before + Math.max(0, Math.round((to - from) / 1000));
}

function ownerOf(job: DeepReadonly<WorkObject>): string | undefined {
  const owner = controllerOf(job);
  return owner && `${owner.kind}/${owner.name}`;
}
