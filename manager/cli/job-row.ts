import type { DeepReadonly, Job, JobCondition } from '../../shared/api/kubernetes.ts';
import { writtenRecordOf } from '../api/records.ts';
import { SwitchyardCondition } from '../api/reasons.ts';

export type JobState = 'Waiting' | 'Dispatching' | 'Running' | 'Complete' | 'Failed';

/** One Job as a person wants to see it: read from the Job on the manager cluster, and of its pods when the next will be. */
export type JobRow = {
  readonly name: string;
  /** Where it was placed; undefined while it waits. */
  readonly cluster: string | undefined;
  readonly state: JobState;
  /** Why it waits, or why it ended as it did; '' when there is nothing to say. */
  readonly reason: string;
  readonly active: number;
  readonly succeeded: number;
  readonly failed: number;
  /** When it tries again what has failed, in epoch milliseconds; undefined when nothing has. */
  readonly nextTryMillis: number | undefined;
  /** Instants of its life in epoch milliseconds, as far as it has come. */
  readonly createdMillis: number;
  readonly admittedMillis: number | undefined;
  readonly startedMillis: number | undefined;
  readonly finishedMillis: number | undefined;
};

export function jobRow(job: DeepReadonly<Job>): JobRow {
  const status = job.status ?? {};
  const parsed = writtenRecordOf(job);
  const record = parsed.kind === 'Record' ? parsed.record : undefined;
  const terminal = trueCondition(job, 'Complete') ?? trueCondition(job, 'Failed');
  const waiting = status.conditions?.find(({ type, status: value }) => type === SwitchyardCondition.QuotaReserved && value === 'False');
  const state = stateOf(terminal, record !== undefined && job.spec.suspend !== true, status.startTime !== undefined);
  return {
    name: job.metadata.name,
    cluster: record?.cluster,
    state,
    reason: (state === 'Waiting' ? waiting?.message : state === 'Failed' ? terminal?.reason : undefined) ?? '',
    active: status.active ?? 0,
    succeeded: status.succeeded ?? 0,
    failed: status.failed ?? 0,
    nextTryMillis: undefined,
    createdMillis: Date.parse(job.metadata.creationTimestamp),
    admittedMillis: instant(record?.since),
    startedMillis: instant(status.startTime),
    finishedMillis: instant(status.completionTime ?? terminal?.lastTransitionTime),
  };
}

/** Times on the wire have whole seconds. Whoever watches saw the same instants pass, and knows them better. */
export function withInstantsSeen(row: JobRow, earlier: JobRow | undefined, nowMillis: number): JobRow {
  const seen = (field: 'admittedMillis' | 'startedMillis' | 'finishedMillis'): number | undefined =>
    row[field] === undefined ? undefined : (earlier?.[field] ?? nowMillis);
  return {
    ...row,
    createdMillis: earlier?.createdMillis ?? nowMillis,
    admittedMillis: seen('admittedMillis'),
    startedMillis: seen('startedMillis'),
    finishedMillis: seen('finishedMillis'),
  };
}

export const isFinished = (row: JobRow): boolean => row.state === 'Complete' || row.state === 'Failed';

function stateOf(terminal: DeepReadonly<JobCondition> | undefined, admitted: boolean, started: boolean): JobState {
  if (terminal !== undefined) return terminal.type === 'Complete' ? 'Complete' : 'Failed';
  if (!admitted) return 'Waiting';
  return started ? 'Running' : 'Dispatching';
}

const trueCondition = (job: DeepReadonly<Job>, type: string): DeepReadonly<JobCondition> | undefined =>
  job.status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');

const instant = (time: string | undefined): number | undefined => (time === undefined ? undefined : Date.parse(time));
