/**
 * What the Job controller reads from one pod, worked out once per sync.
 * The rules are those of job_controller.go and pod_failure_policy.go (v1.36); the words are upstream's.
 */
import {
  JOB_COMPLETION_INDEX,
  JOB_INDEX_FAILURE_COUNT_ANNOTATION,
  JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION,
  JOB_TRACKING_FINALIZER,
} from '../../shared/api/names.ts';
import type { DeepReadonly, Pod } from '../../shared/api/kubernetes.ts';
import { findTrueCondition, hasTrueCondition } from '../../shared/kube/conditions.ts';
import { parseIndex } from './indexes.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';

export type PodView = {
  readonly pod: DeepReadonly<Pod>;
  readonly uid: string;
  readonly phase: string;
  /** The tracking finalizer is on the pod: in the cache, or put there by its adoption in this sync. */
  readonly hasFinalizer: boolean;
  /** `hasFinalizer`, and its removal has not been asked for yet: the pod is still to be counted. */
  readonly tracked: boolean;
  /** The completion index, not yet compared with the completions; undefined when unknown. */
  readonly index: number | undefined;
  readonly active: boolean;
  readonly terminating: boolean;
  readonly ready: boolean;
  readonly succeeded: boolean;
  /** Failed, or on its way out where a terminating pod is replaced at once. */
  readonly failed: boolean;
};

export type PodReading = {
  /** A terminating pod is not failed before its phase says so (`podReplacementPolicy: Failed`, or a pod failure policy). */
  readonly onlyReplaceFailed: boolean;
  readonly adopted?: boolean;
  /** The finalizer expectations of the Job hold this pod. */
  readonly removalPending?: boolean;
};

export function viewPod(pod: DeepReadonly<Pod>, { onlyReplaceFailed, adopted = false, removalPending = false }: PodReading): PodView {
  const phase = pod.status?.phase ?? 'Pending';
  const deleting = isDeleting(pod);
  const terminal = phase === 'Succeeded' || phase === 'Failed';
  const hasFinalizer = adopted || hasTrackingFinalizer(pod);
  const active = !terminal && !deleting;
  return {
    pod,
    uid: pod.metadata.uid,
    phase,
    hasFinalizer,
    tracked: hasFinalizer && !removalPending,
    index: parseIndex(pod.metadata.annotations?.[JOB_COMPLETION_INDEX]),
    active,
    terminating: !terminal && deleting,
    ready: active && isReady(pod),
    succeeded: phase === 'Succeeded',
    failed: phase === 'Failed' || (!onlyReplaceFailed && deleting && phase !== 'Succeeded'),
  };
}

export const hasTrackingFinalizer = (pod: DeepReadonly<Pod>): boolean => pod.metadata.finalizers?.includes(JOB_TRACKING_FINALIZER) ?? false;

export const isDeleting = (object: { readonly metadata: { readonly deletionTimestamp?: string } }): boolean =>
  object.metadata.deletionTimestamp !== undefined && object.metadata.deletionTimestamp !== null;

export const isTerminal = (pod: DeepReadonly<Pod>): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

/** Nothing of this pod will be counted any more: it has ended and is no longer tracked. */
export const isCounted = (pod: DeepReadonly<Pod>): boolean => isTerminal(pod) && !hasTrackingFinalizer(pod);

export const isReady = (pod: DeepReadonly<Pod>): boolean => hasTrueCondition(pod.status?.conditions, 'Ready');

/** Since when the pod is ready, in milliseconds; undefined when that is not known. */
export const readySinceMs = (pod: DeepReadonly<Pod>): number | undefined =>
  parseWireTime(findTrueCondition(pod.status?.conditions, 'Ready')?.lastTransitionTime);

const MAX_INT32 = 2 ** 31 - 1;
function failureCount(pod: DeepReadonly<Pod>, annotation: string): number {
  const count = parseIndex(pod.metadata.annotations?.[annotation]);
  return count === undefined || count > MAX_INT32 ? 0 : count;
}
/** How often the pod's index had failed before this pod, as its annotation says; 0 when it says nothing readable. */
export const countedFailuresBefore = (pod: DeepReadonly<Pod>): number => failureCount(pod, JOB_INDEX_FAILURE_COUNT_ANNOTATION);
export const ignoredFailuresBefore = (pod: DeepReadonly<Pod>): number => failureCount(pod, JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION);
/** All failures of the index before this pod, ignored ones included: they set the back-off. */
export const failuresBefore = (pod: DeepReadonly<Pod>): number => countedFailuresBefore(pod) + ignoredFailuresBefore(pod);

/** When the pod ended, in milliseconds: the first of four sources that knows (getFinishedTime). */
export function finishTimeMs(pod: DeepReadonly<Pod>): number {
  return containersFinishedMs(pod) ?? readyLostMs(pod) ?? deletionStartMs(pod) ?? parseWireTime(pod.metadata.creationTimestamp) ?? 0;
}

/** The last end of a container. Regular containers count when all have ended; a sidecar still running leaves no answer. */
function containersFinishedMs(pod: DeepReadonly<Pod>): number | undefined {
  const latest = latestEndMs(pod.status?.containerStatuses);
  const sidecars = sidecarNames(pod);
  const sidecarStatuses = pod.status?.initContainerStatuses?.filter(({ name }) => sidecars.has(name));
  if (sidecarStatuses === undefined || sidecarStatuses.length === 0) return latest;
  const latestSidecar = latestEndMs(sidecarStatuses);
  return latestSidecar === undefined ? undefined : Math.max(latestSidecar, latest ?? latestSidecar);
}

type ContainerEnd = { readonly state?: { readonly terminated?: { readonly finishedAt?: string } } };
function latestEndMs(statuses: readonly ContainerEnd[] | undefined): number | undefined {
  let latest: number | undefined;
  for (const status of statuses ?? []) {
    const ended = parseWireTime(status.state?.terminated?.finishedAt);
    if (ended === undefined) return undefined;
    latest = Math.max(ended, latest ?? ended);
  }
  return latest;
}

/** Restartable init containers: the ones with `restartPolicy: Always`. */
export const sidecarNames = (pod: DeepReadonly<Pod>): ReadonlySet<string> =>
  new Set((pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name));

const readyLostMs = (pod: DeepReadonly<Pod>): number | undefined =>
  parseWireTime(pod.status?.conditions?.find(({ type, status }) => type === 'Ready' && status === 'False')?.lastTransitionTime);

/** When its deletion was asked for, in milliseconds; undefined: it was not. */
export function deletionStartMs(pod: DeepReadonly<Pod>): number | undefined {
  const deletion = parseWireTime(pod.metadata.deletionTimestamp);
  return deletion === undefined ? undefined : deletion - (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1000;
}
