import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION } from '../../shared/api/names.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { isJsonObject, parseJson } from './json-value.ts';
import { isPreempted, type Preempted } from './preempted.ts';

/**
 * What the manager has decided about a Job, kept on the Job itself as one JSON annotation. Admission is its only writer; dispatch
 * and everyone else read it. Together with `spec.suspend` it says all there is to say:
 *
 * - no record: never admitted;
 * - record and not suspended: admitted to `cluster`, and its quota is in use;
 * - record and suspended: evicted, with a copy perhaps still on `cluster`. The record stays, because the copy must be found and
 *   resumed or deleted; its quota is free once it says `evicted`, so that nobody but admission can release the Job again, and the Job's
 *   status says that nothing runs any more.
 *
 * Whoever may edit a Job may write this annotation. Only a {@link RecordReader} tells whether admission did.
 */
export type AdmissionRecord = {
  /** ClusterQueue whose quota the Job uses. */
  readonly clusterQueue: string;
  /** ResourceFlavor from which each resource is taken, e.g. `{ cpu: 'on-demand' }`. */
  readonly flavors: Readonly<Record<string, string>>;
  /** WorkerCluster that runs the Job. */
  readonly cluster: string;
  /**
   * Which cluster that was at admission, whatever the WorkerCluster is called or leads to since: the UID of its kube-system. Earlier
   * versions did not say it.
   */
  readonly clusterUID?: string;
  /** Number of this placement, from 1. It rises when the Job moves to another cluster, and stays when it resumes where it was. */
  readonly epoch: number;
  /** When the Job was last admitted, RFC 3339. */
  readonly since: string;
  /** What is charged, and the most that its copy may run: quantities that all its pods request together, `pods` being their number. */
  readonly requests: Readonly<Record<string, string>>;
  /** How many pods at once its copy may have, where that is fewer than the Job asks for: `requests` are of so many. */
  readonly parallelism?: number;
  /** For how many seconds it was admitted before its last admission; where `evicted`, that one included. Absent: 0. */
  readonly executedSeconds?: number;
  /**
   * Its copy goes on where the manager is out of reach: the Job or its queue had said so when it was admitted. What they say later counts
   * from the next admission on.
   */
  readonly unfenced?: true;
  /**
   * After so many seconds without a renewal each of its pods counts as cut off, and its kubelet ends it: its copy was made with a pod
   * fence. Absent: without.
   */
  readonly podFence?: number;
  /** The Job was suspended since: the record says where its copy is, and allows nothing to run. */
  readonly evicted?: true;
  /** The Job was suspended for the sake of another one. */
  readonly preempted?: Preempted;
  /** Its quota is reserved, and it is not admitted before these admission checks have said yes; it is `evicted` until then. */
  readonly checks?: readonly string[];
  /** The Job queues as one that was created then, RFC 3339. Absent: by its own age. */
  readonly queuedSince?: string;
  /** Clusters that have refused the Job, or on which it did not start: it does not go there for the time being. */
  readonly avoid?: Readonly<Record<string, AvoidedCluster>>;
  /** The Job is to end as Failed, for this reason, as soon as nothing of it runs: it is not admitted again. */
  readonly fail?: { readonly reason: string; readonly message: string };
};
export type AvoidedCluster = {
  /** RFC 3339. */
  readonly until: string;
  readonly reason: string;
  /** How often in a row. */
  readonly refusals: number;
  /** The placement that was refused last. */
  readonly epoch: number;
  /** How often in a row Jobs like this one, where that is more often. The time until which the cluster is avoided follows from it. */
  readonly level?: number;
};

/** What stands beside the record and says who made it, and when. */
export type RecordStamp = {
  /** When this text was written, RFC 3339 with milliseconds: later for each record that a Job gets. */
  readonly written: string;
  /** The keyed digest of everything else. */
  readonly seal: string;
};

export type ParsedRecord =
  | { readonly kind: 'None'; readonly last?: AdmissionRecord }
  | { readonly kind: 'Record'; readonly record: AdmissionRecord }
  /** The annotation cannot be read. `problem` says what is wrong with it. */
  | { readonly kind: 'Invalid'; readonly problem: string; readonly last?: AdmissionRecord }
  /** It can be read, and admission has not made it, or not for this Job, or has replaced it since. */
  | { readonly kind: 'Forged'; readonly problem: string; readonly last?: AdmissionRecord };

/**
 * The admission record of a Job, if admission made it. Where there is none that counts, `last` is the newest that is remembered. Equal
 * objects are given equal answers as long as nothing newer is known.
 */
export type RecordReader = (job: DeepReadonly<Job>) => ParsedRecord;

export type WrittenRecord = { readonly kind: 'None' } | RecordText;
/** What a text says that stands where a record should. */
type RecordText =
  | { readonly kind: 'Record'; readonly record: AdmissionRecord; readonly stamp: RecordStamp }
  | { readonly kind: 'Invalid'; readonly problem: string };

/** The admission record of a Job as it stands there, whoever wrote it: for showing, and for nothing else. */
export function writtenRecordOf(job: DeepReadonly<Pick<Job, 'metadata'>>): WrittenRecord {
  const text = job.metadata.annotations?.[ADMISSION_ANNOTATION];
  return text === undefined ? NONE : parseAdmissionRecord(text);
}

const NONE: WrittenRecord = { kind: 'None' };

export function parseAdmissionRecord(text: string): RecordText {
  const value = parseJson(text);
  if (!isJsonObject(value)) return invalid('it is not a JSON object');
  const {
    clusterQueue,
    flavors,
    cluster,
    clusterUID,
    epoch,
    since,
    requests,
    parallelism,
    executedSeconds,
    unfenced,
    podFence,
    evicted,
    checks,
    preempted,
    queuedSince,
    avoid,
    fail,
    written,
    seal,
  } = value;
  if (!isName(clusterQueue)) return invalid('clusterQueue must be a non-empty string');
  if (!isNames(flavors)) return invalid(`${badField('flavors', flavors)} must be a non-empty string`);
  if (!isName(cluster)) return invalid('cluster must be a non-empty string');
  if (clusterUID !== undefined && !isName(clusterUID)) return invalid('clusterUID must be a non-empty string or absent');
  if (!isCount(epoch)) return invalid('epoch must be a positive integer');
  if (!isTime(since)) return invalid('since must be an RFC 3339 time');
  if (!isNames(requests)) return invalid(`${badField('requests', requests)} must be a quantity`);
  if (parallelism !== undefined && !isCount(parallelism)) return invalid('parallelism must be a positive integer or absent');
  if (executedSeconds !== undefined && !isCount(executedSeconds)) return invalid('executedSeconds must be a positive integer or absent');
  if (!isTrueOrAbsent(unfenced)) return invalid('unfenced must be true or absent');
  if (podFence !== undefined && !isCount(podFence)) return invalid('podFence must be a positive integer or absent');
  if (!isTrueOrAbsent(evicted)) return invalid('evicted must be true or absent');
  if (preempted !== undefined && !isPreempted(preempted)) return invalid('preempted must have by, clusterQueue and rule');
  if (checks !== undefined && !(Array.isArray(checks) && checks.every(isName))) return invalid('checks must be a list of names or absent');
  if (queuedSince !== undefined && !isTime(queuedSince)) return invalid('queuedSince must be an RFC 3339 time or absent');
  if (avoid !== undefined && !isAvoided(avoid))
    return invalid('avoid must be an object of clusters with until, reason, refusals and epoch');
  if (fail !== undefined && !isFail(fail)) return invalid('fail must have a reason and a message');
  if (!isTime(written)) return invalid('written must be an RFC 3339 time');
  if (typeof seal !== 'string') return invalid('it has no seal');
  const record = {
    clusterQueue,
    flavors,
    cluster,
    epoch,
    since,
    requests,
    ...omitUndefined({
      clusterUID,
      parallelism,
      executedSeconds,
      unfenced,
      podFence,
      evicted,
      checks,
      preempted,
      queuedSince,
      avoid,
      fail,
    }),
  };
  return { kind: 'Record', record, stamp: { written, seal } };
}

/** The record as text: always the same for the same record. The order of fields is that of this table. */
export function formatAdmissionRecord(record: AdmissionRecord, stamp: Partial<RecordStamp> = {}): string {
  return JSON.stringify({
    clusterQueue: record.clusterQueue,
    flavors: sorted(record.flavors),
    cluster: record.cluster,
    clusterUID: record.clusterUID,
    epoch: record.epoch,
    since: record.since,
    requests: sorted(record.requests),
    parallelism: record.parallelism,
    executedSeconds: record.executedSeconds,
    unfenced: record.unfenced,
    podFence: record.podFence,
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

/** The record of a Job that is admitted now, as it stands there: recorded, not suspended. Undefined for every other Job. */
export function activeAdmission(job: DeepReadonly<Job>): AdmissionRecord | undefined {
  const written = writtenRecordOf(job);
  const active = written.kind === 'Record' && written.record.evicted !== true && job.spec.suspend !== true;
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

const invalid = (problem: string): RecordText => ({ kind: 'Invalid', problem: `annotation ${ADMISSION_ANNOTATION}: ${problem}` });
const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isTrueOrAbsent = (value: unknown): value is true | undefined => value === undefined || value === true;
const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
const isTime = (value: unknown): value is string => parseWireTime(value) !== undefined;
const isNames = (value: unknown): value is Record<string, string> => isJsonObject(value) && Object.values(value).every(isName);
/** `flavors`, or `flavors.cpu` where that one is wrong. */
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

const isFail = (value: unknown): value is { reason: string; message: string } =>
  isJsonObject(value) && isName(value['reason']) && isName(value['message']);
