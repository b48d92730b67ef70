/** Whether a Job is at its end, and why: the first rule that holds decides (syncJob, "end state", v1.36). */
import { findTrueCondition } from '../../shared/kube/conditions.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { JobView } from './job-view.ts';
import { matchPodFailurePolicy } from './pod-failure-policy.ts';
import type { PodView } from './pod-view.ts';
import { matchSuccessPolicy } from './success-policy.ts';
import type { Tally } from './tally.ts';

export const JobReason = {
  PodFailurePolicy: 'PodFailurePolicy',
  BackoffLimitExceeded: 'BackoffLimitExceeded',
  DeadlineExceeded: 'DeadlineExceeded',
  MaxFailedIndexesExceeded: 'MaxFailedIndexesExceeded',
  FailedIndexes: 'FailedIndexes',
  SuccessPolicy: 'SuccessPolicy',
  CompletionsReached: 'CompletionsReached',
} as const;

export type Verdict = {
  /** The terminal condition to come. Its interim condition is FailureTarget or SuccessCriteriaMet. */
  readonly outcome: 'Failed' | 'Complete';
  readonly reason: string;
  readonly message: string;
  /** The interim condition stands in the status already. */
  readonly recorded: boolean;
};

export type EndState = {
  readonly verdict: Verdict | undefined;
  /** When no end is near: how long until the deadline will have passed. */
  readonly deadlineInMs?: number;
};

/**
 * 1. An earlier SuccessCriteriaMet outranks everything found now: pods may have been deleted on the strength of it.
 * 2. So does an earlier FailureTarget, and an end that pods were deleted for and that is not written yet (UPSTREAM.md Q26).
 * 3. A pod that matches a FailJob rule.
 * 4. Too many failed pods, or restarts in place.
 * 5. The deadline.
 * 6. Too many failed indexes, or no index left that could succeed.
 * 7. The success policy.
 */
export function findEndState(
  job: JobView,
  pods: readonly PodView[],
  tally: Tally,
  startedMs: number | undefined,
  nowMs: number,
  endBegun?: Verdict,
): EndState {
  const earlierOrPolicy = findEarlier(job) ?? endBegun ?? findFailJob(job, pods); // 1, 2, 3
  if (earlierOrPolicy !== undefined) return { verdict: earlierOrPolicy };
  if (tally.failed > job.backoffLimit || hasRestartedTooOften(job, pods)) {
    return failure(JobReason.BackoffLimitExceeded, 'Job has reached the specified backoff limit'); // 4
  }
  const deadlineInMs = job.suspended || startedMs === undefined ? undefined : remainingDeadlineMs(job, startedMs, nowMs);
  if (deadlineInMs !== undefined && deadlineInMs <= 0) {
    return failure(JobReason.DeadlineExceeded, 'Job was active longer than specified deadline'); // 5
  }
  const verdict = findIndexVerdict(job, tally); // 6, 7
  return { verdict, ...omitUndefined({ deadlineInMs }) };
}

/** All completions are there and nothing runs. Terminating pods delay the terminal condition, not this verdict. */
export function findCompletion(job: JobView, succeeded: number, active: number): Verdict | undefined {
  if (active !== 0 || (job.completions === undefined ? succeeded === 0 : succeeded < job.completions)) return undefined;
  return {
    outcome: 'Complete',
    reason: JobReason.CompletionsReached,
    message: 'Reached expected number of succeeded pods',
    recorded: false,
  };
}

/** What an interim condition says; SuccessCriteriaMet is looked at first. */
function findEarlier(job: JobView): Verdict | undefined {
  const met = findTrueCondition(job.status.conditions, 'SuccessCriteriaMet');
  const failing = findTrueCondition(job.status.conditions, 'FailureTarget');
  const interim = met ?? failing;
  return (
    interim && {
      outcome: met === undefined ? 'Failed' : 'Complete',
      reason: interim.reason ?? '',
      message: interim.message ?? '',
      recorded: true,
    }
  );
}

/** All pods are asked, also those that are counted already: one deleted by a suspension may tell only now how it ended. */
function findFailJob(job: JobView, pods: readonly PodView[]): Verdict | undefined {
  if (job.podFailurePolicy === undefined) return undefined;
  for (const pod of pods) {
    if (!pod.failed) continue;
    const { message } = matchPodFailurePolicy(job.podFailurePolicy, pod.pod);
    if (message !== undefined) return failure(JobReason.PodFailurePolicy, message).verdict;
  }
  return undefined;
}

/** The limit on restarts is reached at the limit, the one on failed pods only above it: upstream's asymmetry, kept. */
function hasRestartedTooOften(job: JobView, pods: readonly PodView[]): boolean {
  if (!job.restartsInPlace) return false;
  let restarts = 0;
  for (const { phase, pod } of pods) {
    if (phase !== 'Running' && phase !== 'Pending') continue;
    for (const status of [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]) {
      restarts += status.restartCount ?? 0;
    }
  }
  return job.backoffLimit === 0 ? restarts > 0 : restarts >= job.backoffLimit;
}

const remainingDeadlineMs = (job: JobView, startedMs: number, nowMs: number): number | undefined =>
  job.activeDeadlineMs === undefined ? undefined : job.activeDeadlineMs - (nowMs - startedMs);

function findIndexVerdict(job: JobView, tally: Tally): Verdict | undefined {
  if (tally.indexes === undefined || job.completions === undefined) return undefined;
  const { succeeded, failed } = tally.indexes;
  if (failed !== undefined) {
    if (job.maxFailedIndexes !== undefined && failed.size > job.maxFailedIndexes) {
      return failure(JobReason.MaxFailedIndexesExceeded, 'Job has exceeded the specified maximal number of failed indexes').verdict;
    }
    if (failed.size > 0 && failed.size + succeeded.size >= job.completions) {
      return failure(JobReason.FailedIndexes, 'Job has failed indexes').verdict;
    }
  }
  const message = matchSuccessPolicy(job.successPolicy, job.completions, succeeded);
  return message === undefined ? undefined : { outcome: 'Complete', reason: JobReason.SuccessPolicy, message, recorded: false };
}

const failure = (reason: string, message: string): EndState & { readonly verdict: Verdict } => ({
  verdict: { outcome: 'Failed', reason, message, recorded: false },
});
