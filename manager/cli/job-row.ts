import type { DeepReadonly, Job, JobCondition, WorkObject } from '../../shared/api/kubernetes.ts';
import { writtenRecordOf } from '../api/records.ts';
import { SwitchyardCondition } from '../api/reasons.ts';
import type { Progress } from '../work-kind/work-kind.ts';

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

export const jobRow = (job: DeepReadonly<Job>): JobRow => {
  const { startTime, completionTime, active = 0, succeeded = 0, failed = 0 } = job.status ?? {};
  return workRow(job, { isSuspended: job.spec.suspend === true, progress: { startTime, completionTime, active, succeeded, failed } });
};

/** Fields of an object that only its kind knows. */
export type WorkFacts = {
  readonly isSuspended: boolean;
  readonly progress: Pick<Progress, 'active' | 'succeeded' | 'failed'> & {
    readonly [Time in 'startTime' | 'completionTime']?: string | undefined;
  };
};

/** The same for an object of any kind. */
export function workRow(object: DeepReadonly<WorkObject>, { isSuspended, progress }: WorkFacts): JobRow {
  const { startTime, completionTime, active, succeeded, failed } = progress;
  const parsed = writtenRecordOf(object);
  const record = parsed.kind === 'Record' ? parsed.record : undefined;
  const terminal = trueCondition(object, 'Complete') ?? trueCondition(object, 'Failed');
  const waiting = object.status?.conditions?.find(({ type, status }) => type === SwitchyardCondition.QuotaReserved && status === 'False');
  const state = stateOf(terminal, record !== undefined && !isSuspended, (startTime ?? undefined) !== undefined);
  return {
    name: object.metadata.name,
    cluster: record?.cluster,
    state,
    reason: (state === 'Waiting' ? waiting?.message : state === 'Failed' ? terminal?.reason : undefined) ?? '',
    active,
    succeeded,
    failed,
    nextTryMillis: undefined,
    createdMillis: Date.parse(object.metadata.creationTimestamp),
    admittedMillis: instant(record?.since),
    startedMillis: instant(startTime),
    finishedMillis: instant(completionTime ?? terminal?.lastTransitionTime),
  };
}

/** Times on the wire have whole seconds. Whoever watches saw the same instants pass, and knows them better. */
export function withInstantsSeen(row: JobRow, earlier: JobRow | undefined, nowMillis: number): JobRow {
  const seen = (field: 'admittedMillis' | 'startedMillis' | 'finishedMillis'): number | undefined =>
    row[field] === undefined ? undefined : (earlier?.[field] ?? nowMillis);
  const admittedMillis = seen('admittedMillis');
  const finishedMillis = seen('finishedMillis');
  return {
    ...row,
    createdMillis: earlier?.createdMillis ?? nowMillis,
    admittedMillis,
    startedMillis: startSeen(row, admittedMillis, seen('startedMillis'), finishedMillis),
    finishedMillis,
  };
}

/** A start that was seen late, as together with the end, is as long before the end as the whole seconds of the wire say. */
function startSeen(
  { startedMillis, finishedMillis }: JobRow,
  admittedSeen: number | undefined,
  started: number | undefined,
  finishedSeen: number | undefined,
): number | undefined {
  if (startedMillis === undefined || finishedMillis === undefined || started === undefined || finishedSeen === undefined) return started;
  const ranMillis = finishedMillis - startedMillis;
  const isLate = started === finishedSeen || finishedSeen - started < ranMillis - WIRE_UNIT_MS;
  return isLate ? Math.min(started, Math.max(finishedSeen - ranMillis, admittedSeen ?? 0)) : started;
}
const WIRE_UNIT_MS = 1_000;

export const isFinished = (row: JobRow): boolean => row.state === 'Complete' || row.state === 'Failed';

function stateOf(terminal: DeepReadonly<JobCondition> | undefined, admitted: boolean, started: boolean): JobState {
  if (terminal !== undefined) return terminal.type === 'Complete' ? 'Complete' : 'Failed';
  if (!admitted) return 'Waiting';
  return started ? 'Running' : 'Dispatching';
}

const trueCondition = (job: DeepReadonly<WorkObject>, type: string): DeepReadonly<JobCondition> | undefined =>
  job.status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');

const instant = (time: string | undefined): number | undefined => (time === undefined ? undefined : Date.parse(time));
