import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { actsOn, type JobAct } from './job-acts.ts';
import { SwitchyardCondition } from './reasons.ts';
import type { AdmissionRecord, PastAdmission } from './records.ts';

/** Epoch milliseconds; without an end while it lasts. */
export type Interval = { readonly fromMs: number; readonly untilMs?: number };
export type Admission = Interval & { readonly cluster?: string };

/** When a Job was admitted and held, as far as it is recorded. At all other times of its life it waited. */
export type JobPast = {
  /** The oldest first. */
  readonly admissions: readonly Admission[];
  /** Holds that the manager has carried out for users. */
  readonly holds: readonly Interval[];
  /** Before then the Job was also admitted at times that are not recorded. Absent: all are. */
  readonly unknownUntilMs?: number;
};

/** The record of a Job besides its present, or last, admission. */
export type Earlier = JobPast & {
  /** The last admission has ended, and is one of these. */
  readonly isOver: boolean;
};

/** Undefined for a Job that was never evicted or held, as most are. */
export function earlierOf(job: DeepReadonly<Job>, record: AdmissionRecord | undefined): Earlier | undefined {
  const holds = holdsOf(actsOn(job));
  const isOver = record?.evicted === true;
  const { executedSeconds = 0, pastAdmissions = [] } = record ?? {};
  if (holds.length === 0 && !isOver && pastAdmissions.length === 0 && executedSeconds === 0) return undefined;
  const past = within(pastAdmissions, executedSeconds);
  const isWhole = executedSeconds <= secondsOf(past);
  const reserved = findCondition(job.status?.conditions, SwitchyardCondition.QuotaReserved);
  // The last admission, if it is over, ended when its quota was given back.
  const sinceThen = isOver ? parseWireTime(reserved?.lastTransitionTime) : parseWireTime(record?.since);
  return {
    admissions: past.flatMap(admissionOf),
    holds,
    isOver,
    ...(isWhole ? {} : { unknownUntilMs: parseWireTime(past[0]?.since) ?? sinceThen ?? Number.POSITIVE_INFINITY }),
  };
}

/** The present, or last, admission of a Job that exists, in epoch milliseconds. */
type LastAdmission = { readonly admittedMs?: number; readonly endedMs?: number; readonly cluster?: string };

/** The past of a Job that exists. */
export function pastOf({ admittedMs, endedMs, cluster }: LastAdmission, earlier: Earlier = NOTHING_EARLIER): JobPast {
  if (admittedMs === undefined || earlier.isOver) return earlier;
  const last = { fromMs: admittedMs, ...omitUndefined({ untilMs: endedMs, cluster }) };
  return { ...earlier, admissions: [...earlier.admissions, last] };
}

/** Times of a Job that history keeps, as RFC 3339. */
export type KeptAdmissions = {
  /** The last admission, which ended with the Job, unless `evicted`. */
  readonly admitted?: string;
  readonly ended: string;
  readonly evicted?: true;
  readonly pastAdmissions?: readonly PastAdmission[];
  readonly admittedSeconds?: number;
  readonly cluster?: string;
  readonly acts?: readonly JobAct[];
};

/** The past of a Job that is gone. */
export function keptPastOf({
  admitted,
  ended,
  evicted,
  pastAdmissions = [],
  admittedSeconds,
  cluster,
  acts = [],
}: KeptAdmissions): JobPast {
  const holds = holdsOf(acts);
  const untilMs = parseWireTime(ended) ?? 0;
  const lastMs = evicted === true ? undefined : parseWireTime(admitted);
  const lastSeconds = lastMs === undefined ? 0 : (untilMs - lastMs) / 1000;
  const seconds = admittedSeconds ?? lastSeconds;
  // Earlier versions did not write that a Job was evicted when it was deleted: it was admitted for less time then.
  if (seconds < lastSeconds - ROUNDED_SECONDS) return { admissions: [], holds, unknownUntilMs: untilMs };
  const past = within(pastAdmissions, seconds - lastSeconds);
  const last = lastMs === undefined ? [] : [{ fromMs: lastMs, untilMs, ...omitUndefined({ cluster }) }];
  const admissions = [...past.flatMap(admissionOf), ...last];
  const isWhole = seconds <= secondsOf(past) + lastSeconds + ROUNDED_SECONDS;
  return { admissions, holds, ...(isWhole ? {} : { unknownUntilMs: admissions[0]?.fromMs ?? untilMs }) };
}

export type PastState =
  | { readonly kind: 'Admitted'; readonly admission: Admission }
  | { readonly kind: 'Held' | 'Waiting' }
  /** The Job waited or was admitted: that is not recorded. */
  | { readonly kind: 'Unknown' };

/** The state at one moment of the life of a Job. A hold that nobody ended by an act ended when the Job was admitted again. */
export function stateAt({ admissions, holds, unknownUntilMs = 0 }: JobPast, atMs: number): PastState {
  const admission = admissions.find((each) => includes(each, atMs));
  if (admission !== undefined) return { kind: 'Admitted', admission };
  if (atMs < unknownUntilMs) return { kind: 'Unknown' };
  const isOver = ({ fromMs: heldMs }: Interval): boolean => admissions.some(({ fromMs }) => heldMs < fromMs && fromMs <= atMs);
  return { kind: holds.some((hold) => includes(hold, atMs) && !isOver(hold)) ? 'Held' : 'Waiting' };
}

/** For how long a Job waited between two moments, in milliseconds. Undefined where that is not recorded. */
export function waitingMs(past: JobPast, fromMs: number, untilMs: number): number | undefined {
  const turns = [...past.admissions, ...past.holds].flatMap((each) => [each.fromMs, each.untilMs ?? untilMs]);
  const moments = [fromMs, ...turns.filter((each) => fromMs < each && each < untilMs), untilMs].toSorted((a, b) => a - b);
  const states = moments.slice(0, -1).map((atMs, index) => ({ ...stateAt(past, atMs), lastsMs: (moments[index + 1] ?? atMs) - atMs }));
  if (states.some(({ kind }) => kind === 'Unknown')) return undefined;
  return states.reduce((sum, { kind, lastsMs }) => (kind === 'Waiting' ? sum + lastsMs : sum), 0);
}

const includes = ({ fromMs, untilMs = Number.POSITIVE_INFINITY }: Interval, atMs: number): boolean => fromMs <= atMs && atMs < untilMs;

const NOTHING_EARLIER: Earlier = { admissions: [], holds: [], isOver: false };
/** Seconds in history are rounded. */
const ROUNDED_SECONDS = 1;

/**
 * Past admissions are not sealed, and the seconds that they took together are: what would have taken longer is not of the manager, and
 * counts as not recorded.
 */
const within = (past: readonly PastAdmission[], seconds: number): readonly PastAdmission[] =>
  secondsOf(past) > seconds + ROUNDED_SECONDS ? [] : past;

function admissionOf({ cluster, since, until }: PastAdmission): Admission[] {
  const [fromMs, untilMs] = [parseWireTime(since), parseWireTime(until)];
  return fromMs === undefined || untilMs === undefined ? [] : [{ fromMs, untilMs, cluster }];
}

const secondsOf = (past: readonly PastAdmission[]): number =>
  past.flatMap(admissionOf).reduce((sum, { fromMs, untilMs = fromMs }) => sum + (untilMs - fromMs) / 1000, 0);

/** From the act that holds to the next that releases. */
function holdsOf(acts: readonly JobAct[]): readonly Interval[] {
  const holds: Interval[] = [];
  for (const { what, at } of acts) {
    const atMs = parseWireTime(at);
    const last = holds.at(-1);
    const isHeld = last !== undefined && last.untilMs === undefined;
    if (atMs === undefined) continue;
    if (what === 'Hold' && !isHeld) holds.push({ fromMs: atMs });
    if (what === 'Release' && isHeld) holds.splice(-1, 1, { fromMs: last.fromMs, untilMs: atMs });
  }
  return holds;
}
