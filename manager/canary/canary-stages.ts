import type { JobProgress } from '../api/job-progress.ts';

/**
 * How long a canary took on each part of its way, in seconds. Queued: until it was admitted. Admitted: until its copy was there. Dispatched: until a pod was ready or had ended. Started: until
 * its end was told at home. Finished: all of it. Parts that were not seen are left out.
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
