import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { findTrueCondition, finishedCondition } from '../../shared/kube/conditions.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { readLastFailure, failureMessage, type LastFailure } from './last-failure.ts';
import { SwitchyardCondition } from './reasons.ts';
import { writtenRecordOf } from './records.ts';

/** The times at which a Job reached each stage, as observed, in epoch milliseconds. */
export type JobProgress = {
  readonly submittedMs: number;
  readonly admittedMs?: number;
  readonly dispatchedMs?: number;
  readonly startedMs?: number;
  readonly finishedMs?: number;
  readonly cluster?: string;
  readonly outcome?: 'Complete' | 'Failed';
  /** The reason of the Failed condition. */
  readonly reason?: string;
  readonly message?: string;
  /** The ending of its last failed pod. */
  readonly failure?: LastFailure;
};

/** The progress updated by the present Job. Earlier times stay: they are more precise than times on the wire, which have whole seconds. */
export function continued(story: JobProgress, job: DeepReadonly<Job>, nowMs: number): JobProgress {
  const written = writtenRecordOf(job);
  const record = written.kind === 'Record' && written.record.evicted !== true ? written.record : undefined;
  const ended = finishedCondition(job.status);
  const has = (type: string): boolean => findTrueCondition(job.status?.conditions, type) !== undefined;
  const moved = record !== undefined && story.cluster !== undefined && story.cluster !== record.cluster;
  // On another cluster the Job starts again.
  const { dispatchedMs, startedMs, ...before } = story;
  const kept = moved ? before : story;
  const reached = (isReached: boolean, seenMs: number | undefined): number | undefined => seenMs ?? (isReached ? nowMs : undefined);
  const hasEnded = ended !== undefined;
  const next = {
    admittedMs: reached(record !== undefined, kept.admittedMs),
    dispatchedMs: reached(has(SwitchyardCondition.Dispatched) || (hasEnded && record !== undefined), moved ? undefined : dispatchedMs),
    startedMs: reached(
      has(SwitchyardCondition.Started) || (job.status?.succeeded ?? 0) > 0 || (job.status?.ready ?? 0) > 0,
      moved ? undefined : startedMs,
    ),
    finishedMs: reached(hasEnded, kept.finishedMs),
    cluster: record?.cluster ?? kept.cluster,
    outcome: outcomeOf(ended?.type),
    reason: ended?.type === 'Failed' ? ended.reason : undefined,
    message: ended?.type === 'Failed' ? ended.message : undefined,
    failure: ended?.type === 'Failed' ? readLastFailure(job) : undefined,
  };
  return { submittedMs: story.submittedMs, ...omitUndefined(next) };
}

const outcomeOf = (type: string | undefined): 'Complete' | 'Failed' | undefined =>
  type === 'Complete' || type === 'Failed' ? type : undefined;

/** `finished on east in 2.1 s (queued 0.2, dispatched 0.3, pod start 1.2)`: the seconds of each stage, as far as observed. */
export function lifecycleLine({
  submittedMs,
  admittedMs,
  dispatchedMs,
  startedMs,
  finishedMs,
  cluster,
  outcome,
  reason,
  message,
  failure,
}: JobProgress): string {
  const seconds = (from: number, to: number): string => (Math.max(0, to - from) / 1000).toFixed(1);
  const parts = [
    ...(admittedMs === undefined ? [] : [`queued ${seconds(submittedMs, admittedMs)}`]),
    ...(admittedMs === undefined || dispatchedMs === undefined ? [] : [`dispatched ${seconds(admittedMs, dispatchedMs)}`]),
    ...(dispatchedMs === undefined || startedMs === undefined ? [] : [`pod start ${seconds(dispatchedMs, startedMs)}`]),
  ];
  const took = finishedMs === undefined ? '' : ` in ${seconds(submittedMs, finishedMs)} s`;
  const why = outcome === 'Failed' ? `: ${[reason, message].filter((each) => each !== undefined && each !== '').join(', ')}` : '';
  return `${outcome === 'Failed' ? 'failed' : 'finished'}${cluster === undefined ? '' : ` on ${cluster}`}${took}${parts.length === 0 ? '' : ` (${parts.join(', ')})`}${why}${failure === undefined ? '' : `; ${failureMessage(failure)}`}`;
}

/** The present stage of the Job, for a waiting user. */
export function progressLine(story: JobProgress, job: DeepReadonly<Job>): string {
  if (story.startedMs !== undefined) return `runs on ${story.cluster ?? '?'}`;
  if (story.cluster !== undefined && story.admittedMs !== undefined) return `goes to ${story.cluster}`;
  const waiting = job.status?.conditions?.find(({ type, status }) => type === SwitchyardCondition.QuotaReserved && status === 'False');
  return `waits${waiting?.message === undefined ? '' : `: ${waiting.message}`}`;
}

/**
 * The exit code of the container with which a Job failed, as its worker reports it. Otherwise that of a Job whose podFailurePolicy fails it
 * by exit code: upstream's message of that condition has it ("Container main for pod ns/name failed with exit code 3 matching FailJob rule
 * at index 0"). Undefined where no exit code is known.
 */
export function exitCodeOf({ outcome, reason, message, failure }: JobProgress): number | undefined {
  if (outcome === 'Complete') return 0;
  if (failure?.exitCode !== undefined && failure.exitCode > 0 && failure.exitCode <= 255) return failure.exitCode;
  if (reason !== 'PodFailurePolicy') return undefined;
  const code = /failed with exit code (\d{1,3}) /.exec(message ?? '')?.[1];
  return code === undefined ? undefined : Number(code);
}
