import type { JobProgress } from '../api/job-progress.ts';

/**
 * The stages of a canary, in seconds. Queued: until its admission. Admitted: until its copy exists. Dispatched: until a pod is ready or has
 * ended. Started: until its end is known at home. Finished: all of it. Stages that were not observed are omitted.
 */
export const CANARY_STAGES = ['queued', 'admitted', 'dispatched', 'started', 'finished'] as const;
export type CanaryStage = (typeof CANARY_STAGES)[number];

export function stageSeconds(story: JobProgress): readonly (readonly [CanaryStage, number])[] {
  const { submittedMs, admittedMs, dispatchedMs, startedMs, finishedMs } = story;
  const parts: readonly (readonly [CanaryStage, number | undefined, number | undefined])[] = [
    ['queued', submittedMs, admittedMs],
    ['admitted', admittedMs, dispatchedMs],
    ['dispatched', dispatchedMs, startedMs],
    ['started', startedMs, finishedMs],
    ['finished', submittedMs, finishedMs],
  ];
  return parts.flatMap(([stage, fromMs, toMs]) =>
    fromMs === undefined || toMs === undefined ? [] : [[stage, Math.max(0, toMs - fromMs) / 1_000] as const],
  );
}
