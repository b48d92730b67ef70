/**
 * What manager and worker agree on about a pod fence: a sidecar in the pods of a copy that has the kubelet end their containers when the
 * pod is not renewed any more. The manager puts it into the template, the worker renews the pods by an annotation, and the sidecar sees
 * that by a volume of the downward API.
 */
import type { DeepReadonly, Pod } from './kubernetes.ts';

/** The sidecar, first among the init containers of the pod. */
export const POD_FENCE_CONTAINER = 'switchyard-pod-fence';

/** So long after the last renewal that it has seen the sidecar counts the pod as cut off. */
export const POD_FENCE_AFTER_SECONDS = 120;

/** Four renewals may go astray before a pod counts as cut off. */
export const POD_RENEWAL_SECONDS = 24;

/**
 * What the annotation says after a renewal: of which start of the sidecar the worker knew, from 0, and a word of its own. A sidecar that
 * has just started counts only what was written for this very start: a renewal from before may reach it late.
 */
export const podRenewal = (sidecarStart: number, word: string): string => `${sidecarStart}/${word}`;

/**
 * The same sidecar's exit code where it had seen no renewal for too long when the pod ended (EX_TEMPFAIL): such a failure is not the Job's.
 */
export const POD_FENCE_EXIT_CODE = 75;

/** How often the sidecar of this pod was started before, while it runs; undefined: it does not run, or there is none. */
export function runningPodFence({ status }: DeepReadonly<Pick<Pod, 'status'>>): number | undefined {
  const sidecar = status?.initContainerStatuses?.find(({ name }) => name === POD_FENCE_CONTAINER);
  return sidecar?.state?.running === undefined ? undefined : sidecar.restartCount;
}

export const hasPodFence = ({ spec }: DeepReadonly<Pick<Pod, 'spec'>>): boolean =>
  spec.initContainers?.some(({ name }) => name === POD_FENCE_CONTAINER) ?? false;
