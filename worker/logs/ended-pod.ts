import type { EndedPod } from '../../shared/api/ended-pods.ts';
import { formatEndedPods, parseEndedPods } from '../../shared/api/ended-pods.ts';
import type { ContainerStatus, DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { ENDED_PODS_ANNOTATION } from '../../shared/api/names.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { PodView } from '../job/pod-view.ts';
import { isCopy } from './keep-rule.ts';

/** What is known of the log of a pod. */
export type TailSeen = { readonly lastLine: string | undefined; readonly kept: boolean };

/** What a pod ended with, as far as its status tells. */
export function endedPodOf({ pod, index, phase }: PodView, tail: TailSeen | undefined): EndedPod {
  const container = tellingContainer(pod);
  const ended = container?.state?.terminated ?? undefined;
  return {
    pod: pod.metadata.name,
    phase: phase === 'Succeeded' || phase === 'Failed' ? phase : 'Stopped',
    ...omitUndefined({
      index,
      container: container?.name,
      exitCode: ended?.exitCode,
      reason: pod.status?.reason ?? ended?.reason ?? undefined,
      message: ended?.message ?? undefined,
      node: pod.spec.nodeName ?? undefined,
      started: ended?.startedAt ?? undefined,
      ended: ended?.finishedAt ?? undefined,
      lastLine: tail?.lastLine,
      tail: tail?.kept === true ? true : undefined,
    }),
  };
}

/** The first container that failed, those that come before the others included; else the first. */
export function tellingContainer({ status }: PodView['pod']): DeepReadonly<ContainerStatus> | undefined {
  const containers = status?.containerStatuses ?? [];
  const failed = [...(status?.initContainerStatuses ?? []), ...containers].find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
  return failed ?? containers[0];
}

/** The copy with what these pods ended with, to be written with its status; any other Job as it is. */
export function withEndedPods(
  job: DeepReadonly<Job>,
  pods: readonly PodView[],
  tailOf: (pod: PodView) => TailSeen | undefined,
): DeepReadonly<Job> {
  if (pods.length === 0 || !isCopy(job)) return job;
  const before = parseEndedPods(job.metadata.annotations?.[ENDED_PODS_ANNOTATION]);
  const text = formatEndedPods(
    before,
    pods.map((pod) => endedPodOf(pod, tailOf(pod))),
  );
  const annotations = { ...job.metadata.annotations, [ENDED_PODS_ANNOTATION]: text };
  return { ...job, metadata: { ...job.metadata, annotations } };
}
