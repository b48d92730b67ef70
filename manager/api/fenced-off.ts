import { OPERATOR_GRACE_MS } from '../../shared/api/fenced-kinds.ts';
import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import type { ClusterQueueSpec } from './cluster-queue.ts';
import { formatDurationMs } from './duration.ts';
import type { AdmissionRecord } from './records.ts';

/**
 * Judges whether the Jobs of a lost cluster count as stopped, though the cluster cannot be read. Its worker stops their pods by itself when
 * it has had no contact with the manager for the time of its fence. After that, the longest grace period and a margin, no pod of them runs.
 * In order:
 *
 *  1. Another manager renews the Lease there: the worker has contact, and stops nothing.
 *  2. An operator has given the cluster up (`spec.state: Lost`): as soon as the fence has tripped. Without a fence the word of the operator
 *     counts: once pods that were told to end at that moment would have ended.
 *  3. The queue has its Jobs wait, or the manager moves none, or the Job is not fenced, or has no pod fence where its queue requires one:
 *     never.
 *  4. The worker has not announced a fence, or not for the kind of the object, or was not alive to carry it out: never. A pod fence does
 *     not need the worker.
 *  5. The timeout of lost clusters is too short for the fence: never.
 *  6. When the timeout is over, and not before.
 *
 * Where the control plane of the cluster is down as well, its worker stops nothing, and only a pod fence ends the pods.
 */
export function judgeLoss(
  cluster: LostCluster,
  { graceSeconds, fencing, onClusterLost, podFenceSeconds, fencedKind }: FencedJob,
  workerLostTimeoutMs: number,
): LossJudgement {
  const { since, lostMs, givenUpMs, fenceAfterSeconds = 0, fencedKinds = [], workerAlive, otherManager } = cluster;
  const graceMs = graceSeconds * 1000 + (fencedKind === undefined ? 0 : OPERATOR_GRACE_MS);
  const fenceMs = fencedKind === undefined || fencedKinds.includes(fencedKind) ? fenceAfterSeconds * 1000 : 0;
  if (otherManager) return never(since, 'another manager renews the Lease there, so that its worker goes on'); // 1
  if (givenUpMs !== undefined) {
    const isFenced = fencing && fenceMs > 0 && workerAlive;
    const neededMs = (isFenced ? fenceMs : 0) + graceMs + FENCE_MARGIN_MS;
    const forMs = neededMs - Math.min(givenUpMs, lostMs);
    if (forMs > 0)
      return { kind: 'NotYet', forMs, message: `lost since ${since} and given up: it moves within ${formatDurationMs(neededMs)}` };
    return { kind: 'FencedOff', message: `cluster was lost at ${since}, and has been given up` }; // 2
  }
  if (onClusterLost === 'Wait') return never(since, 'its ClusterQueue has it wait (onClusterLost: Wait)'); // 3
  if (workerLostTimeoutMs === 0) return never(since, 'the manager moves no Job off a lost cluster (--worker-lost-timeout=0s)');
  if (!fencing) return never(since, 'its pods are not fenced and may run on');
  const isCertain = onClusterLost === 'RequeueFenced';
  if (isCertain && podFenceSeconds === undefined) return never(since, WITHOUT_POD_FENCE);
  if (fenceAfterSeconds === 0) return never(since, 'the worker there has announced no fence, and its pods may run on'); // 4
  if (fenceMs === 0)
    return never(since, `the worker there has announced no fence for ${fencedKind} (it needs the rights), and its pods may run on`);
  if (!workerAlive && !isCertain) return never(since, 'the worker there was not alive when the cluster was lost, and its pods may run on');
  const podFenceMs = isCertain ? podFenceEndsWithinMs(podFenceSeconds ?? 0, graceMs) : 0;
  const neededMs = fenceMs + (isCertain ? podFenceMs : graceMs + FENCE_MARGIN_MS);
  if (workerLostTimeoutMs < neededMs) {
    const rest = isCertain
      ? `${formatDurationMs(podFenceMs)} in which the pod fence ends its pods`
      : `${formatDurationMs(graceMs)} of grace for its pods and ${formatDurationMs(FENCE_MARGIN_MS)}`;
    const parts = `${formatDurationMs(fenceMs)} of the fence there${isCertain ? ' and' : ','} ${rest}`;
    return never(since, `--worker-lost-timeout (${formatDurationMs(workerLostTimeoutMs)}) is shorter than ${parts} together`); // 5
  }
  const after = formatDurationMs(workerLostTimeoutMs);
  const forMs = workerLostTimeoutMs - lostMs;
  if (forMs > 0) return { kind: 'NotYet', forMs, message: `lost since ${since}: given up after ${after}, unless it comes back` };
  const how = isCertain ? PODS_HAVE_ENDED : PODS_MAY_RUN_ON;
  return { kind: 'FencedOff', message: `cluster was lost at ${since}, more than ${after} ago; ${how}` }; // 6
}

const WITHOUT_POD_FENCE =
  'its ClusterQueue moves only Jobs whose pods are certain to have ended (onClusterLost: RequeueFenced), and its pods have no pod fence; ' +
  'it goes on when the cluster is back, or is given up (spec.state: Lost)';
const PODS_HAVE_ENDED = 'the pod fence has ended its pods there';
const PODS_MAY_RUN_ON = 'its worker has stopped its pods there, unless the control plane of the cluster is away as well: then they run on';

/**
 * Time after the fence of its worker has tripped until no container of a pod with a pod fence runs, whatever answers on its cluster
 * (docs/fencing.md has the time line). The last renewal of the pod may have been sent just before. After it the sidecar may see a renewal
 * that its kubelet had already, and the last one, each within `afterSeconds` of the one before. The last margin covers requests in flight,
 * probes and a slow kubelet. Sidecars are ended after the containers.
 */
const podFenceEndsWithinMs = (afterSeconds: number, graceMs: number): number => 3 * afterSeconds * 1000 + 2 * graceMs + POD_FENCE_MARGIN_MS;

/** Twice 20 s for requests in flight, of manager and worker; 36 s until three probes have failed; the rest for slow components. */
const POD_FENCE_MARGIN_MS = 110_000;

/** Covers requests in flight when the cluster was lost, clocks that run unevenly, and pods that take a little longer. */
export const FENCE_MARGIN_MS = 30_000;

/** A shorter loss is reported by the WorkerCluster, but not by its Jobs. */
const TOLD_AFTER_MS = 60_000;

/** Milliseconds until the Jobs of a lost cluster are to report the loss; zero or less: now. */
export const reportInMs = ({ lostMs }: Pick<LostCluster, 'lostMs'>): number => TOLD_AFTER_MS - lostMs;

export type LossJudgement =
  | { readonly kind: 'FencedOff'; readonly message: string }
  | { readonly kind: 'NotYet'; readonly forMs: number; readonly message: string }
  | { readonly kind: 'Never'; readonly message: string };

/** The known state of a cluster that does not answer. */
export type LostCluster = {
  /** Its lostSince, RFC 3339. */
  readonly since: string;
  /** Milliseconds that the cluster has certainly been lost. */
  readonly lostMs: number;
  /** Milliseconds since the operator gave the cluster up; undefined: not given up. */
  readonly givenUpMs: number | undefined;
  /** The fence that the worker announced; undefined: none. */
  readonly fenceAfterSeconds: number | undefined;
  /** The kinds beside Jobs for which it announced it, by `fencedKindName`. */
  readonly fencedKinds?: readonly string[] | undefined;
  /** The worker was alive when the cluster last answered. */
  readonly workerAlive: boolean;
  /** Another manager holds the Lease of this manager there. */
  readonly otherManager: boolean;
};

/** The fields of a Job that matter on a lost cluster. */
export type FencedJob = {
  /** The longest time that a pod may take to end. */
  readonly graceSeconds: number;
  readonly fencing: boolean;
  readonly onClusterLost: NonNullable<ClusterQueueSpec['onClusterLost']>;
  /** Seconds without a renewal after which its pods count as cut off; undefined: they have no pod fence. */
  readonly podFenceSeconds?: number | undefined;
  /** By `fencedKindName`; undefined: it is a Job. */
  readonly fencedKind?: string | undefined;
};

/**
 * Fencing and pod fence come from the record, by which the copy was made: later changes of Job and queue have not reached a copy on a lost
 * cluster.
 */
export const fencedJob = (
  graceSeconds: number,
  record: Pick<AdmissionRecord, 'unfenced' | 'podFence'>,
  queue: Pick<DeepReadonly<ClusterQueueSpec>, 'onClusterLost'> | undefined,
  fencedKind?: string,
): FencedJob => ({
  fencedKind,
  graceSeconds,
  fencing: record.unfenced !== true,
  onClusterLost: queue?.onClusterLost ?? 'Requeue',
  podFenceSeconds: record.podFence,
});

const never = (since: string, why: string): LossJudgement => ({ kind: 'Never', message: `lost since ${since}; it is not moved: ${why}` });
