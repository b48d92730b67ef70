import type { DeepReadonly, Unsaved, WorkObject } from '../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION } from '../../shared/api/names.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { isCarriedKind, type CarriedKind } from './carried-kinds.ts';
import { isJsonObject, parseJson } from './json-value.ts';
import { isPreempted, type Preempted } from './preempted.ts';

/**
 * The decision of admission about a Job, stored on the Job as one JSON annotation. Admission is its only writer; all others read it.
 * Together with `spec.suspend` it is the whole state:
 *
 * - no record: never admitted;
 * - record and not suspended: admitted to `cluster`, and its quota is in use;
 * - record and suspended: evicted, with a copy perhaps still on `cluster`. The record stays, because the copy must be found and resumed or
 *   deleted. Its quota is free once the record is `evicted`, so that only admission can release the Job again, and the status of the Job
 *   reports that no pod runs.
 *
 * Any user who may edit a Job may write this annotation. Only a {@link RecordReader} verifies that admission wrote it.
 */
export type AdmissionRecord = {
  /** ClusterQueue whose quota the Job uses. */
  readonly clusterQueue: string;
  /** ResourceFlavor from which each resource is taken, e.g. `{ cpu: 'on-demand' }`. */
  readonly flavors: Readonly<Record<string, string>>;
  /** WorkerCluster that runs the Job. */
  readonly cluster: string;
  /**
   * The cluster at admission, by the UID of its kube-system, whatever its WorkerCluster is called or leads to since. Absent in records of
   * earlier versions.
   */
  readonly clusterUID?: string;
  /** Number of this placement, from 1. It rises when the Job moves to another cluster, and stays when it resumes where it was. */
  readonly epoch: number;
  /** When the Job was last admitted, RFC 3339. */
  readonly since: string;
  /**
   * The charge, unless `charged` says otherwise, and the most that its copy may run: quantities that all its pods request together, `pods`
   * being their number.
   */
  readonly requests: Readonly<Record<string, string>>;
  /** What its ClusterQueue charges for that, where it transforms resources. Absent: `requests`. */
  readonly charged?: Readonly<Record<string, string>>;
  /** What each of its pod sets takes, where it has several: `flavors` are then those of the first. Absent: all pods take the same. */
  readonly podSets?: readonly RecordedPodSet[];
  /** The pods at once of its copy, where they are fewer than those of the object: `requests` are those of so many pods. */
  readonly parallelism?: number;
  /** Seconds that the Job was admitted before its last admission; where `evicted`, that one included. Absent: 0. */
  readonly executedSeconds?: number;
  /**
   * Earlier admissions, the oldest first; where `evicted`, the last one is among them. They are for display, and bound preemptions in
   * turns. The seal does not cover them, so that a manager of an earlier version accepts the record, and drops them. Absent: none is
   * recorded.
   */
  readonly pastAdmissions?: readonly PastAdmission[];
  /**
   * The copy goes on when the manager is out of reach: so the Job or its queue was set at admission. Later settings count from the next
   * admission on.
   */
  readonly unfenced?: true;
  /**
   * Seconds without a renewal after which each of its pods counts as cut off, and its kubelet ends it: the copy has a pod fence. Absent: it
   * has none.
   */
  readonly podFence?: number;
  /** The kinds of objects of its pods that travel with the copy. Absent: none. */
  readonly carry?: readonly CarriedKind[];
  /** They have the content that the first copy of the Job had. Absent: that of the moment at which a copy is created. */
  readonly carryContent?: 'Admitted';
  /** The Job was suspended since: the record names the cluster of its copy, and lets no pod run. */
  readonly evicted?: true;
  /** The Job was suspended for another Job. */
  readonly preempted?: Preempted;
  /** Quota is reserved, and the Job is admitted only once these admission checks are ready; it is `evicted` until then. */
  readonly checks?: readonly string[];
  /** The Job queues with this time of creation, RFC 3339. Absent: with its own. */
  readonly queuedSince?: string;
  /** Clusters that have refused the Job, or on which it did not start: it avoids them for now. */
  readonly avoid?: Readonly<Record<string, AvoidedCluster>>;
  /** The Job is to end as Failed, for this reason, once no pod of it runs: it is not admitted again. */
  readonly fail?: { readonly reason: string; readonly message: string };
};
/** An admission that has ended; times as RFC 3339, of whole seconds. */
export type PastAdmission = { readonly cluster: string; readonly since: string; readonly until: string };
export const PAST_ADMISSIONS_MAX = 8;
export type AvoidedCluster = {
  /** RFC 3339. */
  readonly until: string;
  readonly reason: string;
  /** The number of refusals in a row. */
  readonly refusals: number;
  /** The last refused placement. */
  readonly epoch: number;
  /** The refusals in a row of Jobs of the same shape, where that is more. The time until which the cluster is avoided follows from it. */
  readonly level?: number;
};

/** The part of the annotation that proves its author, and has its time. */
export type RecordStamp = {
  /** The time of writing, RFC 3339 with milliseconds: later for each record of a Job. */
  readonly written: string;
  /** The keyed digest of everything else. */
  readonly seal: string;
};

export type ParsedRecord =
  | { readonly kind: 'None'; readonly last?: AdmissionRecord }
  | { readonly kind: 'Record'; readonly record: AdmissionRecord }
  /** The annotation is malformed; `problem` says how. */
  | { readonly kind: 'Invalid'; readonly problem: string; readonly last?: AdmissionRecord }
  /** The annotation is well-formed, but admission has not made it, or not for this Job, or has replaced it since. */
  | { readonly kind: 'Forged'; readonly problem: string; readonly last?: AdmissionRecord };

/** A pod set of an admitted object. */
export type RecordedPodSet = {
  readonly name: string;
  /** ResourceFlavor from which each resource is taken. */
  readonly flavors: Readonly<Record<string, string>>;
  readonly requests: Readonly<Record<string, string>>;
  /** As {@link AdmissionRecord.charged}. */
  readonly charged?: Readonly<Record<string, string>>;
  /** The number of its pods, where it was admitted with fewer than it has. */
  readonly count?: number;
};

/** The parts of a record that take flavors: its pod sets, or all of it. */
export const takingParts = (record: AdmissionRecord): readonly Omit<RecordedPodSet, 'name'>[] => record.podSets ?? [record];

/** The ResourceFlavors that a record names, each once, in alphabetical order. */
export const flavorsIn = (record: AdmissionRecord): readonly string[] =>
  [...new Set(takingParts(record).flatMap(({ flavors }) => Object.values(flavors)))].toSorted();

/** The kind of a Job, as far as it says whether one is suspended. */
export type Suspendable = { isSuspended(job: DeepReadonly<WorkObject>): boolean };

/**
 * Reads the admission record of a Job, if admission made it. Where there is no valid one, `last` is the newest that is remembered. The same
 * object gets the same answer as long as no newer record is known.
 */
export type RecordReader = (job: DeepReadonly<WorkObject>) => ParsedRecord;

export type WrittenRecord = { readonly kind: 'None' } | RecordText;
/** The content of an annotation in place of a record. */
type RecordText = { readonly kind: 'Record'; readonly record: AdmissionRecord; readonly stamp: RecordStamp } | InvalidText;
type InvalidText = { readonly kind: 'Invalid'; readonly problem: string };

/** The admission record of a Job without a check of its author: for display only. */
export function writtenRecordOf(job: DeepReadonly<Pick<Unsaved<WorkObject>, 'metadata'>>): WrittenRecord {
  const text = job.metadata.annotations?.[ADMISSION_ANNOTATION];
  return text === undefined ? NONE : parseAdmissionRecord(text);
}

const NONE: WrittenRecord = { kind: 'None' };

export function parseAdmissionRecord(text: string): RecordText {
  const value = parseJson(text);
  if (!isJsonObject(value)) return invalid('it is not a JSON object');
  const placement = placementIn(value);
  if ('problem' in placement) return placement;
  const terms = termsIn(value);
  if ('problem' in terms) return terms;
  const { written, seal } = value;
  if (!isTime(written)) return invalid('written must be an RFC 3339 time');
  if (typeof seal !== 'string') return invalid('it has no seal');
  return { kind: 'Record', record: { ...placement, ...terms }, stamp: { written, seal } };
}

type PlacementOfRecord = Pick<
  AdmissionRecord,
  'clusterQueue' | 'flavors' | 'cluster' | 'clusterUID' | 'epoch' | 'since' | 'requests' | 'charged' | 'podSets'
>;

/** Where the Job is, and what it takes. */
function placementIn(value: Readonly<Record<string, unknown>>): PlacementOfRecord | InvalidText {
  const { clusterQueue, flavors, cluster, clusterUID, epoch, since, requests, charged, podSets } = value;
  if (!isName(clusterQueue)) return invalid('clusterQueue must be a non-empty string');
  if (!isNames(flavors)) return invalid(`${badField('flavors', flavors)} must be a non-empty string`);
  if (!isName(cluster)) return invalid('cluster must be a non-empty string');
  if (clusterUID !== undefined && !isName(clusterUID)) return invalid('clusterUID must be a non-empty string or absent');
  if (!isCount(epoch)) return invalid('epoch must be a positive integer');
  if (!isTime(since)) return invalid('since must be an RFC 3339 time');
  if (!isNames(requests)) return invalid(`${badField('requests', requests)} must be a quantity`);
  if (charged !== undefined && !isNames(charged)) return invalid(`${badField('charged', charged)} must be a quantity`);
  if (podSets !== undefined && !(Array.isArray(podSets) && podSets.every(isPodSet)))
    return invalid('podSets must be a list of pod sets with name, flavors and requests, or absent');
  return { clusterQueue, flavors, cluster, epoch, since, requests, ...omitUndefined({ clusterUID, charged, podSets }) };
}

/** How it runs there, and what is to become of it. */
function termsIn(value: Readonly<Record<string, unknown>>): Omit<AdmissionRecord, keyof PlacementOfRecord> | InvalidText {
  const { parallelism, executedSeconds, unfenced, podFence, carry, carryContent, evicted, preempted, checks, queuedSince, avoid, fail } =
    value;
  if (parallelism !== undefined && !isCount(parallelism)) return invalid('parallelism must be a positive integer or absent');
  if (executedSeconds !== undefined && !isCount(executedSeconds)) return invalid('executedSeconds must be a positive integer or absent');
  if (!isTrueOrAbsent(unfenced)) return invalid('unfenced must be true or absent');
  if (podFence !== undefined && !isCount(podFence)) return invalid('podFence must be a positive integer or absent');
  if (carry !== undefined && !(Array.isArray(carry) && carry.every(isCarriedKind)))
    return invalid('carry must be a list of ConfigMaps and Secrets or absent');
  if (!isAdmittedOrAbsent(carryContent)) return invalid('carryContent must be Admitted or absent');
  if (!isTrueOrAbsent(evicted)) return invalid('evicted must be true or absent');
  if (preempted !== undefined && !isPreempted(preempted)) return invalid('preempted must have by, clusterQueue and rule');
  if (checks !== undefined && !(Array.isArray(checks) && checks.every(isName))) return invalid('checks must be a list of names or absent');
  if (queuedSince !== undefined && !isTime(queuedSince)) return invalid('queuedSince must be an RFC 3339 time or absent');
  if (avoid !== undefined && !isAvoided(avoid))
    return invalid('avoid must be an object of clusters with until, reason, refusals and epoch');
  if (fail !== undefined && !isFail(fail)) return invalid('fail must have a reason and a message');
  return omitUndefined({
    parallelism,
    executedSeconds,
    pastAdmissions: pastAdmissionsIn(value['pastAdmissions']),
    unfenced,
    podFence,
    carry,
    carryContent,
    evicted,
    checks,
    preempted,
    queuedSince,
    avoid,
    fail,
  });
}

/** The record as text, in the order of fields of this table: equal records have equal texts. */
export function formatAdmissionRecord(record: AdmissionRecord, stamp: Partial<RecordStamp> = {}): string {
  return JSON.stringify({
    clusterQueue: record.clusterQueue,
    flavors: sorted(record.flavors),
    cluster: record.cluster,
    clusterUID: record.clusterUID,
    epoch: record.epoch,
    since: record.since,
    requests: sorted(record.requests),
    charged: record.charged && sorted(record.charged),
    podSets: record.podSets?.map(({ name, flavors, requests, charged, count }) => ({
      name,
      flavors: sorted(flavors),
      requests: sorted(requests),
      ...omitUndefined({ charged: charged && sorted(charged), count }),
    })),
    parallelism: record.parallelism,
    executedSeconds: record.executedSeconds,
    pastAdmissions: record.pastAdmissions?.map(({ cluster, since, until }) => ({ cluster, since, until })),
    unfenced: record.unfenced,
    podFence: record.podFence,
    carry: record.carry,
    carryContent: record.carryContent,
    evicted: record.evicted,
    checks: record.checks,
    preempted: record.preempted && {
      by: record.preempted.by,
      clusterQueue: record.preempted.clusterQueue,
      rule: record.preempted.rule,
    },
    queuedSince: record.queuedSince,
    avoid: record.avoid && sorted(Object.fromEntries(Object.entries(record.avoid).map(([cluster, each]) => [cluster, inOrder(each)]))),
    fail: record.fail && { reason: record.fail.reason, message: record.fail.message },
    written: stamp.written,
    seal: stamp.seal,
  });
}

/** The unverified record of a Job that is admitted now: recorded and not suspended. Undefined for every other Job. */
export function activeAdmission(job: DeepReadonly<WorkObject>, kind: Suspendable): AdmissionRecord | undefined {
  const written = writtenRecordOf(job);
  const active = written.kind === 'Record' && written.record.evicted !== true && !kind.isSuspended(job);
  return active ? written.record : undefined;
}

const inOrder = ({ until, reason, refusals, epoch, level }: AvoidedCluster): AvoidedCluster => ({
  until,
  reason,
  refusals,
  epoch,
  ...omitUndefined({ level }),
});

const sorted = <T>(map: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1)));

const invalid = (problem: string): InvalidText => ({ kind: 'Invalid', problem: `annotation ${ADMISSION_ANNOTATION}: ${problem}` });
const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isTrueOrAbsent = (value: unknown): value is true | undefined => value === undefined || value === true;
const isAdmittedOrAbsent = (value: unknown): value is 'Admitted' | undefined => value === undefined || value === 'Admitted';
const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
const isTime = (value: unknown): value is string => parseWireTime(value) !== undefined;
const isNames = (value: unknown): value is Record<string, string> => isJsonObject(value) && Object.values(value).every(isName);
const isPodSet = (value: unknown): value is RecordedPodSet =>
  isJsonObject(value) &&
  isName(value['name']) &&
  isNames(value['flavors']) &&
  isNames(value['requests']) &&
  (value['charged'] === undefined || isNames(value['charged'])) &&
  (value['count'] === undefined || isCount(value['count']));
/** `flavors`, or `flavors.cpu` where only that one is malformed. */
function badField(field: string, value: unknown): string {
  const wrong = isJsonObject(value) ? Object.keys(value).find((key) => !isName(value[key])) : undefined;
  return wrong === undefined ? `each value of ${field}` : `${field}.${wrong}`;
}

const isAvoided = (value: unknown): value is Record<string, AvoidedCluster> =>
  isJsonObject(value) &&
  Object.values(value).every(
    (each) =>
      isJsonObject(each) &&
      isTime(each['until']) &&
      isName(each['reason']) &&
      isCount(each['refusals']) &&
      isCount(each['epoch']) &&
      (each['level'] === undefined || isCount(each['level'])),
  );

/** Malformed entries are left out: no admission rests on them. */
function pastAdmissionsIn(value: unknown): readonly PastAdmission[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const past = value
    .slice(-PAST_ADMISSIONS_MAX)
    .filter((each) => isJsonObject(each) && isName(each['cluster']) && isTime(each['since']) && isTime(each['until']));
  return past.length === 0 ? undefined : (past as readonly PastAdmission[]);
}

const isFail = (value: unknown): value is { reason: string; message: string } =>
  isJsonObject(value) && isName(value['reason']) && isName(value['message']);
