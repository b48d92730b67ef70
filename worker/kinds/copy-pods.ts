/** The pods of copies of kinds beside Jobs, by the UID of their original, as the environment of their containers says it. */
import { templateIdentity } from '../../shared/api/copy-identity.ts';
import type { DeepReadonly, Job, Pod } from '../../shared/api/kubernetes.ts';
import { ORIGIN_UID_ANNOTATION } from '../../shared/api/names.ts';
import { controllerOf } from '../../shared/kube/controller-of.ts';
import type { IndexFunction, Lister } from '../../shared/kube/indexer.ts';
import { resolveOwner, uncountedPods } from '../job/pod-cache.ts';
import { isTerminal } from '../job/pod-view.ts';

const OF_COPY = 'copy';

/** Of pods that no Job controls; those of Jobs are found by their Job. */
export const copyPodIndexers: Readonly<Record<string, IndexFunction<Pod>>> = {
  [OF_COPY]: ({ metadata }) => some(metadata.annotations?.[ORIGIN_UID_ANNOTATION]),
};

/** Of Jobs that an operator has made for a copy, as that of JobSet does. */
export const childJobIndexers: Readonly<Record<string, IndexFunction<Job>>> = {
  [OF_COPY]: (job) => some(controllerOf(job) === undefined ? undefined : templateIdentity(job.spec)?.originUid),
};

/** Those that have not ended. */
export const podsOfCopy = (pods: Lister<Pod>, jobs: Lister<Job>, originUid: string): readonly DeepReadonly<Pod>[] =>
  [
    ...pods.byIndex(OF_COPY, originUid),
    ...jobs.byIndex(OF_COPY, originUid).flatMap(({ metadata: { namespace, name, uid } }) => uncountedPods(pods, { namespace, name, uid })),
  ].filter((pod) => !isTerminal(pod));

/** undefined: it is no pod of such a copy. */
export function originUidOfPod(pod: DeepReadonly<Pod>, jobs: Lister<Job>): string | undefined {
  const owner = controllerOf(pod);
  if (owner?.kind !== 'Job') return pod.metadata.annotations?.[ORIGIN_UID_ANNOTATION];
  const job = resolveOwner(jobs, pod.metadata.namespace, owner);
  return job === undefined || controllerOf(job) === undefined ? undefined : templateIdentity(job.spec)?.originUid;
}

const some = (value: string | undefined): string[] => (value === undefined ? [] : [value]);
