/**
 * What stands in the status once the finalizers are gone: counters raised, and the terminal condition when nothing is
 * left to count or to stop (trackJobStatusAndRemoveFinalizers, v1.36, after its first write).
 */
import type { DeepReadonly, JobCondition, JobStatus } from '../../shared/api/kubernetes.ts';
import { countUntracked, type Ledger } from './account.ts';
import { ensureCondition, newCondition } from './job-conditions.ts';
import type { JobView } from './job-view.ts';

export type Settlement = {
  readonly status: DeepReadonly<JobStatus>;
  /** The status must be written. */
  readonly changed: boolean;
  /** Set when this write finishes the Job. */
  readonly finished: DeepReadonly<JobCondition> | undefined;
};

/**
 * `removed` are the pods that have lost their finalizer. When one of the ledger's has not, the others are
 * counted all the same, and the Job stays open.
 */
export function settle(job: JobView, ledger: Ledger, removed: ReadonlySet<string>, nowMs: number): Settlement {
  const counted = countRemoved(ledger, removed);
  const complete = ledger.removals.every(({ uid }) => removed.has(uid));
  const finished = complete && canFinish(job, ledger, counted.status) ? terminalCondition(ledger, nowMs) : undefined;
  if (finished === undefined) return { ...counted, finished };
  const { conditions } = ensureCondition(counted.status.conditions ?? [], finished, nowMs);
  return {
    status: {
      ...counted.status,
      conditions,
      ...(finished.type === 'Complete' ? completion(counted.status.startTime, finished.lastTransitionTime) : {}),
    },
    changed: true,
    finished,
  };
}

/** UPSTREAM.md Q29: a clock that was set back since the Job began must not have it end before that, which the API server refuses. */
function completion(startTime: string | undefined, now: string | undefined): Pick<JobStatus, 'completionTime'> {
  if (now === undefined) return {};
  const isEarlier = startTime !== undefined && Date.parse(now) < Date.parse(startTime);
  return { completionTime: isEarlier ? startTime : now };
}

function countRemoved(ledger: Ledger, removed: ReadonlySet<string>): { status: DeepReadonly<JobStatus>; changed: boolean } {
  const { status } = ledger;
  const tracked = new Set([...ledger.tracked].filter((uid) => !removed.has(uid)));
  const { succeeded, failed, counters, changed } = countUntracked(
    status.uncountedTerminatedPods?.succeeded ?? [],
    status.uncountedTerminatedPods?.failed ?? [],
    { succeeded: status.succeeded ?? 0, failed: status.failed ?? 0 },
    tracked,
  );
  return changed ? { status: { ...status, ...counters, uncountedTerminatedPods: { succeeded, failed } }, changed } : { status, changed };
}

function canFinish(job: JobView, ledger: Ledger, status: DeepReadonly<JobStatus>): boolean {
  if (ledger.verdict === undefined || ledger.capped || (status.terminating ?? 0) > 0) return false;
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  if (succeeded.length + failed.length > 0) return false;
  // UPSTREAM.md Q5: a suspended Job has no startTime, and without one the API server refuses to let it finish. Upstream
  // tries until the Job is resumed; we wait for that.
  return status.startTime !== undefined || (job.suspended && job.completions === 0);
}

function terminalCondition({ verdict }: Ledger, nowMs: number) {
  return (
    verdict && newCondition({ type: verdict.outcome, status: 'True' as const, reason: verdict.reason, message: verdict.message }, nowMs)
  );
}
