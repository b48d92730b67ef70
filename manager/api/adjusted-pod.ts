import type { Container, DeepReadonly, PodSpec } from '../../shared/api/kubernetes.ts';
import { containerDefaults, type LimitRange } from './limit-range.ts';

/** The parts of pods that an API server adds to their template, by LimitRanges and RuntimeClasses. */
export type PodAdjustments = {
  readonly limitRanges: (namespace: string) => readonly DeepReadonly<LimitRange>[];
  /** The overhead of pods of this RuntimeClass; undefined when there is no such class. */
  readonly overhead: (runtimeClass: string) => Readonly<Record<string, string>> | undefined;
};

export const AS_WRITTEN: PodAdjustments = { limitRanges: () => [], overhead: () => undefined };

/**
 * The pod that an API server creates from a template in a namespace, as far as resources go (upstream's plugins RuntimeClass and
 * LimitRanger; Kueue's AdjustResources). Containers without requests get the defaults of the LimitRanges, and the RuntimeClass adds
 * overhead. As upstream, a limit without a request counts as the request, whatever the default request. The result thus never requests less
 * than the pod does on its cluster.
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
