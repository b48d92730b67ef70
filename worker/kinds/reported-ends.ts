/** How pods of copies of kinds beside Jobs have ended, and which of these ends a copy tells already. */
import type { EndedPod } from '../../shared/api/ended-pods.ts';
import type { DeepReadonly, Pod } from '../../shared/api/kubernetes.ts';
import { endedPodOf } from '../logs/ended-pod.ts';
import { deletionStartMs, finishTimeMs, isDeleting, isTerminal, type PodView, viewPod } from '../job/pod-view.ts';

/** It runs no longer, or is told to stop: as the Job controller, nobody waits for its end then. */
export const hasEnded = (pod: DeepReadonly<Pod>): boolean => isTerminal(pod) || isDeleting(pod);

/**
 * A pod that its operator stops is no failed one, whatever it exits with: of one that had failed before, the containers had ended before
 * its deletion was asked for.
 */
export function viewEnd(pod: DeepReadonly<Pod>): PodView {
  const view = viewPod(pod, { onlyReplaceFailed: false });
  const requestedMs = deletionStartMs(pod);
  const isStopped =
    view.phase !== 'Succeeded' && requestedMs !== undefined && !(view.phase === 'Failed' && finishTimeMs(pod) < requestedMs);
  return isStopped ? { ...view, phase: 'Running' } : view;
}

/** An earlier worker has told this end: a pod that an operator starts again under its name ends at another time. */
export function isReported(told: readonly EndedPod[], view: PodView): boolean {
  const { pod, phase, ended } = endedPodOf(view, undefined);
  return told.some((each) => each.pod === pod && each.phase === phase && each.ended === ended);
}
