import type { JobProgress } from '../../api/job-progress.ts';
import { CANARY_STAGES, stageSeconds, type CanaryStage } from '../../canary/canary-stages.ts';
import type { Table } from '../text-table.ts';
import { formatDuration } from '../time-text.ts';

/** How the canary of one cluster went; `story` is undefined where it was not made, or not waited for until its end. */
export type CanaryResult = {
  readonly cluster: string;
  readonly outcome: string;
  readonly note: string;
  readonly story: JobProgress | undefined;
};

const HEADS: readonly (readonly [CanaryStage, string])[] = [
  ['queued', 'QUEUED'],
  ['admitted', 'SENT'],
  ['dispatched', 'STARTED'],
  ['started', 'RAN'],
  ['finished', 'IN ALL'],
];

export const canaryTable = (results: readonly CanaryResult[]): Table => ({
  heads: ['CLUSTER', 'OUTCOME', ...HEADS.map(([, head]) => head)],
  spare: ['RAN', 'SENT', 'QUEUED', 'STARTED'],
  rows: results.map(({ cluster, outcome, note, story }) => {
    const seconds = secondsOf(story);
    const times = HEADS.map(([stage]) => (seconds[stage] === undefined ? '-' : formatDuration(seconds[stage] * 1_000)));
    return { cells: [cluster, outcome, ...times], note };
  }),
});

/** Seconds by stage, as the metric of canaries has them. */
export const secondsOf = (story: JobProgress | undefined): Partial<Record<CanaryStage, number>> =>
  story === undefined ? {} : Object.fromEntries(stageSeconds(story).filter(([stage]) => CANARY_STAGES.includes(stage)));
