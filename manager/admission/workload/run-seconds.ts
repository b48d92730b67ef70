import type { DeepReadonly, WorkStatus } from '../../../shared/api/kubernetes.ts';
import { finishedCondition } from '../../../shared/kube/conditions.ts';
import type { Progress } from '../../work-kind/work-kind.ts';

/** Seconds from the last start of an ended Job to its end; undefined if it never started or has not ended. */
export function runSeconds(
  { startTime, completionTime }: Pick<Progress, 'startTime' | 'completionTime'>,
  status: DeepReadonly<WorkStatus> | undefined,
): number | undefined {
  const ended = completionTime ?? finishedCondition(status)?.lastTransitionTime;
  if (startTime === undefined || ended === undefined) return undefined;
  const seconds = (Date.parse(ended) - Date.parse(startTime)) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
