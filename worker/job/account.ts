/**
 * The ledger of one sync: which pods are counted now, what must stand in the status before their finalizers may go,
 * and which finalizers go (trackJobStatusAndRemoveFinalizers, v1.36, up to its first write).
 *
 * Crash safety rests on the order: a UID is written to `uncountedTerminatedPods` before the finalizer is removed, and
 * leaves the list in the same write that raises the counter. An Indexed Job's successes rely on `completedIndexes` instead.
 */
import type { DeepReadonly, JobCondition, JobStatus } from '../../shared/api/kubernetes.ts';
import type { Decision, Observation } from './decide.ts';
import { fenceCondition, isCutShort } from './fenced-job.ts';
import { addIndexes, formatIndexes, hasIndex } from './indexes.ts';
import { ensureCondition, newCondition } from './job-conditions.ts';
import type { JobView } from './job-view.ts';
import { matchPodFailurePolicy, type PolicyAction } from './pod-failure-policy.ts';
import type { PodView } from './pod-view.ts';
import type { PodPlan } from './scale.ts';
import { validIndex } from './tally.ts';
import { findCompletion, type Verdict } from './verdict.ts';
import { toWireTime } from '../../shared/api/wire-time.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';

/** Bound on the uncounted lists, because a status must stay small: a UID is 36 bytes, so 500 are about 20 KB. */
export const MAX_UNCOUNTED_PODS = 500;

/** What carrying out the plan came to. */
export type PodsOutcome = {
  /** A creation was refused because the namespace is being deleted: nothing will ever be created there again. */
  readonly namespaceTerminating?: boolean;
  /** Pods to report as active. */
  readonly active: number;
  /** Successful deletions: they are terminating from now on. */
  readonly deleted: number;
  /** A pod was deleted, or may have been, as no answer came. */
  readonly mayHaveDeleted: boolean;
  readonly deletedReady: number;
};

export type Ledger = {
  /** The status to write now when `flush` is set, and to start from in any case. */
  readonly status: DeepReadonly<JobStatus>;
  readonly flush: boolean;
  /** Pods that lose their finalizer once the status is written. */
  readonly removals: readonly PodView[];
  /** UIDs that keep their place in the uncounted lists as long as they are in here. */
  readonly tracked: ReadonlySet<string>;
  /** More pods are to be counted than one status may carry: the Job cannot be finished in this sync. */
  readonly capped: boolean;
  readonly verdict: Verdict | undefined;
  /** Rule actions that newly counted pods matched. */
  readonly policyActions: readonly PolicyAction[];
  /** The Suspended condition changed to this. */
  readonly suspension: 'Suspended' | 'Resumed' | undefined;
  /** The Fenced condition changed to this. */
  readonly fencing: 'Fenced' | 'FenceLifted' | undefined;
  /** The API server would refuse this status: nothing may be written or removed until the situation has passed. */
  readonly held: boolean;
};

export function account(observation: Observation, decision: Decision, outcome: PodsOutcome, nowMs: number): Ledger {
  const { job, pods } = observation;
  const verdict = verdictAfter(observation, decision, outcome);
  const suspension = suspendOrResume(job, decision, verdict, nowMs);
  const fencing = fenceOrLift(job, decision, outcome, verdict, suspension.conditions, nowMs);
  const tracked = new Set(pods.filter((pod) => pod.tracked).map((pod) => pod.uid));
  const left = countLeftovers(job, tracked);
  const entries = collect(job, pods, decision, outcome, verdict, left);
  const indexed = indexStatus(decision, entries.newIndexes);
  const interim = interimCondition(verdict ?? endBegun(decision, outcome), nowMs);
  const reported = {
    active: outcome.active,
    ready: decision.tally.ready - outcome.deletedReady,
    terminating: decision.tally.terminating.length + outcome.deleted,
  };
  const { startTime: _start, failedIndexes: storedFailedIndexes, ...stored } = job.status;
  const status: DeepReadonly<JobStatus> = {
    ...stored,
    ...(job.indexed || storedFailedIndexes === undefined ? {} : { failedIndexes: storedFailedIndexes }),
    ...reported,
    ...left.counters,
    ...indexed,
    ...omitUndefined({ startTime: suspension.startTime }),
    uncountedTerminatedPods: { succeeded: entries.succeeded, failed: entries.failed },
    conditions: interim === undefined ? fencing.conditions : [...fencing.conditions, interim],
  };
  const flush =
    suspension.event !== undefined ||
    fencing.event !== undefined ||
    interim !== undefined ||
    left.changed ||
    entries.changed ||
    reported.active !== (job.status.active ?? 0) ||
    reported.ready !== job.status.ready ||
    reported.terminating !== job.status.terminating ||
    (status.completedIndexes ?? '') !== (job.status.completedIndexes ?? '') ||
    status.failedIndexes !== storedFailedIndexes;
  return {
    status,
    flush,
    removals: entries.removals,
    tracked,
    capped: entries.capped,
    verdict,
    policyActions: entries.policyActions,
    suspension: suspension.event,
    fencing: fencing.event,
    // UPSTREAM.md Q4: the back-off reports no active pods, and with a ready one among them the write is invalid. Upstream
    // tries it again and again until the back-off ends; we wait for the end.
    held: reported.ready > reported.active,
  };
}

/** An end condition holds only when every active pod was deleted and none can be missing from the cache. */
function verdictAfter({ job, satisfied }: Observation, { verdict, tally }: Decision, outcome: PodsOutcome): Verdict | undefined {
  if (verdict === undefined) return isCutShort(job, tally.active.length) ? undefined : findCompletion(job, tally.succeeded, outcome.active);
  return satisfied && outcome.deleted === tally.active.length ? verdict : undefined;
}

/**
 * UPSTREAM.md Q26: an end that pods may have been deleted for is said at once, even when it does not hold yet. Else these pods, which go
 * for no fault of theirs, would be failures to the next sync, and might bring the Job to another end.
 */
const endBegun = ({ verdict }: Decision, { mayHaveDeleted }: PodsOutcome): Verdict | undefined => (mayHaveDeleted ? verdict : undefined);

type Suspension = {
  readonly event: 'Suspended' | 'Resumed' | undefined;
  readonly conditions: readonly DeepReadonly<JobCondition>[];
  readonly startTime: string | undefined;
};

/** The Suspended condition follows the spec only in a sync that could act on it. */
function suspendOrResume(job: JobView, { plan, startedMs }: Decision, verdict: Verdict | undefined, nowMs: number): Suspension {
  const startTime = job.status.startTime ?? (startedMs === undefined ? undefined : toWireTime(startedMs));
  const unchanged: Suspension = { event: undefined, conditions: job.status.conditions, startTime };
  if (!couldAct(plan, verdict)) return unchanged;
  const text = job.suspended
    ? ({ type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' } as const)
    : ({ type: 'Suspended', status: 'False', reason: 'JobResumed', message: 'Job resumed' } as const);
  const { conditions, changed } = ensureCondition(job.status.conditions, text, nowMs);
  if (!changed) return unchanged;
  // Since v1.36 a suspension clears startTime, which opens the template to scheduling directives.
  return job.suspended
    ? { event: 'Suspended', conditions, startTime: undefined }
    : { event: 'Resumed', conditions, startTime: toWireTime(nowMs) };
}

function fenceOrLift(
  job: JobView,
  { plan }: Decision,
  { active }: PodsOutcome,
  verdict: Verdict | undefined,
  conditions: readonly DeepReadonly<JobCondition>[],
  nowMs: number,
): ReturnType<typeof fenceCondition> {
  return couldAct(plan, verdict) ? fenceCondition(job, conditions, active, nowMs) : { conditions, event: undefined };
}

/** Pods were not left alone, and the Job is not at its end. */
const couldAct = ({ kind }: PodPlan, verdict: Verdict | undefined): boolean =>
  kind !== 'leave' && kind !== 'finish' && verdict === undefined;

type Leftovers = {
  readonly succeeded: readonly string[];
  readonly failed: readonly string[];
  readonly counters: { readonly succeeded: number; readonly failed: number };
  readonly changed: boolean;
};

/** UIDs listed by an earlier sync whose pods have lost their finalizer, or are gone: they are counted now. */
function countLeftovers(job: JobView, tracked: ReadonlySet<string>): Leftovers {
  const { succeeded, failed } = job.status.uncountedTerminatedPods;
  return countUntracked(succeeded, failed, { succeeded: job.status.succeeded ?? 0, failed: job.status.failed ?? 0 }, tracked);
}

/** Moves every UID that is not tracked from its list to its counter. */
export function countUntracked(
  succeeded: readonly string[],
  failed: readonly string[],
  counters: { readonly succeeded: number; readonly failed: number },
  tracked: ReadonlySet<string>,
): Leftovers {
  const keptSucceeded = succeeded.filter((uid) => tracked.has(uid));
  const keptFailed = failed.filter((uid) => tracked.has(uid));
  return {
    succeeded: keptSucceeded,
    failed: keptFailed,
    counters: {
      succeeded: counters.succeeded + succeeded.length - keptSucceeded.length,
      failed: counters.failed + failed.length - keptFailed.length,
    },
    changed: keptSucceeded.length < succeeded.length || keptFailed.length < failed.length,
  };
}

type Entries = {
  readonly succeeded: readonly string[];
  readonly failed: readonly string[];
  readonly newIndexes: readonly number[];
  readonly removals: readonly PodView[];
  readonly policyActions: readonly PolicyAction[];
  readonly capped: boolean;
  readonly changed: boolean;
};

function collect(
  job: JobView,
  pods: readonly PodView[],
  decision: Decision,
  outcome: PodsOutcome,
  verdict: Verdict | undefined,
  left: Leftovers,
): Entries {
  const listed = {
    succeeded: new Set(job.status.uncountedTerminatedPods.succeeded),
    failed: new Set(job.status.uncountedTerminatedPods.failed),
  };
  const succeeded = [...left.succeeded];
  const failed = [...left.failed];
  const newIndexes: number[] = [];
  const removals: PodView[] = [];
  const policyActions: PolicyAction[] = [];
  const removable = pods.filter((pod) => pod.tracked && isRemovable(job, pod, decision, outcome, verdict));
  if (job.indexed) removable.sort((a, b) => (a.index ?? -1) - (b.index ?? -1));
  for (const pod of removable) {
    removals.push(pod);
    enter(pod);
    if (newIndexes.length + succeeded.length + failed.length >= MAX_UNCOUNTED_PODS) return entries(true);
  }
  return entries(false);

  function enter(pod: PodView): void {
    const index = validIndex(job, pod);
    if (pod.succeeded && !listed.failed.has(pod.uid)) {
      if (!job.indexed) {
        if (!listed.succeeded.has(pod.uid)) succeeded.push(pod.uid);
      } else if (index !== undefined && isNewlySucceeded(index)) newIndexes.push(index);
    } else if (pod.failed || verdict?.outcome === 'Failed') {
      // A failing Job counts every remaining pod as failed, the running and terminating ones included.
      if (listed.failed.has(pod.uid) || (job.indexed && index === undefined)) return;
      const { action, counts } = matchPodFailurePolicy(job.podFailurePolicy, pod.pod);
      if (action !== undefined) policyActions.push(action);
      if (counts) failed.push(pod.uid);
    }
  }
  /** An index that failed for good before stays failed, whatever a second pod of it came to. */
  function isNewlySucceeded(index: number): boolean {
    const { indexes } = decision.tally;
    return indexes !== undefined && hasIndex(indexes.succeeded, index) && !hasIndex(indexes.previous, index);
  }
  function entries(capped: boolean): Entries {
    const changed = newIndexes.length > 0 || succeeded.length > left.succeeded.length || failed.length > left.failed.length;
    return { succeeded, failed, newIndexes, removals, policyActions, capped, changed };
  }
}

function isRemovable(
  job: JobView,
  pod: PodView,
  { tally }: Decision,
  { namespaceTerminating = false }: PodsOutcome,
  verdict: Verdict | undefined,
): boolean {
  if (job.deleting || verdict !== undefined || pod.succeeded) return true;
  if (!pod.failed) return false;
  // UPSTREAM.md Q21: what waits for a replacement that cannot come would keep the namespace from going.
  return namespaceTerminating || pod.index === undefined || tally.indexes?.awaitingReplacement.get(pod.index)?.uid !== pod.uid;
}

type IndexStatus = { readonly succeeded?: number; readonly completedIndexes?: string; readonly failedIndexes?: string };

function indexStatus({ tally }: Decision, newIndexes: readonly number[]): IndexStatus {
  if (tally.indexes === undefined) return {};
  const succeeded = addIndexes(tally.indexes.succeeded, newIndexes);
  return {
    succeeded: succeeded.size,
    completedIndexes: formatIndexes(succeeded),
    ...(tally.indexes.failed === undefined ? {} : { failedIndexes: formatIndexes(tally.indexes.failed) }),
  };
}

/** The condition that goes ahead of the terminal one, which itself waits for the counting and for terminating pods. */
function interimCondition(verdict: Verdict | undefined, nowMs: number): JobCondition | undefined {
  if (verdict === undefined || verdict.recorded) return undefined;
  const type = verdict.outcome === 'Failed' ? 'FailureTarget' : 'SuccessCriteriaMet';
  return newCondition({ type, status: 'True', reason: verdict.reason, message: verdict.message }, nowMs);
}
