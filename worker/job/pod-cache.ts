/** How the worker keeps pods: cut down to what the Job controller reads, and found by the Job that owns them. */
import {
  FENCED_ANNOTATION,
  JOB_COMPLETION_INDEX,
  JOB_INDEX_FAILURE_COUNT_ANNOTATION,
  JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION,
  ORIGIN_UID_ANNOTATION,
} from '../../shared/api/names.ts';
import { podIdentity } from '../../shared/api/copy-identity.ts';
import type { DeepReadonly, Job, OwnerReference, Pod } from '../../shared/api/kubernetes.ts';
import { LINE_LENGTH_MAX } from '../../shared/api/ended-pods.ts';
import { lastLineOf } from '../../shared/api/log-tails.ts';
import { isOfKind, JOBS } from '../../shared/api/resources.ts';
import { controllerOf } from '../../shared/kube/controller-of.ts';
import type { IndexFunction, Lister } from '../../shared/kube/indexer.ts';
import { isCounted } from './pod-view.ts';
import { createSharedValues } from './shared-values.ts';

const BY_OWNER = 'owner';

/**
 * Each pod stands under one value. The counted pods of a Job stand apart from the others,
 * so that a sync costs what is still to be done and not what was done before; and the failed among them apart, because
 * a pod failure policy may ask them again.
 */
export const podIndexers: Readonly<Record<string, IndexFunction<Pod>>> = {
  [BY_OWNER]: (pod) => {
    const owner = controllerOf(pod);
    if (owner === undefined) return [ownerlessIn(pod.metadata.namespace)];
    if (!isCounted(pod)) return [uncountedOf(pod.metadata.namespace, owner)];
    return [(pod.status?.phase === 'Failed' ? countedFailedOf : countedSucceededOf)(pod.metadata.namespace, owner)];
  },
};

type OwnerName = { readonly kind?: string; readonly name: string; readonly uid: string };
const ownedBy = (namespace: string, { kind = 'Job', name, uid }: OwnerName): string => `${namespace}/${kind}/${name}/${uid}`;
const uncountedOf = (namespace: string, owner: OwnerName): string => `uncounted/${ownedBy(namespace, owner)}`;
const countedFailedOf = (namespace: string, owner: OwnerName): string => `failed/${ownedBy(namespace, owner)}`;
const countedSucceededOf = (namespace: string, owner: OwnerName): string => `succeeded/${ownedBy(namespace, owner)}`;
const ownerlessIn = (namespace: string): string => `ownerless/${namespace}`;

type JobName = { readonly namespace: string; readonly name: string; readonly uid: string };
export const uncountedPods = (pods: Lister<Pod>, job: JobName): readonly DeepReadonly<Pod>[] =>
  pods.byIndex(BY_OWNER, uncountedOf(job.namespace, { name: job.name, uid: job.uid }));
export const countedFailedPods = (pods: Lister<Pod>, job: JobName): readonly DeepReadonly<Pod>[] =>
  pods.byIndex(BY_OWNER, countedFailedOf(job.namespace, { name: job.name, uid: job.uid }));
export const countedPods = (pods: Lister<Pod>, job: JobName): readonly DeepReadonly<Pod>[] => [
  ...countedFailedPods(pods, job),
  ...pods.byIndex(BY_OWNER, countedSucceededOf(job.namespace, { name: job.name, uid: job.uid })),
];
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

const KEPT_ANNOTATIONS = [
  FENCED_ANNOTATION,
  JOB_COMPLETION_INDEX,
  JOB_INDEX_FAILURE_COUNT_ANNOTATION,
  JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION,
];

/** A pod is several kilobytes; the Job controller reads a tenth of it, and never writes a pod back as a whole. */
export function createPodTrimmer(): (pod: Pod) => Pod {
  const shared = createSharedValues();

  return function trimPod(pod) {
    const { name, namespace, uid, resourceVersion, creationTimestamp, labels, finalizers, ownerReferences } = pod.metadata;
    const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
    const annotations = keptAnnotations(pod.metadata.annotations, originUidOf(pod));
    return {
      metadata: {
        name,
        namespace: shared.text(namespace),
        uid,
        resourceVersion,
        creationTimestamp: shared.text(creationTimestamp),
        ...(labels && { labels: trimLabels(labels) }),
        ...(annotations && { annotations }),
        ...(finalizers && { finalizers: shared.value(`finalizers ${finalizers.join()}`, () => finalizers) }),
        ...(ownerReferences && { ownerReferences: shared.value(`owners ${JSON.stringify(ownerReferences)}`, () => ownerReferences) }),
        ...(deletionTimestamp && { deletionTimestamp }),
        ...(deletionGracePeriodSeconds && { deletionGracePeriodSeconds }),
      },
      spec: trimSpec(pod.spec),
      status: trimStatus(pod.status),
    };
  };

  /** Of which copy a pod is that no Job controls: the environment of its containers, which says so, is not kept. */
  function originUidOf(pod: Pod): string | undefined {
    const originUid = isOfKind(JOBS, controllerOf(pod)) ? undefined : podIdentity(pod.spec)?.originUid;
    return originUid && shared.text(originUid);
  }

  /** The completion index is different in each pod of a Job; all other labels are as a rule the same. */
  function trimLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
    const trimmed: Record<string, string> = {};
    for (const [key, value] of Object.entries(labels)) trimmed[key] = key === JOB_COMPLETION_INDEX ? value : shared.text(value);
    return trimmed;
  }

  function trimSpec({ nodeName = '', initContainers = [] }: Pod['spec']): Pod['spec'] {
    const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name);
    return shared.value(`spec ${nodeName} ${sidecars.join()}`, () => ({
      containers: [],
      ...(nodeName && { nodeName }),
      ...(sidecars.length > 0 && { initContainers: sidecars.map((name) => ({ name, restartPolicy: 'Always' })) }),
    }));
  }

  function trimStatus({ phase, reason, conditions, containerStatuses, initContainerStatuses }: Partial<PodStatus> = {}): PodStatus {
    return {
      ...(phase && { phase }),
      ...(reason && { reason: shared.text(reason) }),
      ...(conditions && { conditions: conditions.map(trimCondition) }),
      ...(containerStatuses && { containerStatuses: containerStatuses.map(trimContainerStatus) }),
      ...(initContainerStatuses && { initContainerStatuses: initContainerStatuses.map(trimContainerStatus) }),
    };
  }

  /** Only the time of readiness is ever asked for. */
  function trimCondition({ type, status, lastTransitionTime }: PodCondition): PodCondition {
    const since = type === 'Ready' && lastTransitionTime ? lastTransitionTime : '';
    return shared.value(`condition ${type} ${status} ${since}`, () => ({ type, status, ...(since && { lastTransitionTime: since }) }));
  }

  function trimContainerStatus({ name, restartCount, state }: ContainerStatus): ContainerStatus {
    const ended = state?.terminated && trimTerminated(state.terminated);
    const key = ended === undefined ? (state?.running ? 'runs' : '') : JSON.stringify(ended);
    return shared.value(`container ${name} ${restartCount} ${key}`, () => ({
      name,
      image: '',
      imageID: '',
      ready: false,
      restartCount,
      ...(ended === undefined ? state?.running && { state: { running: {} } } : { state: { terminated: ended } }),
    }));
  }
}

/** What is told of its end. What a container leaves as its message is up to 4 KiB of whatever it likes. */
function trimTerminated({ exitCode, reason, message, startedAt, finishedAt }: Terminated): Terminated {
  const told = exitCode === 0 || !message ? undefined : lastLineOf(message, LINE_LENGTH_MAX);
  return {
    exitCode,
    ...(reason && { reason }),
    ...(told !== undefined && { message: told }),
    ...(startedAt && { startedAt }),
    ...(finishedAt && { finishedAt }),
  };
}

function keptAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  originUid: string | undefined,
): Record<string, string> | undefined {
  if (annotations === undefined && originUid === undefined) return undefined;
  const kept = KEPT_ANNOTATIONS.flatMap((key): [string, string][] => (annotations?.[key] === undefined ? [] : [[key, annotations[key]]]));
  if (originUid !== undefined) kept.push([ORIGIN_UID_ANNOTATION, originUid]);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

type PodStatus = NonNullable<Pod['status']>;
type PodCondition = NonNullable<PodStatus['conditions']>[number];
type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];
type Terminated = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>;
