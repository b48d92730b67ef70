/** How the worker keeps pods: cut down to what the Job controller reads, and found by the Job that owns them. */
import {
  JOB_COMPLETION_INDEX,
  JOB_INDEX_FAILURE_COUNT_ANNOTATION,
  JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION,
} from '../../shared/api/names.ts';
import type { DeepReadonly, Job, OwnerReference, Pod } from '../../shared/api/kubernetes.ts';
import type { IndexFunction, Lister } from '../../shared/kube/indexer.ts';
import { isSettled } from './pod-view.ts';

const BY_OWNER = 'owner';

type Owned = { readonly metadata: { readonly ownerReferences?: readonly DeepReadonly<OwnerReference>[] } };
export const controllerOf = (object: Owned): DeepReadonly<OwnerReference> | undefined =>
  object.metadata.ownerReferences?.find(({ controller }) => controller === true);

/**
 * Each pod stands under one value. The settled pods of a Job - ended, and counted - stand apart from the others,
 * so that a sync costs what is still to be done and not what was done before.
 */
export const podIndexers: Readonly<Record<string, IndexFunction<Pod>>> = {
  [BY_OWNER]: (pod) => {
    const owner = controllerOf(pod);
    if (owner === undefined) return [ownerlessIn(pod.metadata.namespace)];
    return [(isSettled(pod) ? settledOf : unsettledOf)(pod.metadata.namespace, owner)];
  },
};

type OwnerName = { readonly kind?: string; readonly name: string; readonly uid: string };
const ownedBy = (namespace: string, { kind = 'Job', name, uid }: OwnerName): string => `${namespace}/${kind}/${name}/${uid}`;
const unsettledOf = (namespace: string, owner: OwnerName): string => `unsettled/${ownedBy(namespace, owner)}`;
const settledOf = (namespace: string, owner: OwnerName): string => `settled/${ownedBy(namespace, owner)}`;
const ownerlessIn = (namespace: string): string => `ownerless/${namespace}`;

type JobName = { readonly namespace: string; readonly name: string; readonly uid: string };
export const unsettledPods = (pods: Lister<Pod>, job: JobName): readonly DeepReadonly<Pod>[] =>
  pods.byIndex(BY_OWNER, unsettledOf(job.namespace, { name: job.name, uid: job.uid }));
export const settledPods = (pods: Lister<Pod>, job: JobName): readonly DeepReadonly<Pod>[] =>
  pods.byIndex(BY_OWNER, settledOf(job.namespace, { name: job.name, uid: job.uid }));
export const ownerlessPods = (pods: Lister<Pod>, namespace: string): readonly DeepReadonly<Pod>[] =>
  pods.byIndex(BY_OWNER, ownerlessIn(namespace));

/** The Job that a controller reference means, if the cache has that very Job. The group is not looked at, as upstream. */
export function resolveOwner(
  jobs: Lister<Job>,
  namespace: string,
  owner: DeepReadonly<OwnerReference> | undefined,
): DeepReadonly<Job> | undefined {
  if (owner?.kind !== 'Job') return undefined;
  const job = jobs.get({ namespace, name: owner.name });
  return job?.metadata.uid === owner.uid ? job : undefined;
}

const KEPT_ANNOTATIONS = [JOB_COMPLETION_INDEX, JOB_INDEX_FAILURE_COUNT_ANNOTATION, JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION];

/** A pod is several kilobytes; the Job controller reads a tenth of it, and never writes a pod back as a whole. */
export function trimPod(pod: Pod): Pod {
  const { name, namespace, uid, resourceVersion, creationTimestamp, labels, finalizers, ownerReferences } = pod.metadata;
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  const { phase, conditions, containerStatuses, initContainerStatuses } = pod.status ?? {};
  const annotations = keptAnnotations(pod.metadata.annotations);
  const initContainers = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      creationTimestamp,
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
      ...(ownerReferences && { ownerReferences }),
      ...(deletionTimestamp && { deletionTimestamp }),
      ...(deletionGracePeriodSeconds && { deletionGracePeriodSeconds }),
    },
    spec: {
      containers: [],
      ...(pod.spec.nodeName && { nodeName: pod.spec.nodeName }),
      ...(initContainers.length > 0 && {
        initContainers: initContainers.map((container) => ({ name: container.name, restartPolicy: 'Always' })),
      }),
    },
    status: {
      ...(phase && { phase }),
      ...(conditions && { conditions: conditions.map(trimCondition) }),
      ...(containerStatuses && { containerStatuses: containerStatuses.map(trimContainerStatus) }),
      ...(initContainerStatuses && { initContainerStatuses: initContainerStatuses.map(trimContainerStatus) }),
    },
  };
}

function keptAnnotations(annotations: Readonly<Record<string, string>> | undefined): Record<string, string> | undefined {
  if (annotations === undefined) return undefined;
  const kept = KEPT_ANNOTATIONS.flatMap((key): [string, string][] => (annotations[key] === undefined ? [] : [[key, annotations[key]]]));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

type PodStatus = NonNullable<Pod['status']>;
const trimCondition = ({ type, status, lastTransitionTime }: NonNullable<PodStatus['conditions']>[number]) => ({
  type,
  status,
  ...(lastTransitionTime && { lastTransitionTime }),
});

function trimContainerStatus({ name, restartCount, state }: NonNullable<PodStatus['containerStatuses']>[number]) {
  const terminated = state?.terminated;
  return {
    name,
    image: '',
    imageID: '',
    ready: false,
    restartCount,
    ...(terminated && {
      state: { terminated: { exitCode: terminated.exitCode, ...(terminated.finishedAt && { finishedAt: terminated.finishedAt }) } },
    }),
  };
}
