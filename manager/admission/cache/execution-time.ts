import { MAX_EXEC_TIME_LABEL } from '../../../shared/api/names.ts';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import { PAST_ADMISSIONS_MAX, type AdmissionRecord, type PastAdmission } from '../../api/records.ts';
import type { Due } from './deadlines.ts';
import type { Reservation } from '../workload/reservation.ts';
import type { Workload } from '../workload/workload.ts';

/** When a Job's maximum execution time (Kueue's maximumExecutionTimeSeconds) ends, and that time in seconds. */
export type ExecutionDeadline = Due & { readonly seconds: number };

/** The deadline of a reservation; undefined without a maximum execution time. */
export function executionDeadline({ workload, record, assumed }: Reservation): ExecutionDeadline | undefined {
  const { maxExecutionSeconds: seconds, phase } = workload;
  if (assumed || seconds === undefined || phase !== 'Admitted') return undefined;
  return { seconds, dueMs: Date.parse(record.since) + (seconds - (record.executedSeconds ?? 0)) * 1000 };
}

/** The record of an admission that ends now: it becomes one of the earlier admissions, and its running time is added to theirs. */
export function endedRecord(record: AdmissionRecord, nowMs: number): AdmissionRecord {
  if (record.evicted === true) return withoutChecks(record);
  const lasted = Math.max(0, Math.floor((nowMs - Date.parse(record.since)) / 1000));
  const seconds = (record.executedSeconds ?? 0) + lasted;
  return {
    ...record,
    evicted: true,
    ...(seconds === 0 ? {} : { executedSeconds: seconds }),
    ...(lasted === 0 ? {} : { pastAdmissions: withPast(record, nowMs) }),
  };
}

const withPast = ({ pastAdmissions = [], cluster, since }: AdmissionRecord, nowMs: number): readonly PastAdmission[] =>
  [...pastAdmissions, { cluster, since, until: toWireTime(nowMs) }].slice(-PAST_ADMISSIONS_MAX);

/** A reservation without admission has no running time. */
function withoutChecks(record: AdmissionRecord): AdmissionRecord {
  if (record.checks === undefined) return record;
  const { checks: _checks, ...rest } = record;
  return rest;
}

/**
 * Why a Workload has no execution time left, as a message; undefined if it has some. It derives from the Job alone, so it survives a
 * restart.
 */
export function timeIsUp({ maxExecutionSeconds, record, namespace, name }: Workload): string | undefined {
  const used = record?.executedSeconds ?? 0;
  if (maxExecutionSeconds === undefined || used < maxExecutionSeconds) return undefined;
  return (
    `it has run for ${used}s in all, and its label ${MAX_EXEC_TIME_LABEL} allows ${maxExecutionSeconds}s; to let it go on: ` +
    `kubectl label --overwrite job -n ${namespace} ${name} ${MAX_EXEC_TIME_LABEL}=${used + maxExecutionSeconds}`
  );
}
