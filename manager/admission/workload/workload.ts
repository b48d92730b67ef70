import { queueNameOf, unreadableWishes, wishesOf, type ClusterWish, type Wishes } from '../../api/job-annotations.ts';
import { checkStatesOf, type CheckState } from '../../api/check-states.ts';
import type { CarriedKind } from '../../api/carried-kinds.ts';
import { compactProblem, podFenceProblemOf, referencesOfJob } from '../../api/compact-job.ts';
import type { PodReference } from '../../api/pod-references.ts';
import { isDispatched } from '../../api/dispatch-proof.ts';
import { graceSecondsOf } from '../../api/fenced-off.ts';
import { shapeOf } from '../../api/job-shape.ts';
import { DispatchedReason, SwitchyardCondition } from '../../api/reasons.ts';
import type { AdmissionRecord, ParsedRecord } from '../../api/records.ts';
import { isRefusalOf } from '../../api/refusals.ts';
import { isProvenAtRest, isProvenNowhere } from '../../api/rest-proof.ts';
import { hasStarted } from '../../api/start-proof.ts';
import { unmetPodFence } from '../../api/unmet-wishes.ts';
import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { COPIES_FINALIZER, MANAGER_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import { findCondition, findTrueCondition, hasTrueCondition, isFinished } from '../../../shared/kube/conditions.ts';
import { AS_WRITTEN, type PodAdjustments } from '../../api/adjusted-pod.ts';
import type { Requests } from '../../api/amount.ts';
import { requestsOfJob } from '../../api/job-requests.ts';
import { podsNeeded } from '../../api/needed-pods.ts';
import { podsAtOnce } from '../../api/pod-count.ts';
import { nodeWishOf, type NodeWish } from './node-wish.ts';
import { askedRequests, stillAsked } from './asked-requests.ts';
import { priorityWishOf, type PriorityWish } from './priority.ts';

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
  /** Since when the Workload counts as queued, in epoch milliseconds, if not since its creation. */
  readonly queuedSinceMs: number | undefined;
  /** Requests of all pods together, as the Job is now; `pods` is their number. The charged requests are in the record. */
  readonly requests: Requests;
  /** The requests that its record allows, if they exceed the requests here. */
  readonly recordedRequests?: Requests;
  /** How many pods may still exist at once, if fewer than requested. */
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
  /** Active and terminating pods in the status, as its cluster reports them. */
  readonly podsTold: number;
  /** Why the recorded cluster has refused the Job for good; undefined if it has not. */
  readonly refusal: string | undefined;
  /** Status shows that the copy for this placement existed on the recorded cluster. */
  readonly dispatched: boolean;
  /** The copy is not created or resumed now because the manager cluster was restored; that is not the cluster's fault. */
  readonly heldBack: boolean;
  /** The Job has started since its last admission. */
  readonly started: boolean;
  /** How long a placement may take to start, in milliseconds, 0: unlimited; undefined: its ClusterQueue decides. */
  readonly startTimeoutMs: number | undefined;
  /** Maximum execution time over all admissions, in seconds; undefined: unlimited. */
  readonly maxExecutionSeconds: number | undefined;
  /** Whether the copy stops when its cluster loses the manager; undefined: its ClusterQueue decides. */
  readonly fenced: boolean | undefined;
  /** Whether its pods have a pod fence; false if they cannot, undefined: its ClusterQueue decides. */
  readonly podFenced: boolean | undefined;
  /** The kinds of objects that travel with the Job; undefined: its LocalQueue or ClusterQueue decides. */
  readonly carry: readonly CarriedKind[] | undefined;
  /** The ConfigMaps and Secrets that its pods refer to. */
  readonly references: readonly PodReference[];
  /** Termination grace period of its pods, in seconds. */
  readonly graceSeconds: number;
  /** What a cluster judges the Job by: `shapeOf`. */
  readonly shape: string;
  /** The message of its condition that it starts on no cluster; undefined without that condition. */
  readonly cannotStart: string | undefined;
  /** The last known admission, even if the Job no longer carries it. */
  readonly record: AdmissionRecord | undefined;
  readonly phase: WorkloadPhase;
  /** A user has suspended the Job, and its record does not say so yet. */
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
export function workloadOf(job: DeepReadonly<Job>, parsed: ParsedRecord, adjustments: PodAdjustments = AS_WRITTEN): Workload | undefined {
  if (job.spec.managedBy !== MANAGER_CONTROLLER_NAME) return undefined;
  const wishes = wishesOf(job);
  const { clusters: wish, hold, fencing, startTimeout, maxExecution, minParallelism: least } = wishes;
  const record = parsed.kind === 'Record' ? parsed.record : parsed.last;
  const phase = phaseOf(job, parsed, record);
  const written = requestsOfJob(job);
  const asked = askedRequests(job, written, adjustments);
  const requests = record === undefined || phase === 'Pending' ? asked.requests : stillAsked(job, record, written.requests, asked.requests);
  const needed = isElastic(job, record) ? podsAtOnce(job) : podsNeeded(job);
  const minPods = least.kind === 'MinParallelism' && (least.pods ?? 0) < podsAtOnce(job) ? least.pods : undefined;
  const nodeWish = nodeWishOf(job.spec.template.spec);
  const { namespace, name, uid, resourceVersion, creationTimestamp } = job.metadata;
  return {
    key: `${namespace}/${name}`,
    namespace,
    name,
    uid,
    resourceVersion,
    finalizers: job.metadata.finalizers ?? [],
    queue: queueNameOf(job),
    priorityWish: priorityWishOf(job, wishes.priority),
    createdMs: Date.parse(creationTimestamp),
    queuedSinceMs: record?.evicted === true && record.queuedSince !== undefined ? Date.parse(record.queuedSince) : undefined,
    requests,
    podsNeeded: needed < podsAtOnce(job) ? needed : undefined,
    minPods,
    wish,
    hold: hold.kind === 'Hold' ? hold.held : undefined,
    nodeWish,
    podsTold: (job.status?.active ?? 0) + (job.status?.terminating ?? 0),
    refusal: record === undefined ? undefined : refusalIn(job, record),
    dispatched: record !== undefined && isDispatched(job.status, record),
    heldBack: findCondition(job.status?.conditions, SwitchyardCondition.Dispatched)?.reason === DispatchedReason.HomeRestored,
    started: record !== undefined && hasStarted(job.status, record),
    startTimeoutMs: startTimeout.kind === 'StartTimeout' ? startTimeout.ms : undefined,
    maxExecutionSeconds: maxExecution.kind === 'MaxExecution' ? maxExecution.seconds : undefined,
    fenced: fencing.kind === 'Fencing' ? fencing.fenced : undefined,
    podFenced: podFencedOf(job, wishes),
    carry: wishes.carry.kind === 'Carry' ? wishes.carry.kinds : undefined,
    references: referencesOfJob(job),
    graceSeconds: graceSecondsOf(job),
    shape: shapeOf(job, written.requests),
    cannotStart: findTrueCondition(job.status?.conditions, SwitchyardCondition.CannotStart)?.message,
    record,
    phase,
    unmarked: phase === 'Evicting' && isUnmarked(job, parsed),
    untrusted: untrustedOf(parsed, phase),
    unaccounted: record === undefined && phase !== 'Pending' && phase !== 'Finished' && isUnaccountedFor(job),
    problem: compactProblem(job) ?? wishProblemOf(job, wishes) ?? written.problem,
    checks: checkStatesOf(job.status),
    forbidden: asked.forbidden,
    schedulingHash: schedulingHashOf(requests, minPods, wish, nodeWish, job.spec.template.spec?.priorityClassName, record),
  };
}

function phaseOf(job: DeepReadonly<Job>, parsed: ParsedRecord, record: AdmissionRecord | undefined): WorkloadPhase {
  if (isFinished(job.status)) return 'Finished';
  const deleted = job.metadata.deletionTimestamp !== undefined;
  // The finalizer is gone, so no copy exists, though other finalizers keep the Job.
  if (deleted && job.metadata.finalizers?.includes(COPIES_FINALIZER) !== true) return 'Finished';
  // The Job is about to fail, and holds its quota until its condition is written.
  if (record?.fail !== undefined && job.spec.suspend === true) return 'Evicting';
  if (job.spec.suspend !== true) {
    if (parsed.kind === 'Record') return 'Admitted';
    if (!deleted) return 'Unrecorded';
    return record === undefined && !isUnaccountedFor(job) ? 'Finished' : 'Evicting';
  }
  if (parsed.kind === 'Record' && parsed.record.checks !== undefined && !deleted) return 'Reserved';
  const runs = record === undefined ? showsPods(job) || isUnaccountedFor(job) : !isProvenAtRest(job.status, record);
  if ((runs && (record !== undefined || !deleted || isUnaccountedFor(job))) || isUnmarked(job, parsed)) return 'Evicting';
  return deleted ? 'Finished' : 'Pending';
}

/**
 * Whether the status shows pods of a Job whose record is lost. The worker removes startTime and reports Suspended once it has acted on the
 * suspension; until then pods may run, including those of a copy without status yet.
 */
function showsPods({ status }: DeepReadonly<Job>): boolean {
  const mayRun = status?.startTime !== undefined || hasTrueCondition(status?.conditions, SwitchyardCondition.Dispatched);
  return (mayRun && !hasTrueCondition(status?.conditions, 'Suspended')) || (status?.active ?? 0) + (status?.terminating ?? 0) > 0;
}

/** The finalizer shows an earlier admission, and its copies have not been looked for on all clusters yet. */
const isUnaccountedFor = (job: DeepReadonly<Job>): boolean =>
  job.metadata.finalizers?.includes(COPIES_FINALIZER) === true && !isProvenNowhere(job);

/** Until the record says `evicted`, a user who unsuspends the Job resumes it, so it keeps its quota. */
const isUnmarked = ({ spec, metadata }: DeepReadonly<Job>, parsed: ParsedRecord): boolean =>
  spec.suspend === true && metadata.deletionTimestamp === undefined && parsed.kind === 'Record' && parsed.record.evicted !== true;

function untrustedOf(parsed: ParsedRecord, phase: WorkloadPhase): Untrusted | undefined {
  if (phase === 'Finished' || parsed.kind === 'Record') return undefined;
  if (parsed.kind !== 'None') return { reason: parsed.kind, problem: parsed.problem };
  return phase === 'Unrecorded' ? { reason: 'Missing', problem: 'it was released without an admission record' } : undefined;
}

function refusalIn(job: DeepReadonly<Job>, { epoch }: AdmissionRecord): string | undefined {
  const told = findCondition(job.status?.conditions, SwitchyardCondition.Dispatched);
  return told?.status === 'False' && isRefusalOf(epoch, told) ? told.reason : undefined;
}

/** A pod fence by default of the ClusterQueue applies only to Jobs whose pods can be fenced. */
function podFencedOf(job: DeepReadonly<Job>, { podFence }: Wishes): boolean | undefined {
  const wish = podFence.kind === 'PodFence' ? podFence.fenced : undefined;
  return wish === undefined && podFenceProblemOf(job) !== undefined ? false : wish;
}

function wishProblemOf(job: DeepReadonly<Job>, wishes: Wishes): string | undefined {
  const [first] = [...unreadableWishes(wishes), ...unmetPodFence(job, wishes)];
  return first && `${first.place === 'labels' ? 'label' : 'annotation'} ${first.name} ${first.problem}`;
}

/**
 * Whether an Indexed Job was admitted with a pod for each index. It may shrink and grow within its record and rerun indexes, so it keeps
 * all its quota.
 */
const isElastic = ({ spec }: DeepReadonly<Job>, record: AdmissionRecord | undefined): boolean =>
  spec.completionMode === 'Indexed' && (spec.completions ?? 0) <= Number(record?.requests['pods'] ?? 0);

/** All inputs of the search for flavors and clusters, as text. */
export function schedulingHashOf(
  requests: Requests,
  minPods: number | undefined,
  wish: ClusterWish,
  nodeWish: NodeWish,
  podClass: string | undefined,
  record: AdmissionRecord | undefined,
): string {
  const places = [record?.cluster ?? null, record?.clusterUID ?? null, record?.avoid ?? null];
  return JSON.stringify([[...requests].toSorted(byName), minPods ?? null, wish, nodeWish.digest, podClass ?? null, ...places]);
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : a > b ? 1 : 0);
