/** Counting a Job's pods: what runs, what has ended and is not counted yet, and which indexes are done (spec of syncJob, step 13). */
import { addIndexes, EMPTY_INDEXES, hasIndex, type IndexSet, parseIndexes } from './indexes.ts';
import type { JobView } from './job-view.ts';
import { matchPodFailurePolicy } from './pod-failure-policy.ts';
import { countedFailuresBefore, failuresBefore, finishTimeMs, type PodView } from './pod-view.ts';

export type Tally = {
  readonly active: readonly PodView[];
  readonly ready: number;
  /** Over all pods of the Job, tracked or not. */
  readonly terminating: readonly PodView[];
  /** Ended, tracked, and in no uncounted list yet. */
  readonly newSucceeded: readonly PodView[];
  readonly newFailed: readonly PodView[];
  /** Counted, uncounted and new ones together; for an Indexed Job the number of succeeded indexes. */
  readonly succeeded: number;
  readonly failed: number;
  /** Indexed Jobs only. */
  readonly indexes: IndexTally | undefined;
};

export type IndexTally = {
  /** Those the status lists, read against today's completions. */
  readonly previous: IndexSet;
  /** `previous` and the indexes of the succeeded pods that still have their finalizer. */
  readonly succeeded: IndexSet;
  /** Only with `backoffLimitPerIndex`. */
  readonly failed: IndexSet | undefined;
  /**
   * With `backoffLimitPerIndex`: of each failed index that waits for its replacement, the pod that tells the replacement
   * how often the index has failed. It keeps its finalizer, and stays uncounted, until the replacement exists.
   */
  readonly awaitingReplacement: ReadonlyMap<number, PodView>;
};

export function tallyPods(job: JobView, pods: readonly PodView[]): Tally {
  const { succeeded: uncountedSucceeded, failed: uncountedFailed } = job.status.uncountedTerminatedPods;
  const succeededUids = new Set(uncountedSucceeded);
  const failedUids = new Set(uncountedFailed);
  // UPSTREAM.md Q24: a pod that stands in either list is counted there, however it has ended since.
  const isNew = (pod: PodView): boolean => isToBeCounted(job, pod) && !succeededUids.has(pod.uid) && !failedUids.has(pod.uid);
  const newSucceeded = pods.filter((pod) => pod.succeeded && isNew(pod));
  const newFailed = pods.filter((pod) => pod.failed && isNew(pod));
  const active = pods.filter((pod) => pod.active);
  const indexes = job.indexed ? tallyIndexes(job, pods, active) : undefined;
  return {
    active,
    ready: active.filter((pod) => pod.ready).length,
    terminating: pods.filter((pod) => pod.terminating),
    newSucceeded,
    newFailed,
    succeeded: indexes?.succeeded.size ?? (job.status.succeeded ?? 0) + newSucceeded.length + succeededUids.size,
    failed: (job.status.failed ?? 0) + newFailed.filter((pod) => countsAsFailure(job, pod)).length + failedUids.size,
    indexes,
  };
}

/** The pod's index when the Job has it. */
export const validIndex = (job: JobView, pod: PodView): number | undefined =>
  pod.index !== undefined && pod.index < (job.completions ?? 0) ? pod.index : undefined;

const isToBeCounted = (job: JobView, pod: PodView): boolean => pod.tracked && (!job.indexed || validIndex(job, pod) !== undefined);

/** A failure that a policy rule ignores does not use up the backoff limit. */
const countsAsFailure = (job: JobView, pod: PodView): boolean => matchPodFailurePolicy(job.podFailurePolicy, pod.pod).counts;

function tallyIndexes(job: JobView, pods: readonly PodView[], active: readonly PodView[]): IndexTally {
  const completions = job.completions ?? 0;
  const previous = parseIndexes(job.status.completedIndexes, completions);
  // Neither the expectations nor the uncounted lists are asked here: a success counts once, by its index, whatever the
  // state of its pod's finalizer (upstream calculateSucceededIndexes).
  const succeededNow = indexesOf(job, pods, (pod) => pod.succeeded && pod.hasFinalizer);
  if (job.backoffLimitPerIndex === undefined) {
    return { previous, succeeded: addIndexes(previous, succeededNow), failed: undefined, awaitingReplacement: new Map() };
  }
  const limit = job.backoffLimitPerIndex;
  // UPSTREAM.md Q20: an index may have had two pods, one of which failed for good and one succeeded. What was said first
  // stays said; of two new ends the success counts.
  const previouslyFailed = parseIndexes(job.status.failedIndexes, completions);
  const succeeded = addIndexes(
    previous,
    succeededNow.filter((index) => !hasIndex(previouslyFailed, index)),
  );
  const failedNow = indexesOf(job, pods, (pod) => pod.hasFinalizer && hasFailedForGood(job, pod, limit));
  const failed = addIndexes(
    previouslyFailed,
    failedNow.filter((index) => !hasIndex(succeeded, index)),
  );
  return { previous, succeeded, failed, awaitingReplacement: findAwaitingReplacement(job, pods, active, succeeded, failed) };
}

const indexesOf = (job: JobView, pods: readonly PodView[], predicate: (pod: PodView) => boolean): number[] =>
  pods.filter(predicate).flatMap((pod) => validIndex(job, pod) ?? []);

/** Whether this pod's failure is its index's last: by a FailIndex rule, or because the limit is reached. */
function hasFailedForGood(job: JobView, pod: PodView, limit: number): boolean {
  if (!pod.failed) return false;
  const { action, counts } = matchPodFailurePolicy(job.podFailurePolicy, pod.pod);
  return action === 'FailIndex' || (counts && countedFailuresBefore(pod.pod) >= limit);
}

function findAwaitingReplacement(
  job: JobView,
  pods: readonly PodView[],
  active: readonly PodView[],
  succeeded: IndexSet,
  failed: IndexSet,
): ReadonlyMap<number, PodView> {
  const running = addIndexes(
    EMPTY_INDEXES,
    indexesOf(job, active, () => true),
  );
  const latest = new Map<number, PodView>();
  for (const pod of pods) {
    const index = validIndex(job, pod);
    if (!pod.failed || !pod.tracked || index === undefined) continue;
    if (hasIndex(succeeded, index) || hasIndex(failed, index) || hasIndex(running, index)) continue;
    const current = latest.get(index);
    if (current === undefined || isLaterFailure(pod, current)) latest.set(index, pod);
  }
  return latest;
}

const isLaterFailure = (candidate: PodView, current: PodView): boolean =>
  failuresBefore(current.pod) <= failuresBefore(candidate.pod) && finishTimeMs(candidate.pod) >= finishTimeMs(current.pod);
