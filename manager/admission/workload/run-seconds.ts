import type { DeepReadonly, JobStatus } from '../../../shared/api/kubernetes.ts';
import { finishedCondition } from '../../../shared/kube/conditions.ts';

/** Seconds from the last start of an ended Job to its end; undefined if it never started or has not ended. */
export function runSeconds(status: DeepReadonly<JobStatus> | undefined): number | undefined {
  const ended = status?.completionTime ?? finishedCondition(status)?.lastTransitionTime;
  if (status?.startTime === undefined || ended === undefined) return undefined;
  const seconds = (Date.parse(ended) - Date.parse(status.startTime)) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
