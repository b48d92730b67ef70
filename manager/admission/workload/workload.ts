import { queueNameOf, unreadableWishes, wishesOf, type ClusterWish, type Wishes } from '../../api/job-annotations.ts';
import { checkStatesOf, type CheckState } from '../../api/check-states.ts';
import type { CarriedKind } from '../../api/carried-kinds.ts';
import type { DataNames } from '../../api/data-names.ts';
import type { NeededObject } from '../../api/needed-objects.ts';
import type { PodReference } from '../../api/pod-references.ts';
import { isDispatched } from '../../api/dispatch-proof.ts';
import { shapeOf } from '../../api/job-shape.ts';
import { DispatchedReason, SwitchyardCondition } from '../../api/reasons.ts';
import type { AdmissionRecord, ParsedRecord } from '../../api/records.ts';
import { isRefusalOf } from '../../api/refusals.ts';
import { isProvenAtRest, isProvenNowhere } from '../../api/rest-proof.ts';
import { hasStarted, podsLostSinceMs } from '../../api/start-proof.ts';
import { unmetPodFence } from '../../api/unmet-wishes.ts';
import type { DeepReadonly, PodSpec, WorkObject } from '../../../shared/api/kubernetes.ts';
import { COPIES_FINALIZER, MANAGER_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import { findCondition, findTrueCondition, hasTrueCondition, isFinished } from '../../../shared/kube/conditions.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { AS_WRITTEN, type PodAdjustments } from '../../api/adjusted-pod.ts';
import type { Requests } from '../../api/amount.ts';
import { fencedKindOf } from '../../work-kind/kinds.ts';
import { firstPodOf, requestsOf, type PodSet } from '../../work-kind/pod-sets.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import { nodeWishOf, type NodeWish } from './node-wish.ts';
import { askedRequests, stillAsked } from './asked-requests.ts';
import { priorityWishOf, type PriorityWish } from './priority.ts';
import { byName, digestOfPodSets, podSetsAsked, sumOf, remainingPods, type WorkloadPodSet } from './workload-pod-sets.ts';

/** A Job as admission sees it: its requests and its progress. Immutable, and derived from the Job alone. */
export type Workload = {
  /** `namespace/name`. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly finalizers: readonly string[];
  /** LocalQueue of the namespace; undefined if the Job names none. */
  readonly queue: string | undefined;
  readonly priorityWish: PriorityWish;
  /** Creation time in epoch milliseconds. */
  readonly createdMs: number;
  /**
   * Since when the Workload counts as queued, in epoch milliseconds: its creation, or an eviction that cost it its place (requeuing.ts).
   * The one age by which Workloads of equal priority are ordered and preempt each other, Kueue's queue order timestamp.
   */
  readonly queuedSinceMs: number;
  /** Requests of all pods together, as the Job is now; `pods` is their number. The charged requests are in the record. */
  readonly requests: Requests;
  /** The requests that its record allows, if they exceed the requests here. */
  readonly recordedRequests?: Requests;
  /** How many pods may still exist at once, if fewer than requested; of several pod sets each says it for itself. */
  readonly podsNeeded: number | undefined;
  /** The fewest pods with which the Workload may be admitted, if fewer than requested. */
  readonly minPods: number | undefined;
  /** The number of pods of a partial admission; `whole` is the pending Workload with all its pods. */
  readonly admittedPods?: number;
  readonly whole?: Workload;
  readonly wish: ClusterWish;
  /** True: the Job is held. False: it must not be held, even if a user suspends it. Undefined: not stated. */
  readonly hold: boolean | undefined;
  readonly nodeWish: NodeWish;
  /** Its pod sets, where it has several: each gets flavors of its own. `requests` is their sum, and `nodeWish` that of the first. */
  readonly podSets?: readonly WorkloadPodSet[];
  /** Active and terminating pods in the status, as its cluster reports them. */
  readonly podsTold: number;
  /** Why the recorded cluster has refused the Job for good; undefined if it has not. */
  readonly refusal: string | undefined;
  /** Status shows that the copy for this placement existed on the recorded cluster. */
  readonly dispatched: boolean;
  /** The copy is not created or resumed now because the manager cluster was restored; that is not the cluster's fault. */
  readonly heldBack: boolean;
  /** The Job has started since its last admission: as many pods as it needs were ready. */
  readonly started: boolean;
  /** Since when a Job that has started has had fewer ready pods than it needs, in epoch milliseconds; undefined if it has enough. */
  readonly podsLostSinceMs: number | undefined;
  /** How long a placement may take to start, in milliseconds, 0: unlimited; undefined: its ClusterQueue decides. */
  readonly startTimeoutMs: number | undefined;
  /** How long a Job may have fewer ready pods than it needs, in milliseconds, 0: unlimited; undefined: its ClusterQueue decides. */
  readonly recoveryTimeoutMs: number | undefined;
  /** Maximum execution time over all admissions, in seconds; undefined: unlimited. */
  readonly maxExecutionSeconds: number | undefined;
  /** How long the Workload is expected to hold its quota once it is admitted, in milliseconds; absent: not known. */
  readonly expectedMs?: number;
  /** Whether the copy stops when its cluster loses the manager; undefined: its ClusterQueue decides. */
  readonly fenced: boolean | undefined;
  /** Whether its pods have a pod fence; false if they cannot, undefined: its ClusterQueue decides. */
  readonly podFenced: boolean | undefined;
  /** The kinds of objects that travel with the Job; undefined: its LocalQueue or ClusterQueue decides. */
  readonly carry: readonly CarriedKind[] | undefined;
  /** They have the content of its first copy wherever it goes; absent: that of the moment. Its queue decides. */
  readonly carryContent?: 'Admitted';
  /** The ConfigMaps and Secrets that its pods refer to. */
  readonly references: readonly PodReference[];
  /** The objects that its pods need on their cluster and that never travel with it. */
  readonly needs: readonly NeededObject[];
  /** The RuntimeClass of its pods; undefined if they name none. */
  readonly runtimeClass: string | undefined;
  /** The data sets that it reads; absent: it names none. */
  readonly data?: DataNames;
  /** What clusters lack of what it needs, by cluster; absent: nothing, as far as is known. */
  readonly lacks?: Lacks;
  /** Termination grace period of its pods, in seconds. */
  readonly graceSeconds: number;
  /** By which name workers announce that they stop copies of its kind; absent: it is a Job. */
  readonly fencedKind?: string;
  /** What a cluster judges the Job by: `shapeOf`. */
  readonly shape: string;
  /** The message of its condition that it starts on no cluster; undefined without that condition. */
  readonly cannotStart: string | undefined;
  /** The last known admission, even if the Job no longer carries it. */
  readonly record: AdmissionRecord | undefined;
  readonly phase: WorkloadPhase;
  /** The Job was suspended by a user, or has lost its record while it was: the record that it should carry says that it is suspended. */
  readonly unmarked: boolean;
  /** Why what the Job carries is no record; undefined if it carries a good one, or is pending without any. */
  readonly untrusted: Untrusted | undefined;
  /** The Job was admitted once, its admission is unknown, and pods may run: it may use more than is counted. */
  readonly unaccounted: boolean;
  /** Why the Job can never be admitted as it is. */
  readonly problem: string | undefined;
  /** States of admission checks, by name. */
  readonly checks: ReadonlyMap<string, CheckState>;
  /** Why LimitRanges of its namespace forbid its pods. */
  readonly forbidden: string | undefined;
  /** Jobs of equal hash fit together or fail together, whatever their place in the queue. */
  readonly schedulingHash: string;
};

/** What a cluster lacks, by the name of the cluster. */
export type Lacks = Readonly<Record<string, Lack>>;
export type Lack = {
  /** Why the Workload is not placed there. */
  readonly problem: string;
  /** The cluster is being asked, and the Workload waits for the answer. */
  readonly isAsked?: true;
  /** The cluster has said that it lacks the object. */
  readonly isMissing?: true;
};

export type Untrusted = { readonly reason: UntrustedReason; readonly problem: string };
/** Why a record does not count; the values of a metric. */
export const UntrustedReason = {
  /** The Job runs without a record. */
  Missing: 'Missing',
  /** The record cannot be read. */
  Invalid: 'Invalid',
  /** Admission has not made the record, or not for this Job, or has replaced it since. */
  Forged: 'Forged',
} as const;
export type UntrustedReason = (typeof UntrustedReason)[keyof typeof UntrustedReason];

export type WorkloadPhase =
  /** Waits for admission. */
  | 'Pending'
  /** Holds quota, and waits for its admission checks. */
  | 'Reserved'
  /** Holds quota and may run. */
  | 'Admitted'
  /** Not suspended, though no good record allows it to run: to be suspended. Holds its last good record, if that is known. */
  | 'Unrecorded'
  /** Suspended after admission, or about to fail, and pods may still run: holds quota until its status proves that none do. */
  | 'Evicting'
  /** Complete or Failed, or being deleted without holding anything. */
  | 'Finished';

/** The Workload of a Job with this record; undefined for a Job that the manager does not manage. */
export function workloadOf(
  kind: WorkKind,
  job: DeepReadonly<WorkObject>,
  parsed: ParsedRecord,
  adjustments: PodAdjustments = AS_WRITTEN,
): Workload | undefined {
  if (kind.controllerOf(job) !== MANAGER_CONTROLLER_NAME) return undefined;
  const wishes = wishesOf(job);
  const { clusters: wish, hold, fencing, startTimeout, recoveryTimeout, maxExecution } = wishes;
  const record = parsed.kind === 'Record' ? parsed.record : parsed.last;
  const phase = phaseOf(kind, job, parsed, record);
  const podSets = kind.podSets(job);
  const podsAtOnce = kind.podsAtOnce(job);
  const pod = firstPodOf(podSets);
  const { active, terminating, ready } = kind.progress(job);
  const written = requestsOf(podSets);
  const asked = askedRequests(podSets, job.metadata.namespace, written, adjustments);
  const admitted = phase === 'Pending' ? undefined : record;
  const isHere = record !== undefined && isDispatched(job.status, record);
  // Work that is done moves with a Job alone: of another kind it counts where it was done.
  const isReported = isHere && phase !== 'Pending';
  const several = podSets.length > 1 ? podSetsAsked(podSets, job.metadata.namespace, adjustments, admitted, isReported) : undefined;
  const requests =
    admitted === undefined
      ? asked.requests
      : several === undefined
        ? stillAsked(podsAtOnce, admitted, written.requests, asked.requests)
        : sumOf(several);
  const elastic = podSets.find(({ count, minCount = count }) => minCount < count);
  const minPods = elastic === undefined ? undefined : podsAtOnce - elastic.count + (elastic.minCount ?? elastic.count);
  const nodeWish = nodeWishOf(pod);
  const data = wishes.data.kind === 'Data' ? wishes.data.names : undefined;
  const { namespace, name, uid, resourceVersion, creationTimestamp } = job.metadata;
  const createdMs = Date.parse(creationTimestamp);
  return {
    key: `${namespace}/${name}`,
    namespace,
    name,
    uid,
    resourceVersion,
    finalizers: job.metadata.finalizers ?? [],
    queue: queueNameOf(job),
    priorityWish: priorityWishOf(job, pod, wishes.priority),
    createdMs,
    queuedSinceMs: record?.evicted === true && record.queuedSince !== undefined ? Date.parse(record.queuedSince) : createdMs,
    requests,
    podsNeeded: several === undefined ? podsNeededOf(kind, job, podSets, record, isReported) : undefined,
    minPods,
    wish,
    hold: hold.kind === 'Hold' ? hold.held : undefined,
    nodeWish,
    ...omitUndefined({ podSets: several }),
    podsTold: active + terminating,
    refusal: record === undefined ? undefined : refusalIn(job, record),
    dispatched: isHere,
    heldBack: findCondition(job.status?.conditions, SwitchyardCondition.Dispatched)?.reason === DispatchedReason.HomeRestored,
    started: record !== undefined && hasStarted(job.status, record, ready, () => kind.readyPodsNeeded(job, record.parallelism)),
    podsLostSinceMs: record === undefined || phase !== 'Admitted' ? undefined : podsLostSinceMs(job.status, record),
    startTimeoutMs: startTimeout.kind === 'StartTimeout' ? startTimeout.ms : undefined,
    recoveryTimeoutMs: recoveryTimeout.kind === 'StartTimeout' ? recoveryTimeout.ms : undefined,
    maxExecutionSeconds: maxExecution.kind === 'MaxExecution' ? maxExecution.seconds : undefined,
    fenced: kind.of(name).fence === 'None' ? false : fencing.kind === 'Fencing' ? fencing.fenced : undefined,
    podFenced: podFencedOf(kind, job, wishes),
    carry: wishes.carry.kind === 'Carry' ? wishes.carry.kinds : undefined,
    references: kind.references(job),
    needs: kind.needs(job),
    runtimeClass: classesOf(pod).runtimeClass,
    ...omitUndefined({ data, fencedKind: fencedKindOf(kind, job) }),
    graceSeconds: kind.graceSeconds(job),
    shape: shapeOf(namespace, written.requests, kind.programOf(job)),
    cannotStart: findTrueCondition(job.status?.conditions, SwitchyardCondition.CannotStart)?.message,
    record,
    phase,
    unmarked: phase === 'Evicting' && (isUnmarked(kind, job, parsed) || lacksRecord(kind, job, parsed)),
    untrusted: untrustedOf(parsed, phase),
    unaccounted: record === undefined && phase !== 'Pending' && phase !== 'Finished' && isUnaccountedFor(job),
    problem: kind.cache.problem(job) ?? wishProblemOf(kind, job, wishes) ?? written.problem,
    checks: checkStatesOf(job.status),
    forbidden: asked.forbidden,
    schedulingHash: schedulingHashOf(requests, minPods, { clusters: wish, data }, nodeWish, classesOf(pod), record, several),
  };
}

/** How many pods of one set may still exist at once, if fewer than requested or admitted. */
function podsNeededOf(
  kind: WorkKind,
  job: DeepReadonly<WorkObject>,
  [only]: readonly PodSet[],
  record: AdmissionRecord | undefined,
  isReported: boolean,
): number | undefined {
  if (only?.finished !== undefined) return isReported ? remainingPods(only, record?.parallelism) : undefined;
  const needed = kind.podsNeeded(job, record && Number(record.requests['pods'] ?? 0));
  return needed < kind.podsAtOnce(job) ? needed : undefined;
}

function phaseOf(kind: WorkKind, job: DeepReadonly<WorkObject>, parsed: ParsedRecord, record: AdmissionRecord | undefined): WorkloadPhase {
  if (isFinished(job.status)) return 'Finished';
  const deleted = job.metadata.deletionTimestamp !== undefined;
  // The finalizer is gone, so no copy exists, though other finalizers keep the Job.
  if (deleted && job.metadata.finalizers?.includes(COPIES_FINALIZER) !== true) return 'Finished';
  // The Job is about to fail, and holds its quota until its condition is written.
  if (record?.fail !== undefined && kind.isSuspended(job)) return 'Evicting';
  if (!kind.isSuspended(job)) {
    if (parsed.kind === 'Record') return 'Admitted';
    if (!deleted) return 'Unrecorded';
    return record === undefined && !isUnaccountedFor(job) ? 'Finished' : 'Evicting';
  }
  if (parsed.kind === 'Record' && parsed.record.checks !== undefined && !deleted) return 'Reserved';
  const runs = record === undefined ? showsPods(kind, job) || isUnaccountedFor(job) : !isProvenAtRest(job.status, record);
  if ((runs && (record !== undefined || !deleted || isUnaccountedFor(job))) || isUnmarked(kind, job, parsed)) return 'Evicting';
  return deleted ? 'Finished' : 'Pending';
}

/**
 * Whether the status shows pods of a Job whose record is lost. The worker removes startTime and reports Suspended once it has acted on the
 * suspension; until then pods may run, including those of a copy without status yet.
 */
function showsPods(kind: WorkKind, job: DeepReadonly<WorkObject>): boolean {
  const { startTime, active, terminating } = kind.progress(job);
  const conditions = job.status?.conditions;
  const mayRun = startTime !== undefined || hasTrueCondition(conditions, SwitchyardCondition.Dispatched);
  return (mayRun && !hasTrueCondition(conditions, 'Suspended')) || active + terminating > 0;
}

/** The finalizer shows an earlier admission, and its copies have not been looked for on all clusters yet. */
const isUnaccountedFor = (job: DeepReadonly<WorkObject>): boolean =>
  job.metadata.finalizers?.includes(COPIES_FINALIZER) === true && !isProvenNowhere(job);

/** Until the record says `evicted`, a user who unsuspends the Job resumes it, so it keeps its quota. */
const isUnmarked = (kind: WorkKind, job: DeepReadonly<WorkObject>, parsed: ParsedRecord): boolean =>
  kind.isSuspended(job) && job.metadata.deletionTimestamp === undefined && parsed.kind === 'Record' && parsed.record.evicted !== true;

/** A suspended Job without the record that is remembered of it: what is proven is said of that record. */
const lacksRecord = (kind: WorkKind, job: DeepReadonly<WorkObject>, parsed: ParsedRecord): boolean =>
  kind.isSuspended(job) && job.metadata.deletionTimestamp === undefined && parsed.kind !== 'Record' && parsed.last !== undefined;

function untrustedOf(parsed: ParsedRecord, phase: WorkloadPhase): Untrusted | undefined {
  if (phase === 'Finished' || parsed.kind === 'Record') return undefined;
  if (parsed.kind !== 'None') return { reason: parsed.kind, problem: parsed.problem };
  return phase === 'Unrecorded' ? { reason: 'Missing', problem: 'it was released without an admission record' } : undefined;
}

function refusalIn(job: DeepReadonly<WorkObject>, { epoch }: AdmissionRecord): string | undefined {
  const told = findCondition(job.status?.conditions, SwitchyardCondition.Dispatched);
  return told?.status === 'False' && isRefusalOf(epoch, told) ? told.reason : undefined;
}

/** A pod fence by default of the ClusterQueue applies only to Jobs whose pods can be fenced. */
function podFencedOf(kind: WorkKind, job: DeepReadonly<WorkObject>, { podFence }: Wishes): boolean | undefined {
  const wish = podFence.kind === 'PodFence' ? podFence.fenced : undefined;
  return wish === undefined && kind.podFenceProblem(job) !== undefined ? false : wish;
}

function wishProblemOf(kind: WorkKind, job: DeepReadonly<WorkObject>, wishes: Wishes): string | undefined {
  const [first] = [...unreadableWishes(wishes), ...unmetPodFence(kind.podFenceProblem(job), wishes)];
  return first && `${first.place === 'labels' ? 'label' : 'annotation'} ${first.name} ${first.problem}`;
}

/** The classes that pods name, which their cluster must have. */
export type PodClasses = { readonly priorityClass: string | undefined; readonly runtimeClass: string | undefined };

const classesOf = (pod: DeepReadonly<PodSpec> | undefined): PodClasses => ({
  priorityClass: pod?.priorityClassName,
  runtimeClass: pod?.runtimeClassName || undefined,
});

/** All inputs of the search for flavors and clusters, as text. */
export function schedulingHashOf(
  requests: Requests,
  minPods: number | undefined,
  { clusters, data }: { readonly clusters: ClusterWish; readonly data: DataNames | undefined },
  nodeWish: NodeWish,
  classes: PodClasses,
  record: AdmissionRecord | undefined,
  podSets?: readonly WorkloadPodSet[],
): string {
  const places = [record?.cluster ?? null, record?.clusterUID ?? null, record?.avoid ?? null];
  const apart = podSets === undefined ? [] : [digestOfPodSets(podSets)];
  return JSON.stringify([
    [...requests].toSorted(byName),
    minPods ?? null,
    clusters,
    data ?? null,
    nodeWish.digest,
    classes.priorityClass ?? null,
    classes.runtimeClass ?? null,
    ...places,
    ...apart,
  ]);
}
