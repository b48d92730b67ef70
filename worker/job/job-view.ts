/**
 * A Job read once and for all: defaults filled in, nonsense made harmless. The API server keeps most nonsense out,
 * but a status can be written by anyone with the right to it, and one Job's must never stop another's.
 */
import type { DeepReadonly, Job, JobCondition, JobStatus, PodFailurePolicy, SuccessPolicy } from '../../shared/api/kubernetes.ts';
import { BUILT_IN_JOB_CONTROLLER_NAME } from '../../shared/api/names.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { FenceState } from '../fence/origin-fence.ts';
import { isIndexText } from './indexes.ts';
import { isDeleting } from './pod-view.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';

export type JobView = {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly deleting: boolean;
  readonly suspended: boolean;
  /** What its manager's absence allows: Hold, no new pods; Fenced, none at all. */
  readonly fence: FenceState;
  /** Pods are ending that the fence has stopped. */
  readonly podsStopped: boolean;
  /** Namespace of the Job is denied: it gets no pods, neither new ones nor those that nobody owns. */
  readonly denied: boolean;
  readonly indexed: boolean;
  /** Undefined for a work queue; always known for an Indexed Job. */
  readonly completions: number | undefined;
  readonly parallelism: number;
  readonly backoffLimit: number;
  readonly backoffLimitPerIndex: number | undefined;
  readonly maxFailedIndexes: number | undefined;
  readonly activeDeadlineMs: number | undefined;
  readonly restartsInPlace: boolean;
  readonly replacesFailedOnly: boolean;
  /** `podReplacementPolicy: Failed` itself, for the reason label of the creation metric. */
  readonly replacementPolicyFailed: boolean;
  readonly podFailurePolicy: DeepReadonly<PodFailurePolicy> | undefined;
  readonly successPolicy: DeepReadonly<SuccessPolicy> | undefined;
  /** The stored status. Counters absent from it stay absent, because null and 0 differ for `ready` and `terminating`. */
  readonly status: StoredStatus;
  /** What is wrong with the spec: the API server lets no such Job in, and nobody can say what it should do. */
  readonly specDefects: readonly string[];
  /** What in the status had to be read leniently. */
  readonly statusDefects: readonly string[];
};

export type StoredStatus = DeepReadonly<JobStatus> & {
  readonly uncountedTerminatedPods: { readonly succeeded: readonly string[]; readonly failed: readonly string[] };
  readonly conditions: readonly DeepReadonly<JobCondition>[];
};

const DEFAULT_BACKOFF_LIMIT = 6;

export function viewJob(job: DeepReadonly<Job>, fence: FenceState = 'Open', denied = false): JobView {
  const { metadata, spec } = job;
  const specDefects: string[] = [];
  const statusDefects: string[] = [];
  const count = countReader(specDefects);
  const indexed = spec.completionMode === 'Indexed';
  const completions = count('spec.completions', spec.completions);
  if (indexed && completions === undefined) specDefects.push('spec.completions is missing');
  if (!isPresent(spec.template?.spec)) specDefects.push('spec.template.spec is missing');
  const deadlineSeconds = count('spec.activeDeadlineSeconds', spec.activeDeadlineSeconds);
  return {
    uid: metadata.uid,
    namespace: metadata.namespace,
    name: metadata.name,
    deleting: isDeleting(job),
    suspended: spec.suspend === true,
    fence,
    podsStopped: false,
    denied,
    indexed,
    completions: indexed ? (completions ?? 0) : completions,
    parallelism: count('spec.parallelism', spec.parallelism) ?? 1,
    backoffLimit: count('spec.backoffLimit', spec.backoffLimit) ?? DEFAULT_BACKOFF_LIMIT,
    backoffLimitPerIndex: indexed ? count('spec.backoffLimitPerIndex', spec.backoffLimitPerIndex) : undefined,
    maxFailedIndexes: count('spec.maxFailedIndexes', spec.maxFailedIndexes),
    activeDeadlineMs: deadlineSeconds === undefined ? undefined : deadlineSeconds * 1000,
    restartsInPlace: spec.template?.spec?.restartPolicy === 'OnFailure',
    replacesFailedOnly: spec.podReplacementPolicy === 'Failed' || isPresent(spec.podFailurePolicy),
    replacementPolicyFailed: spec.podReplacementPolicy === 'Failed',
    podFailurePolicy: spec.podFailurePolicy ?? undefined,
    successPolicy: spec.successPolicy ?? undefined,
    status: readStatus(job.status, statusDefects),
    specDefects,
    statusDefects,
  };
}

const countReader =
  (defects: string[]) =>
  (path: string, value: unknown): number | undefined => {
    if (!isPresent(value)) return undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    defects.push(`${path} is not a count`);
    return 0;
  };

function readStatus(status: DeepReadonly<Job>['status'], defects: string[]): StoredStatus {
  const count = countReader(defects);
  const { active, succeeded, failed, ready, terminating, completedIndexes, failedIndexes, startTime, ...rest } = status ?? {};
  const uncounted = status?.uncountedTerminatedPods;
  const succeededUids = readUids('succeeded', uncounted?.succeeded, new Set(), defects);
  const failedUids = readUids('failed', uncounted?.failed, new Set(succeededUids), defects);
  return {
    ...rest,
    ...omitUndefined({
      active: count('status.active', active),
      succeeded: count('status.succeeded', succeeded),
      failed: count('status.failed', failed),
      ready: count('status.ready', ready),
      terminating: count('status.terminating', terminating),
      completedIndexes: readIndexText('status.completedIndexes', completedIndexes, defects),
      failedIndexes: readIndexText('status.failedIndexes', failedIndexes, defects),
      startTime: parseWireTime(startTime) === undefined ? undefined : startTime,
    }),
    uncountedTerminatedPods: { succeeded: succeededUids, failed: failedUids },
    conditions: readConditions(status?.conditions, defects),
  };
}

const isPresent = <T>(value: T | null | undefined): value is T => value !== undefined && value !== null;

/** A UID twice in the lists would be counted twice, and the API server would refuse it. */
function readUids(list: string, uids: unknown, seen: Set<string>, defects: string[]): string[] {
  if (!isPresent(uids)) return [];
  if (!Array.isArray(uids)) {
    defects.push(`status.uncountedTerminatedPods.${list} is not a list`);
    return [];
  }
  const kept: string[] = [];
  for (const uid of uids) {
    if (typeof uid === 'string' && uid !== '' && !seen.has(uid)) {
      seen.add(uid);
      kept.push(uid);
    } else defects.push(`status.uncountedTerminatedPods.${list} holds an entry that is empty or repeated`);
  }
  return kept;
}

/** The text stays as it is: the tolerant parser takes from it what it can, and the next write puts it right. */
function readIndexText(path: string, text: unknown, defects: string[]): string | undefined {
  if (!isPresent(text)) return undefined;
  if (typeof text !== 'string') {
    defects.push(`${path} is not a text`);
    return undefined;
  }
  if (!isIndexText(text)) defects.push(`${path} is not an increasing list of indexes`);
  return text;
}

function readConditions(conditions: unknown, defects: string[]): DeepReadonly<JobCondition>[] {
  if (!isPresent(conditions)) return [];
  if (!Array.isArray(conditions)) {
    defects.push('status.conditions is not a list');
    return [];
  }
  return conditions.filter((condition: unknown): condition is JobCondition => {
    const readable = typeof condition === 'object' && condition !== null && 'type' in condition && 'status' in condition;
    if (!readable) defects.push('status.conditions holds an entry without type or status');
    return readable;
  });
}

/** Who runs this Job (KEP-4368): absent means the built-in controller. */
export const controllerNameOf = (job: DeepReadonly<Job>): string => job.spec.managedBy ?? BUILT_IN_JOB_CONTROLLER_NAME;
