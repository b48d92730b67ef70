import type { Container, DeepReadonly, PodSpec } from '../../shared/api/kubernetes.ts';
import { containerDefaults, type LimitRange } from './limit-range.ts';

/** What becomes of pods on their way through an API server beyond what their template says: by its LimitRanges and RuntimeClasses. */
export type PodAdjustments = {
  readonly limitRanges: (namespace: string) => readonly DeepReadonly<LimitRange>[];
  /** What pods of this RuntimeClass take up beyond what their containers ask for; undefined when there is no such class. */
  readonly overhead: (runtimeClass: string) => Readonly<Record<string, string>> | undefined;
};

export const AS_WRITTEN: PodAdjustments = { limitRanges: () => [], overhead: () => undefined };

/**
 * The pod that is made of a template in a namespace, as far as resources are concerned (upstream's plugins RuntimeClass and LimitRanger; Kueue's AdjustResources): containers that do not
 * say ask for what the LimitRanges say, and its RuntimeClass adds overhead. As upstream, who names a limit alone requests that much, whatever the default request:
 * so a pod never asks for less here than it does where it runs.
 */
export function adjustedPod(
  pod: DeepReadonly<PodSpec>,
  namespace: string,
  { limitRanges, overhead }: PodAdjustments,
): DeepReadonly<PodSpec> {
  const added = pod.runtimeClassName === undefined || pod.overhead !== undefined ? undefined : overhead(pod.runtimeClassName);
  const ranges = limitRanges(namespace);
  if (added === undefined && ranges.length === 0) return pod;
  const defaults = containerDefaults(ranges);
  const adjusted = (container: DeepReadonly<Container>): DeepReadonly<Container> => {
    const { limits, requests } = container.resources ?? {};
    const resources = {
      ...container.resources,
      limits: { ...defaults.limits, ...limits },
      requests: { ...defaults.requests, ...limits, ...requests },
    };
    return { ...container, resources };
  };
  return {
    ...pod,
    containers: (pod.containers ?? []).map(adjusted),
    ...(pod.initContainers === undefined ? {} : { initContainers: pod.initContainers.map(adjusted) }),
    ...(added === undefined ? {} : { overhead: added }),
  };
}
