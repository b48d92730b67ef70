import type { DeepReadonly, WorkObject } from '../../shared/api/kubernetes.ts';
import { SubmissionPhase, type SubmissionProgress } from '../../shared/api/submission-progress.ts';
import { findCondition, finishedCondition } from '../../shared/kube/conditions.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { SwitchyardCondition } from '../api/reasons.ts';
import { writtenRecordOf } from '../api/records.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

/** Where a Job stands, for its submitter. */
export function progressOf(kind: WorkKind, job: DeepReadonly<WorkObject>): SubmissionProgress {
  const { active, succeeded, failed, startTime } = kind.progress(job);
  const conditions = job.status?.conditions;
  const parsed = writtenRecordOf(job);
  const record = parsed.kind === 'Record' ? parsed.record : undefined;
  const pods = { active, succeeded, failed };
  const place = omitUndefined({ cluster: record?.cluster });
  const end = finishedCondition(job.status);
  if (end !== undefined) {
    const reason = end.type === 'Failed' ? (end.reason ?? 'Failed') : 'Complete';
    return { phase: SubmissionPhase.Finished, reason, ...place, ...pods };
  }
  if (record !== undefined && record.evicted !== true && !kind.isSuspended(job)) {
    const running = active > 0 || startTime !== undefined;
    return { phase: running ? SubmissionPhase.Running : SubmissionPhase.Admitted, ...place, ...pods };
  }
  const waiting = findCondition(conditions, SwitchyardCondition.QuotaReserved);
  const reason = omitUndefined({ reason: waiting?.status === 'False' ? waiting.reason : undefined });
  // A record that waits for its admission checks has not let anything run yet.
  if (record === undefined || record.checks !== undefined) return { phase: SubmissionPhase.Queued, ...reason, ...pods };
  return { phase: SubmissionPhase.Suspended, ...reason, ...place, ...pods };
}

/** A line of a submission's log; undefined when nothing changed but numbers. `time` is RFC 3339. */
export function transitionLine(before: SubmissionProgress | undefined, after: SubmissionProgress, time: string): string | undefined {
  const { phase, reason, cluster } = after;
  if (before?.phase === phase && before.reason === reason && before.cluster === cluster) return undefined;
  const where = cluster === undefined ? '' : ` on ${cluster}`;
  const why = reason === undefined ? '' : `: ${reason}`;
  return `${time} ${phase}${where}${why}`;
}
