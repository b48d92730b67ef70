import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import type { ClusterQueueSpec } from './cluster-queue.ts';
import { formatDurationMs } from './duration.ts';
import type { AdmissionRecord } from './records.ts';

/**
 * Whether the Jobs of a cluster that is lost may be taken for stopped, though nobody can look. Its worker stops their pods by itself when
 * it has not heard of the manager for its fence; after that, their longest grace period and a margin nothing of them runs. In order:
 *
 *  1. Another manager renews the Lease there: the worker is not cut off, and stops nothing.
 *  2. An operator has given the cluster up (`spec.state: Lost`): as soon as the fence is through. Where there is none, his word is enough:
 *     once their pods would have ended had they been told when he said so.
 *  3. The queue has its Jobs wait, or nobody has them moved, or the Job is not fenced, or has no pod fence where its queue asks for one:
 *     never.
 *  4. The worker has not told of a fence, or was not there any more to carry it out: never. A pod fence does not need the worker to be
 *     there.
 *  5. The time until clusters are given up is too short for the fence: never.
 *  6. When that time is over, and not before.
 *
 * Where the control plane of the cluster is away as well, its worker stops nothing, and only a pod fence ends the pods.
 */
export function judgeLoss(
  cluster: LostCluster,
  { graceSeconds, fencing, onClusterLost, podFenceSeconds }: FencedJob,
  workerLostTimeoutMs: number,
): LossJudgement {
  const { since, lostMs, givenUpMs, fenceAfterSeconds = 0, workerAlive, otherManager } = cluster;
  const graceMs = graceSeconds * 1000;
  const fenceMs = fenceAfterSeconds * 1000;
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
 * How long after the fence of its worker has tripped nothing of a pod with a pod fence runs any more, whatever answers on its cluster
 * (docs/fencing.md has the time line). The last renewal of the pod may have been sent just before that. What the sidecar sees after it: a
 * renewal that its kubelet had already, and the last one, each within `afterSeconds` of the one before. The last margin holds requests
 * under way, probes and a kubelet that is slow. Sidecars are ended after the containers.
 */
const podFenceEndsWithinMs = (afterSeconds: number, graceMs: number): number => 3 * afterSeconds * 1000 + 2 * graceMs + POD_FENCE_MARGIN_MS;

/** Twice 20 s for requests under way, of manager and worker; 36 s until three probes have failed; the rest for whoever is slow. */
const POD_FENCE_MARGIN_MS = 110_000;

/** Requests that were on their way when the cluster was lost, clocks that run unevenly, and pods that take a little longer. */
export const FENCE_MARGIN_MS = 30_000;

/** A cluster that comes back sooner was not missed: its WorkerCluster says so, its Jobs do not. */
const TOLD_AFTER_MS = 60_000;

/** In how many milliseconds the Jobs of a cluster that is lost are to say so; zero or less: they do. */
export const toldInMs = ({ lostMs }: Pick<LostCluster, 'lostMs'>): number => TOLD_AFTER_MS - lostMs;

export type LossJudgement =
  | { readonly kind: 'FencedOff'; readonly message: string }
  | { readonly kind: 'NotYet'; readonly forMs: number; readonly message: string }
  | { readonly kind: 'Never'; readonly message: string };

/** What is known of a cluster that does not answer. */
export type LostCluster = {
  /** Its lostSince, RFC 3339. */
  readonly since: string;
  /** For how long, as far as that is certain. */
  readonly lostMs: number;
  /** For how long its operator has had it given up; undefined: he has not. */
  readonly givenUpMs: number | undefined;
  /** The fence that its worker announced; undefined: none did. */
  readonly fenceAfterSeconds: number | undefined;
  /** The worker was there when the cluster was last heard of. */
  readonly workerAlive: boolean;
  /** Somebody else holds the Lease of this manager there. */
  readonly otherManager: boolean;
};

/** What of a Job matters on a cluster that is lost. */
export type FencedJob = {
  /** The longest that a pod may take to end. */
  readonly graceSeconds: number;
  readonly fencing: boolean;
  readonly onClusterLost: NonNullable<ClusterQueueSpec['onClusterLost']>;
  /** After so many seconds without a renewal its pods count as cut off; undefined: they have no pod fence. */
  readonly podFenceSeconds?: number | undefined;
};

/** Of a pod that does not say. */
const GRACE_PERIOD_SECONDS = 30;

/**
 * Whether it is fenced, and its pods are, stands in its record, because its copy was made by that: what Job and queue say now, the copy on
 * a cluster that is lost has not heard.
 */
export const fencedJob = (
  graceSeconds: number,
  record: Pick<AdmissionRecord, 'unfenced' | 'podFence'>,
  queue: Pick<DeepReadonly<ClusterQueueSpec>, 'onClusterLost'> | undefined,
): FencedJob => ({
  graceSeconds,
  fencing: record.unfenced !== true,
  onClusterLost: queue?.onClusterLost ?? 'Requeue',
  podFenceSeconds: record.podFence,
});

/** How long the pods of a Job may take to end. */
export const graceSecondsOf = ({ spec }: DeepReadonly<Job>): number =>
  spec.template.spec?.terminationGracePeriodSeconds ?? GRACE_PERIOD_SECONDS;

const never = (since: string, why: string): LossJudgement => ({ kind: 'Never', message: `lost since ${since}; it is not moved: ${why}` });
