/** How many pods a running Job should have, and what is to be done about it (upstream manageJob). */
import { type BackoffRecord, remainingBackoffMs } from './backoff.ts';
import { addIndexes, EMPTY_INDEXES, firstFreeIndexes, uniteIndexes } from './indexes.ts';
import { wasFenced } from './fenced-job.ts';
import type { JobView } from './job-view.ts';
import { matchPodFailurePolicy } from './pod-failure-policy.ts';
import { countedFailuresBefore, failuresBefore, finishTimeMs, ignoredFailuresBefore, type PodView } from './pod-view.ts';
import { choosePodsToRemove } from './removal-order.ts';
import { type Tally, validIndex } from './tally.ts';

/** Most pods created, or deleted as too many, in one sync. */
export const MAX_PODS_PER_SYNC = 500;

export type CreationReason = 'new' | 'recreate_terminating_or_failed' | 'recreate_failed';

export type PodPlan =
  /** The pods may not be touched now. */
  | { readonly kind: 'leave' }
  /** The Job is at its end: its active pods are deleted and keep their finalizer, because they are still to be counted. */
  | { readonly kind: 'finish'; readonly pods: readonly PodView[] }
  /** Too many, suspended, or fenced: the pods lose their finalizer and are deleted, and are never counted. */
  | { readonly kind: 'remove'; readonly pods: readonly PodView[] }
  /** As many as there should be. */
  | { readonly kind: 'keep' }
  /** Pods are missing, and none may be created in this namespace. */
  | { readonly kind: 'deny' }
  /** Pods are missing, but the back-off is not over. */
  | { readonly kind: 'wait'; readonly forMs: number }
  | { readonly kind: 'create'; readonly slots: readonly PodSlot[]; readonly reason: CreationReason };

/** The plan does as much as one sync may. */
export const isCapped = (plan: PodPlan): boolean =>
  (plan.kind === 'create' && plan.slots.length >= MAX_PODS_PER_SYNC) || (plan.kind === 'remove' && plan.pods.length >= MAX_PODS_PER_SYNC);

/** A pod to be created. */
export type PodSlot = {
  readonly index?: number;
  /** With `backoffLimitPerIndex`: how often the index has failed, and how often that was ignored. */
  readonly failures?: { readonly counted: number; readonly ignored: number };
};

/**
 * 1. Suspended, or fenced: everything goes. Held by its fence: nothing changes.
 * 2. Too many, or duplicates: remove. Deletion and creation never happen in one sync.
 * 3. Enough, the terminating ones included where those are not replaced: keep.
 * 4. Too few: wait for the back-off, or create; in a namespace that is denied, neither.
 */
export function scaleJob(job: JobView, tally: Tally, backoff: BackoffRecord, nowMs: number): PodPlan {
  const active = tally.active.length;
  if (job.suspended || job.fence === 'Fenced') return { kind: 'remove', pods: tally.active }; // 1
  if (job.fence === 'Hold') return { kind: 'keep' }; // 1
  const wanted = wantedActive(job, tally);
  const surplus = choosePodsToRemove(job, tally.active, Math.max(0, active - wanted));
  if (surplus.length > 0) return { kind: 'remove', pods: surplus.slice(0, MAX_PODS_PER_SYNC) }; // 2
  const missing = wanted - active - (job.replacesFailedOnly ? tally.terminating.length : 0);
  if (missing <= 0) return { kind: 'keep' }; // 3
  if (job.denied) return { kind: 'deny' }; // 4
  const reason = creationReason(job, tally);
  const count = Math.min(missing, MAX_PODS_PER_SYNC);
  if (job.backoffLimitPerIndex !== undefined) return planPerIndex(job, tally, count, reason, nowMs); // 4
  const forMs = remainingBackoffMs(backoff.failuresAfterLastSuccess, backoff.lastFailureMs ?? nowMs, nowMs);
  if (forMs > 0) return { kind: 'wait', forMs }; // 4
  const slots = job.indexed ? pendingIndexes(job, tally, count).map((index) => ({ index })) : Array.from({ length: count }, () => ({}));
  return { kind: 'create', slots, reason }; // 4
}

function wantedActive(job: JobView, tally: Tally): number {
  // A work queue: once a pod has succeeded there is no more work to start, only work to finish.
  if (job.completions === undefined && tally.succeeded > 0) return wasFenced(job) ? cutShort(job, tally) : tally.active.length;
  if (job.completions === undefined) return job.parallelism;
  return Math.max(0, Math.min(job.parallelism, job.completions - tally.succeeded));
}

/** What its fence has cut short is to be finished: by no more pods than there can have been, whose quota it may have had no more than. */
const cutShort = ({ parallelism }: JobView, { succeeded }: Tally): number => Math.min(parallelism, Math.max(1, parallelism - succeeded));

function creationReason(job: JobView, tally: Tally): CreationReason {
  if (job.replacementPolicyFailed && tally.failed > 0) return 'recreate_failed';
  return tally.failed > 0 || tally.terminating.length > 0 ? 'recreate_terminating_or_failed' : 'new';
}

/** The lowest indexes that neither succeeded, nor failed for good, nor have a pod. */
function pendingIndexes(job: JobView, tally: Tally, count: number): number[] {
  const occupied = [...tally.active, ...(job.replacesFailedOnly ? tally.terminating : [])].flatMap((pod) => validIndex(job, pod) ?? []);
  const taken = uniteIndexes(
    tally.indexes?.succeeded ?? EMPTY_INDEXES,
    tally.indexes?.failed ?? EMPTY_INDEXES,
    addIndexes(EMPTY_INDEXES, occupied),
  );
  return firstFreeIndexes(taken, count, job.completions ?? 0);
}

/** Each index has its own back-off. Only the `count` lowest pending ones are looked at, as upstream does. */
function planPerIndex(job: JobView, tally: Tally, count: number, reason: CreationReason, nowMs: number): PodPlan {
  const replaced = tally.indexes?.awaitingReplacement;
  const slots: PodSlot[] = [];
  let forMs = Number.POSITIVE_INFINITY;
  for (const index of pendingIndexes(job, tally, count)) {
    const pod = replaced?.get(index);
    const remainingMs = pod === undefined ? 0 : remainingBackoffMs(failuresBefore(pod.pod) + 1, finishTimeMs(pod.pod), nowMs);
    if (remainingMs > 0) forMs = Math.min(forMs, remainingMs);
    else slots.push({ index, failures: failuresOf(job, pod) });
  }
  return slots.length === 0 && Number.isFinite(forMs) ? { kind: 'wait', forMs } : { kind: 'create', slots, reason };
}

function failuresOf(job: JobView, replaced: PodView | undefined): { counted: number; ignored: number } {
  if (replaced === undefined) return { counted: 0, ignored: 0 };
  const { counts } = matchPodFailurePolicy(job.podFailurePolicy, replaced.pod);
  return {
    counted: countedFailuresBefore(replaced.pod) + (counts ? 1 : 0),
    ignored: ignoredFailuresBefore(replaced.pod) + (counts ? 0 : 1),
  };
}
