/**
 * What a sync of one Job should do, decided from one look at the Job and its pods. Nothing happens here.
 *
 * In upstream's order (syncJob, v1.36):
 *  1. count the pods                                    tally.ts
 *  2. the Job starts with its first sync not suspended
 *  3. the back-off after the pods that ended            backoff.ts
 *  4. is the Job at its end, and why                    verdict.ts
 *  5. at its end: delete what runs
 *     else, when no earlier request is in flight and the Job stays: scale    scale.ts
 * What becomes of it - counters, conditions - is decided by account.ts and settle.ts once the pods are created or deleted.
 */
import { type BackoffRecord, nextBackoff } from './backoff.ts';
import type { JobView } from './job-view.ts';
import { finishTimeMs, type PodView } from './pod-view.ts';
import { type PodPlan, scaleJob } from './scale.ts';
import { type Tally, tallyPods } from './tally.ts';
import { findEndState, type Verdict } from './verdict.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';

export type Observation = {
  readonly job: JobView;
  readonly pods: readonly PodView[];
  /** Every pod asked for or deleted earlier has been seen in the cache, so that the counts can be believed. */
  readonly satisfied: boolean;
  readonly backoff: BackoffRecord;
  /** The end that an earlier sync has deleted pods for, whether or not it could be written. */
  readonly endBegun?: Verdict | undefined;
};

export type Decision = {
  readonly tally: Tally;
  /** When the Job started, in milliseconds; undefined while it is suspended. */
  readonly startedMs: number | undefined;
  readonly verdict: Verdict | undefined;
  readonly plan: PodPlan;
  /** To be remembered once the status that counts these pods is written. */
  readonly backoff: BackoffRecord;
  /** Sync again then, for the deadline. */
  readonly deadlineInMs: number | undefined;
};

export function decide({ job, pods, satisfied, backoff: earlier, endBegun }: Observation, nowMs: number): Decision {
  const tally = tallyPods(job, pods); // 1
  const startedMs = parseWireTime(job.status.startTime) ?? (job.suspended ? undefined : nowMs); // 2
  const backoff = nextBackoff(earlier, tally.newSucceeded.map(endOf), tally.newFailed.map(endOf)); // 3
  const { verdict, deadlineInMs } = findEndState(job, pods, tally, startedMs, nowMs, endBegun); // 4
  const plan = planPods(); // 5
  return { tally, startedMs, verdict, plan, backoff, deadlineInMs };

  function planPods(): PodPlan {
    if (verdict !== undefined) return { kind: 'finish', pods: tally.active };
    // A fence does not wait for what was asked for earlier: what is there has to go now.
    if ((!satisfied && job.fence !== 'Fenced') || job.deleting) return { kind: 'leave' };
    return scaleJob(job, tally, backoff, nowMs);
  }
}

const endOf = ({ pod }: PodView): number => finishTimeMs(pod);
