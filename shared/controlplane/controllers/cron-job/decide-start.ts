import type { CronJob, DeepReadonly } from '../../../api/kubernetes.ts';
import { CronScheduleError, type CronSchedule, parseCronSchedule } from '../../kinds/cron-schedule.ts';
import { findTimeZone, type TimeZone } from '../../kinds/time-zone.ts';
import { missedStarts, type NextTime } from './missed-starts.ts';
import { nextTime } from './next-time.ts';

/** Something to tell users about a CronJob. */
export type Note = { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string };

export type StartDecision = {
  /** The start that is due, if one is. */
  readonly start: { readonly scheduledMs: number; readonly zone: TimeZone } | undefined;
  /** When to look again; undefined: when the CronJob or its Jobs change. */
  readonly againMs: number | undefined;
  readonly notes: readonly Note[];
};

/** Later than the time itself, so that a clock that lags behind the server's does not look too early. */
const DELTA_MS = 100;

/** Whether a Job is to be started now; `cronJob.status` is up to date. The first rule that holds decides. */
export function decideStart(cronJob: DeepReadonly<CronJob>, nowMs: number): StartDecision {
  const { metadata, spec, status } = cronJob;
  // 1. What is going, suspended or cannot be read starts nothing until it changes.
  if (metadata.deletionTimestamp !== undefined) return untilChanged();
  const zone = findTimeZone(spec.timeZone ?? '');
  if (zone === undefined) {
    const { timeZone = '' } = spec;
    return untilChanged(warning('UnknownTimeZone', `invalid timeZone: ${JSON.stringify(timeZone)}: unknown time zone ${timeZone}`));
  }
  if (spec.suspend === true) return untilChanged();
  const schedule = readSchedule(spec.schedule);
  if (typeof schedule === 'string') {
    return untilChanged(warning('UnparseableSchedule', `unparseable schedule: ${JSON.stringify(spec.schedule)} : ${schedule}`));
  }
  const next: NextTime = (afterMs) => nextTime(schedule, zone, afterMs);
  const missed = missedStarts(cronJob, next, nowMs);
  if (missed === undefined) {
    const problem = 'time difference between two schedules is less than 1 second';
    return untilChanged(warning('InvalidSchedule', `invalid schedule: ${spec.schedule} : ${problem}`));
  }
  const wait = (...notes: Note[]): StartDecision => ({ start: undefined, againMs: againAt(cronJob, next, nowMs), notes });
  // 2. Nothing is due.
  const scheduledMs = missed.latestMs;
  if (scheduledMs === undefined) return wait();
  const notes = missed.count === 'many' ? [TOO_MANY] : [];
  // 3. Too late.
  if (spec.startingDeadlineSeconds !== undefined && scheduledMs + spec.startingDeadlineSeconds * 1000 < nowMs) {
    return wait(...notes, warning('MissSchedule', `Missed scheduled time to start a job: ${rfc1123(scheduledMs)}`));
  }
  // 4. Already started.
  const name = jobName(metadata.name, scheduledMs);
  const isActive = (status?.active ?? []).some((reference) => reference.name === name);
  const wasLast = status?.lastScheduleTime !== undefined && Date.parse(status.lastScheduleTime) === scheduledMs;
  if (isActive || wasLast) return wait(...notes);
  // 5. The one before still runs, and must not be disturbed.
  if (spec.concurrencyPolicy === 'Forbid' && (status?.active ?? []).length > 0) return wait(...notes, ALREADY_ACTIVE);
  // 6. Start it.
  const startedCronJob = { ...cronJob, status: { ...status, lastScheduleTime: new Date(scheduledMs).toISOString() } };
  return { start: { scheduledMs, zone }, againMs: againAt(startedCronJob, next, nowMs), notes };
}

/** When the CronJob, changed to this schedule, is due again: its next time from now on. Undefined where it has none. */
export function nextStartMs(cronJob: DeepReadonly<CronJob>, nowMs: number): number | undefined {
  const schedule = readSchedule(cronJob.spec.schedule);
  const zone = findTimeZone(cronJob.spec.timeZone ?? '');
  if (typeof schedule === 'string' || zone === undefined) return undefined;
  return againAt(cronJob, (afterMs) => nextTime(schedule, zone, afterMs), nowMs);
}

/** Jobs are told apart by the minute they were due in, so that none is started twice. */
export const jobName = (cronJobName: string, scheduledMs: number): string => `${cronJobName}-${Math.floor(scheduledMs / 60_000)}`;

function againAt(cronJob: DeepReadonly<CronJob>, next: NextTime, nowMs: number): number | undefined {
  const missed = missedStarts(cronJob, next, nowMs, { ignoreDeadline: true });
  const fromMs = missed === undefined ? nowMs : (missed.latestMs ?? (missed.count === 'none' ? missed.sinceMs : nowMs));
  const atMs = next(fromMs);
  return atMs === undefined ? undefined : atMs + DELTA_MS;
}

/** The schedule, or why it is none. */
function readSchedule(text: string): CronSchedule | string {
  try {
    return parseCronSchedule(text);
  } catch (error) {
    if (error instanceof CronScheduleError) return error.message;
    throw error;
  }
}

const untilChanged = (...notes: Note[]): StartDecision => ({ start: undefined, againMs: undefined, notes });

const warning = (reason: string, message: string): Note => ({ type: 'Warning', reason, message });
const TOO_MANY = warning(
  'TooManyMissedTimes',
  'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
);
const ALREADY_ACTIVE: Note = {
  type: 'Normal',
  reason: 'JobAlreadyActive',
  message: 'Not starting job because prior execution is running and concurrency policy is Forbid',
};

/** As Go's time.RFC1123Z. */
const rfc1123 = (atMs: number): string => new Date(atMs).toUTCString().replace('GMT', '+0000');
