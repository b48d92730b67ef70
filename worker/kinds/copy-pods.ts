/**
 * The pods of copies of kinds beside Jobs. The environment of their containers says whose they are, as their manager has written it into
 * the pod templates. Of pods that an operator has made without it the labels count.
 */
import { templateIdentity } from '../../shared/api/copy-identity.ts';
import type { DeepReadonly, Job, Pod } from '../../shared/api/kubernetes.ts';
import { ORIGIN_UID_ANNOTATION, POD_SELECTOR_ANNOTATION } from '../../shared/api/names.ts';
import type { WorkOfKind } from '../../shared/api/fenced-kinds.ts';
import { isOfKind, JOBS } from '../../shared/api/resources.ts';
import { controllerOf } from '../../shared/kube/controller-of.ts';
import type { IndexFunction, Lister } from '../../shared/kube/indexer.ts';
import { matchesLabelSelector, parseLabelSelector, SelectorSyntaxError } from '../../shared/kube/selectors.ts';
import { countedPods, resolveOwner, uncountedPods } from '../job/pod-cache.ts';
import { isTerminal } from '../job/pod-view.ts';
import { hasEnded } from './reported-ends.ts';
import type { WatchedCopy, WatchedKinds } from './watched-kinds.ts';

const OF_COPY = 'copy';
const withoutIdentity = (namespace: string): string => `in ${namespace}`;

/** Of pods that no Job controls; those of Jobs are found by their Job. A pod that nobody controls is no operator's. */
export const copyPodIndexers: Readonly<Record<string, IndexFunction<Pod>>> = {
  [OF_COPY](pod) {
    const owner = controllerOf(pod);
    if (isOfKind(JOBS, owner)) return [];
    const originUid = pod.metadata.annotations?.[ORIGIN_UID_ANNOTATION];
    return originUid !== undefined ? [originUid] : owner === undefined ? [] : [withoutIdentity(pod.metadata.namespace)];
  },
};

/** Of Jobs that an operator has made for a copy, as that of JobSet does. */
export const childJobIndexers: Readonly<Record<string, IndexFunction<Job>>> = {
  [OF_COPY]: (job) =>
    controllerOf(job) === undefined ? [] : [templateIdentity(job.spec)?.originUid ?? withoutIdentity(job.metadata.namespace)],
};

/** The Jobs that an operator has made for a copy, where they say whose they are. */
export const childJobsOf = (jobs: Lister<Job>, { metadata }: DeepReadonly<WorkOfKind>): readonly DeepReadonly<Job>[] =>
  jobs.byIndex(OF_COPY, metadata.annotations?.[ORIGIN_UID_ANNOTATION] ?? '');

/** Pods of a copy that have not ended. */
export const podsOfCopy = (pods: Lister<Pod>, jobs: Lister<Job>, copy: DeepReadonly<WorkOfKind>): readonly DeepReadonly<Pod>[] =>
  allPodsOf(pods, jobs, copy, uncountedPods).filter((pod) => !isTerminal(pod));

/**
 * Pods of a copy that have ended, or are told to stop. Those of other namespaces are left out: whoever may create pods there must not speak
 * for the copy.
 */
export const endedPodsOfCopy = (pods: Lister<Pod>, jobs: Lister<Job>, copy: DeepReadonly<WorkOfKind>): readonly DeepReadonly<Pod>[] =>
  allPodsOf(pods, jobs, copy, (all, job) => [...countedPods(all, job), ...uncountedPods(all, job)]).filter(
    (pod) => pod.metadata.namespace === copy.metadata.namespace && hasEnded(pod),
  );

function allPodsOf(
  pods: Lister<Pod>,
  jobs: Lister<Job>,
  { metadata }: DeepReadonly<WorkOfKind>,
  ofJob: typeof uncountedPods,
): readonly DeepReadonly<Pod>[] {
  const { namespace = '', annotations } = metadata;
  const of = (value: string): readonly DeepReadonly<Pod>[] => [
    ...pods.byIndex(OF_COPY, value),
    ...jobs.byIndex(OF_COPY, value).flatMap((job) => ofJob(pods, { ...job.metadata, namespace })),
  ];
  const isLabelled = labelledBy(annotations?.[POD_SELECTOR_ANNOTATION]);
  const unnamed = isLabelled === undefined ? [] : of(withoutIdentity(namespace)).filter(isLabelled);
  return [...of(annotations?.[ORIGIN_UID_ANNOTATION] ?? ''), ...unnamed];
}

/** The copies, of one namespace, that a pod is of: one, as long as nobody has made an object with the identity of another. */
export function copiesOfPod(
  pod: DeepReadonly<Pod>,
  jobs: Lister<Job>,
  kinds: Pick<WatchedKinds, 'ofOriginal' | 'inNamespace'>,
): readonly WatchedCopy[] {
  const { namespace } = pod.metadata;
  const of = copyOfPod(pod, jobs);
  if (of === undefined) return [];
  if (of !== 'unknown') return kinds.ofOriginal(of.originUid).filter(({ copy }) => copy.metadata.namespace === namespace);
  return kinds
    .inNamespace(namespace)
    .filter(({ copy }) => labelledBy(copy.metadata.annotations?.[POD_SELECTOR_ANNOTATION])?.(pod) === true);
}

/** The copy that a pod may be of: by the UID of its original; `unknown`: only its labels say; undefined: of none. */
export function copyOfPod(pod: DeepReadonly<Pod>, jobs: Lister<Job>): { readonly originUid: string } | 'unknown' | undefined {
  const owner = controllerOf(pod);
  const job = isOfKind(JOBS, owner) ? resolveOwner(jobs, pod.metadata.namespace, owner) : undefined;
  if (isOfKind(JOBS, owner) && (job === undefined || controllerOf(job) === undefined)) return undefined;
  const originUid = job === undefined ? pod.metadata.annotations?.[ORIGIN_UID_ANNOTATION] : templateIdentity(job.spec)?.originUid;
  if (originUid !== undefined) return { originUid };
  return owner === undefined ? undefined : 'unknown';
}

/** Whether a pod matches a label selector; undefined where there is none, or one that nobody can read. */
function labelledBy(selector: string | undefined): ((pod: DeepReadonly<Pod>) => boolean) | undefined {
  if (selector === undefined || selector === '') return undefined;
  try {
    const requirements = parseLabelSelector(selector);
    return ({ metadata }) => matchesLabelSelector(requirements, metadata.labels);
  } catch (error) {
    if (error instanceof SelectorSyntaxError) return undefined;
    throw error;
  }
}
