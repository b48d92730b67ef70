import { queueNameOf, unreadableWishes, wishesOf, type ClusterWish, type Wishes } from '../../api/job-annotations.ts';
import { checkStatesOf, type CheckState } from '../../api/check-states.ts';
import { compactProblem, podFenceProblemOf } from '../../api/compact-job.ts';
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

/** A Job as admission sees it: what it asks for, and how far it has come. Derived from the Job alone, and never changed. */
export type Workload = {
  /** `namespace/name`. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly finalizers: readonly string[];
  /** LocalQueue of the namespace; undefined when the Job names none. */
  readonly queue: string | undefined;
  readonly priorityWish: PriorityWish;
  /** Milliseconds since the epoch. */
  readonly createdMs: number;
  /** Since when it counts as waiting for its place in the queue, where that is not since its creation. */
  readonly queuedSinceMs: number | undefined;
  /** What all its pods would request together, as the Job stands now; `pods` is their number. What it is charged is in its record. */
  readonly requests: Requests;
  /** What its record is to allow it, where that is more than is asked for here. */
  readonly recordedRequests?: Requests;
  /** How many pods of it may still exist at once, where that is fewer than it asks for. */
  readonly podsNeeded: number | undefined;
  /** With how few pods at once it may be admitted, where that is fewer than it asks for. */
  readonly minPods: number | undefined;
  /** With how many of them it is to be admitted, where these are not all that it asks for; `whole` is the Workload as it waits. */
  readonly admittedPods?: number;
  readonly whole?: Workload;
  readonly wish: ClusterWish;
  /** True: it is to rest. False: it is not, whoever suspends it. Undefined: nothing is said. */
  readonly hold: boolean | undefined;
  readonly nodeWish: NodeWish;
  /** Pods of it that exist, as its cluster has told: active and terminating. */
  readonly podsTold: number;
  /** Why the cluster of its record has refused it for good; undefined when it has not. */
  readonly refusal: string | undefined;
  /** Its copy was on the cluster of its record, for this placement, as far as is told. */
  readonly dispatched: boolean;
  /** It is not made or resumed there now, because the manager cluster was restored: that is not the cluster's fault. */
  readonly heldBack: boolean;
  /** It has started since its last admission. */
  readonly started: boolean;
  /** How long a placement may take until it starts, in milliseconds, 0: any time; undefined: its queue says. */
  readonly startTimeoutMs: number | undefined;
  /** For how many seconds in all it may be admitted, over all its admissions; undefined: for ever. */
  readonly maxExecutionSeconds: number | undefined;
  /** Whether it is to be stopped where the manager is out of reach; undefined: its queue says. */
  readonly fenced: boolean | undefined;
  /** Whether its pods are to have a pod fence; false also where they cannot, undefined: its queue says. */
  readonly podFenced: boolean | undefined;
  /** How long its pods may take to end. */
  readonly graceSeconds: number;
  /** What a cluster judges it by: `shapeOf`. */
  readonly shape: string;
  /** What it says of its not starting anywhere; undefined when it does not say so. */
  readonly cannotStart: string | undefined;
  /** The last admission, when there was one and it is remembered: also where the Job does not carry it any more. */
  readonly record: AdmissionRecord | undefined;
  readonly phase: WorkloadPhase;
  /** Somebody has suspended it, and its record does not say so yet. */
  readonly unmarked: boolean;
  /** Why what the Job carries is no record; undefined when it carries a good one, or waits without any. */
  readonly untrusted: Untrusted | undefined;
  /** It was admitted once, of that nothing is known, and something of it may run: it may hold more than anybody counts. */
  readonly unaccounted: boolean;
  /** Why the Job can never be admitted as it is. */
  readonly problem: string | undefined;
  /** What admission checks say of it, by their names. */
  readonly checks: ReadonlyMap<string, CheckState>;
  /** Why LimitRanges of its namespace forbid its pods. */
  readonly forbidden: string | undefined;
  /** Jobs of equal hash fit together or fail together, wherever they stand in the queue. */
  readonly schedulingHash: string;
};

export type Untrusted = { readonly reason: UntrustedReason; readonly problem: string };
/** Why a record does not count; the values of a metric. */
export const UntrustedReason = {
  /** The Job runs, and has no record. */
  Missing: 'Missing',
  /** It cannot be read. */
  Invalid: 'Invalid',
  /** Admission has not made it, or not for this Job, or has replaced it since. */
  Forged: 'Forged',
} as const;
export type UntrustedReason = (typeof UntrustedReason)[keyof typeof UntrustedReason];

export type WorkloadPhase =
  /** Waits for admission. */
  | 'Pending'
  /** Holds quota, and waits until its admission checks have said yes. */
  | 'Reserved'
  /** Holds quota and may run. */
  | 'Admitted'
  /** Not suspended, though no good record allows it to run: is to be suspended. Holds what its last good record said, if that is known. */
  | 'Unrecorded'
  /** Suspended after it could run, but something of it may still run, or it is to end: holds quota until its status says otherwise. */
  | 'Evicting'
  /** Complete or Failed, or on its way out without holding anything. */
  | 'Finished';

/** The Workload of a Job with this record; undefined for a Job that is not the manager's. */
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
  // What it was sent is gone, as our finalizer tells, though others keep it.
  if (deleted && job.metadata.finalizers?.includes(COPIES_FINALIZER) !== true) return 'Finished';
  // It only has to be told, and holds what it holds until then.
  if (record?.fail !== undefined && job.spec.suspend === true) return 'Evicting';
  if (job.spec.suspend !== true) {
    if (parsed.kind === 'Record') return 'Admitted';
    if (!deleted) return 'Unrecorded';
    return record === undefined && !isUnaccountedFor(job) ? 'Finished' : 'Evicting';
  }
  if (parsed.kind === 'Record' && parsed.record.checks !== undefined && !deleted) return 'Reserved';
  const runs = record === undefined ? tellsOfPods(job) || isUnaccountedFor(job) : !isProvenAtRest(job.status, record);
  if ((runs && (record !== undefined || !deleted || isUnaccountedFor(job))) || isUnmarked(job, parsed)) return 'Evicting';
  return deleted ? 'Finished' : 'Pending';
}

/**
 * Of a Job whose record is lost only its status tells. The worker takes startTime away and reports Suspended once it has acted on the suspension;
 * until then pods may run, also those of a copy that has told nothing yet.
 */
function tellsOfPods({ status }: DeepReadonly<Job>): boolean {
  const mayRun = status?.startTime !== undefined || hasTrueCondition(status?.conditions, SwitchyardCondition.Dispatched);
  return (mayRun && !hasTrueCondition(status?.conditions, 'Suspended')) || (status?.active ?? 0) + (status?.terminating ?? 0) > 0;
}

/** It was admitted once, as its finalizer tells, and nobody has yet looked on all clusters for what may run of it. */
const isUnaccountedFor = (job: DeepReadonly<Job>): boolean =>
  job.metadata.finalizers?.includes(COPIES_FINALIZER) === true && !isProvenNowhere(job);

/** Until the record says `evicted`, whoever lets the Job go again sets it going: it holds what it held. */
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

/** A queue whose pods are fenced by default asks that of those alone that can be. */
function podFencedOf(job: DeepReadonly<Job>, { podFence }: Wishes): boolean | undefined {
  const wish = podFence.kind === 'PodFence' ? podFence.fenced : undefined;
  return wish === undefined && podFenceProblemOf(job) !== undefined ? false : wish;
}

function wishProblemOf(job: DeepReadonly<Job>, wishes: Wishes): string | undefined {
  const [first] = [...unreadableWishes(wishes), ...unmetPodFence(job, wishes)];
  return first && `${first.place === 'labels' ? 'label' : 'annotation'} ${first.name} ${first.problem}`;
}

/** An Indexed Job that was admitted with a pod for each index may shrink and grow within its record, and run indexes anew: it keeps all. */
const isElastic = ({ spec }: DeepReadonly<Job>, record: AdmissionRecord | undefined): boolean =>
  spec.completionMode === 'Indexed' && (spec.completions ?? 0) <= Number(record?.requests['pods'] ?? 0);

/** Everything that the search for flavors and clusters looks at, as one text. */
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
