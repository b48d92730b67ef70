import type { DeepReadonly, Job, JobCondition, JobStatus } from '../../../../shared/api/kubernetes.ts';
import { toWireTime } from '../../../../shared/api/wire-time.ts';
import { findCondition, finishedCondition, findTrueCondition, hasTrueCondition, isFinished } from '../../../../shared/kube/conditions.ts';
import { omitUndefined } from '../../../../shared/runtime/omit-undefined.ts';
import { isSwitchyards, withOwn } from '../../own-conditions.ts';
import type { HomeStatusInput, OwnCondition } from '../../work-kind.ts';
import { completeIndexes, indexListsOf } from './finished-work.ts';
import { areIndexLists, indexesBelow, sizeOf, textOf } from '../../../api/index-list.ts';

/** An interim condition announces a verdict, its terminal condition carries it out. */
const VERDICTS = [
  { interim: 'FailureTarget', terminal: 'Failed' },
  { interim: 'SuccessCriteriaMet', terminal: 'Complete' },
] as const;
type Verdict = (typeof VERDICTS)[number];
/** Types of all conditions that end a Job. */
export const VERDICT_TYPES: readonly string[] = VERDICTS.flatMap(({ interim, terminal }) => [interim, terminal]);

/**
 * The status of a Job, from the status of its copy. The API server validates every status write of a Job with `managedBy` (KEP-4368)
 * against the present status, so this is no assignment. S-numbers name its rules. In order:
 *
 *  1. A finished Job keeps its status for good.
 *  2. A verdict at home binds (S22, S27): no later copy can overturn it.
 *  3. Finished: interim beside terminal condition (S8, S9), nothing active, terminating or uncounted (S10, S12, S18), times in order
 *     (S5-S7, S11).
 *  4. Running, suspended or gone: counters never fall (S23, S24), startTime only changes on suspension or resumption (S26).
 *
 * Fields and conditions that this version does not know are carried along.
 */
export function toLocalStatus({ local, remote: told, own, nowMs }: HomeStatusInput<Job>): JobStatus {
  if (isFinished(local.status)) return copyOf(local.status); // 1
  const remote = told && shortened(told, local);
  const verdict = verdictOf(local.status) ?? verdictOf(remote); // 2
  const finished = verdict !== undefined && isFinished(remote);
  const conditions = withOwn(
    [...jobConditions(local, remote, verdict, finished, nowMs), ...ourConditions(local.status)],
    own,
    nowMs,
    condition,
  );
  const { startTime: _start, completionTime: _completion, ...others } = copyOf(remote);
  const status = { ...others, ...counters(local, remote), ...times(local, remote, conditions, nowMs), conditions };
  return normal(finished || remote === undefined ? atRest(restricted(status, local)) : restricted(status, local));
}

/** The status of a Job whose verdict is known at home while its copy is gone: the verdict is carried out, and no pod runs again. */
export const carryOutVerdict = (local: DeepReadonly<Job>, nowMs: number): JobStatus =>
  toLocalStatus({ local, remote: withTerminal(local.status, nowMs), own: [], nowMs });

/** A status with its verdict carried out: the terminal condition beside the interim one. A status without a verdict stays as it is. */
export function withTerminal(status: DeepReadonly<JobStatus> | undefined, nowMs: number): DeepReadonly<JobStatus> | undefined {
  const verdict = VERDICTS.find((each) => hasTrueCondition(status?.conditions, each.interim));
  const interim = verdict && findTrueCondition(status?.conditions, verdict.interim);
  if (interim === undefined || verdict === undefined) return status;
  const terminal = { ...interim, type: verdict.terminal, lastTransitionTime: toWireTime(nowMs), lastProbeTime: toWireTime(nowMs) };
  return { ...status, conditions: [...(status?.conditions ?? []), terminal] };
}

/**
 * The status of a Job that this manager fails, for this reason, while no pod of it runs; `told` is the last known status of its copy. An
 * earlier verdict wins.
 */
export function failedStatus(
  local: DeepReadonly<Job>,
  told: DeepReadonly<JobStatus> | undefined,
  { reason, message }: { readonly reason: string; readonly message: string },
  own: readonly OwnCondition[],
  nowMs: number,
): JobStatus {
  const conditions = ['FailureTarget', 'Failed'].map((type) => condition(type, 'True', reason, message, nowMs));
  const remote = { ...copyOf(told), conditions: [...copiesOf(told?.conditions ?? []), ...conditions] };
  return toLocalStatus({ local, remote, own, nowMs });
}

/** The status of a Job of which no pod runs any more, though its cluster could not report so. */
export function withoutPods(status: DeepReadonly<JobStatus> | undefined, nowMs: number): JobStatus {
  const { startTime: _start, ...told } = copyOf(status);
  const others = (told.conditions ?? []).filter(({ type }) => type !== 'Suspended');
  const conditions = [...others, condition('Suspended', 'True', 'JobSuspended', 'Job suspended', nowMs)];
  return atRest({ ...told, conditions });
}

/** The Job has an interim or a terminal condition: its end is certain, though pods may still be terminating. */
export const hasVerdict = (status: DeepReadonly<JobStatus> | undefined): boolean => verdictOf(status) !== undefined;

/**
 * Failure is checked first: where both are true (S4, S20), the API server of the copy did not validate, and a claim of success is weaker.
 */
const verdictOf = (status: DeepReadonly<JobStatus> | undefined): Verdict | undefined =>
  VERDICTS.find(({ terminal }) => hasTrueCondition(status?.conditions, terminal)) ??
  VERDICTS.find(({ interim }) => hasTrueCondition(status?.conditions, interim));

function jobConditions(
  local: DeepReadonly<Job>,
  remote: DeepReadonly<JobStatus> | undefined,
  verdict: Verdict | undefined,
  finished: boolean,
  nowMs: number,
): JobCondition[] {
  const others = (remote?.conditions ?? []).filter(
    ({ type }) => !VERDICT_TYPES.includes(type) && type !== 'Suspended' && !isSwitchyards(type),
  );
  return [
    ...copiesOf(others),
    ...suspendedCondition(local, remote, nowMs),
    ...(verdict === undefined ? [] : verdictConditions(local.status, remote, verdict, finished)),
  ];
}

/** The conditions of one verdict. When the copy has only one of the two, the other is made from it. */
function verdictConditions(
  home: DeepReadonly<JobStatus> | undefined,
  remote: DeepReadonly<JobStatus> | undefined,
  { interim, terminal }: Verdict,
  finished: boolean,
): JobCondition[] {
  const stated =
    findTrueCondition(home?.conditions, interim) ??
    findTrueCondition(remote?.conditions, interim) ??
    findTrueCondition(remote?.conditions, terminal);
  if (stated === undefined) return [];
  const end = findTrueCondition(remote?.conditions, terminal) ?? stated;
  return copiesOf([{ ...stated, type: interim }, ...(finished ? [{ ...end, type: terminal }] : [])]);
}

/**
 * The condition of the copy, if it has one; else what follows from the Job: a new copy of a Job that was suspended has no condition of its
 * resumption.
 */
function suspendedCondition(local: DeepReadonly<Job>, remote: DeepReadonly<JobStatus> | undefined, nowMs: number): JobCondition[] {
  const told = findCondition(remote?.conditions, 'Suspended');
  if (told !== undefined) return copiesOf([told]);
  const present = findCondition(local.status?.conditions, 'Suspended');
  const suspended = remote === undefined && local.spec.suspend === true;
  if (present === undefined ? !suspended : isTrue(present) === suspended) return present === undefined ? [] : copiesOf([present]);
  return [
    suspended
      ? condition('Suspended', 'True', 'JobSuspended', 'Job suspended', nowMs)
      : condition('Suspended', 'False', 'JobResumed', 'Job resumed', nowMs),
  ];
}

const ourConditions = (status: DeepReadonly<JobStatus> | undefined): JobCondition[] =>
  copiesOf((status?.conditions ?? []).filter(({ type }) => isSwitchyards(type)));

/** S23, S24. A new copy may count from less; until it has caught up, the higher number stays. */
function counters(local: DeepReadonly<Job>, remote: DeepReadonly<JobStatus> | undefined): Pick<JobStatus, 'failed' | 'succeeded'> {
  const highest = (field: 'failed' | 'succeeded'): number => Math.max(local.status?.[field] ?? 0, remote?.[field] ?? 0);
  // An elastic Indexed Job that shrinks drops the indexes beyond its end.
  const elastic = local.spec.completionMode === 'Indexed' && local.spec.completions === local.spec.parallelism;
  return { failed: highest('failed'), succeeded: elastic && remote !== undefined ? completeIndexes(local, remote) : highest('succeeded') };
}

function times(
  local: DeepReadonly<Job>,
  remote: DeepReadonly<JobStatus> | undefined,
  conditions: readonly JobCondition[],
  nowMs: number,
): Pick<JobStatus, 'startTime' | 'completionTime'> {
  const terminal = finishedCondition({ conditions });
  const startTime = nextStartTime(local, remote, conditions);
  if (terminal === undefined) return whatIsSet({ startTime, completionTime: undefined }); // S5
  const ended = remote?.completionTime ?? timeOf(terminal) ?? toWireTime(nowMs);
  const neverStarted = local.spec.suspend === true && local.spec.completions === 0;
  const started = startTime ?? (neverStarted ? undefined : ended); // S11
  // S7: a start time from another cluster may be ahead, as its clock may be.
  const completed = started !== undefined && isAfter(started, ended) ? started : ended;
  return whatIsSet({ startTime: started, completionTime: terminal.type === 'Complete' ? completed : undefined }); // S5, S6
}

const whatIsSet = ({ startTime, completionTime }: { startTime: string | undefined; completionTime: string | undefined }) => ({
  ...omitUndefined({ startTime, completionTime }),
});

/** S26. */
function nextStartTime(
  local: DeepReadonly<Job>,
  remote: DeepReadonly<JobStatus> | undefined,
  conditions: readonly JobCondition[],
): string | undefined {
  const present = local.status?.startTime ?? undefined;
  const told = remote?.startTime ?? undefined;
  if (local.spec.suspend === true) return told;
  const resuming =
    hasTrueCondition(local.status?.conditions, 'Suspended') &&
    conditions.some(({ type, status }) => type === 'Suspended' && status === 'False') &&
    told !== undefined;
  return resuming ? told : (present ?? told);
}

/**
 * The status of a finished Job, or of a Job without a copy: no pod is active, terminating or uncounted. Fields that the copy lacks stay
 * absent.
 */
function atRest(status: JobStatus): JobStatus {
  return {
    ...status,
    active: 0,
    ...(isPresent(status.ready) ? { ready: 0 } : {}),
    ...(isPresent(status.terminating) ? { terminating: 0 } : {}),
    ...(isPresent(status.uncountedTerminatedPods) ? { uncountedTerminatedPods: {} } : {}),
  };
}

/** S15, S16, S19: values that an API server older than these rules accepts. */
function restricted(status: JobStatus, local: DeepReadonly<Job>): JobStatus {
  const { completedIndexes: _completed, failedIndexes: _failed, ...rest } = status;
  const { completedIndexes, failedIndexes } = indexLists(status, local);
  return {
    ...rest,
    ...(isPresent(status.ready) ? { ready: Math.min(status.ready, status.active ?? 0) } : {}),
    ...(completedIndexes !== undefined && local.spec.completionMode === 'Indexed' ? { completedIndexes } : {}),
    ...(failedIndexes !== undefined && isPresent(local.spec.backoffLimitPerIndex) ? { failedIndexes } : {}),
  };
}

/**
 * S13, S14, S17: invalid lists would make the API server reject the whole status, so the lists at home stay. The lists at home stay also
 * while there is no copy, or a copy without them: the next copy starts from them.
 */
function indexLists(status: JobStatus, local: DeepReadonly<Job>): Pick<DeepReadonly<JobStatus>, 'completedIndexes' | 'failedIndexes'> {
  const present = local.status ?? {};
  const { completions } = local.spec;
  const news = status.completedIndexes !== present.completedIndexes || status.failedIndexes !== present.failedIndexes;
  if (!news || completions === undefined || completions === null) return status;
  return areIndexLists(status.completedIndexes ?? '', status.failedIndexes ?? '', completions) ? indexListsOf(local, status) : present;
}

/**
 * An elastic Job (KEP-3715) that shrank at home before its copy did: indexes of the copy beyond the new end are no longer part of the Job.
 */
function shortened(remote: DeepReadonly<JobStatus>, { spec }: DeepReadonly<Job>): DeepReadonly<JobStatus> {
  const { completions } = spec;
  const { completedIndexes, failedIndexes } = remote;
  if (spec.completionMode !== 'Indexed' || !isPresent(completions) || completions !== spec.parallelism) return remote;
  if (!isPresent(completedIndexes) || !isLonger(completedIndexes, failedIndexes ?? '', completions)) return remote;
  const completed = indexesBelow(completedIndexes, completions);
  const failed = isPresent(failedIndexes) ? { failedIndexes: textOf(indexesBelow(failedIndexes, completions)) } : {};
  return { ...remote, completedIndexes: textOf(completed), ...failed, succeeded: sizeOf(completed) };
}

/** The lists are valid for a Job with more completions. */
const isLonger = (completed: string, failed: string, completions: number): boolean =>
  !areIndexLists(completed, failed, completions) && areIndexLists(completed, failed, Number.POSITIVE_INFINITY);

/** The status as the API server returns it: without zero, empty or absent values. */
function normal(status: JobStatus): JobStatus {
  const omitted = (field: string, value: unknown): boolean =>
    !isPresent(value) ||
    (['active', 'succeeded', 'failed'].includes(field) && value === 0) ||
    (field === 'completedIndexes' && value === '');
  return Object.fromEntries(Object.entries(status).filter(([field, value]) => !omitted(field, value)));
}

const condition = (type: string, status: 'True' | 'False', reason: string, message: string, nowMs: number): JobCondition => ({
  type,
  status,
  reason,
  message,
  lastProbeTime: toWireTime(nowMs),
  lastTransitionTime: toWireTime(nowMs),
});

const isTrue = (each: DeepReadonly<JobCondition>): boolean => each.status === 'True';
const timeOf = (each: DeepReadonly<JobCondition>): string | undefined => each.lastTransitionTime ?? undefined;
const isAfter = (a: string, b: string): boolean => Date.parse(a) > Date.parse(b);
const isPresent = <T>(value: T | null | undefined): value is T => value !== null && value !== undefined;

/** A shallow copy: the contents stay shared with the cache, are written to the API server, and are never changed. */
const copyOf = (status: DeepReadonly<JobStatus> | undefined): JobStatus => ({ ...(status as JobStatus | undefined) });
const copiesOf = (conditions: readonly DeepReadonly<JobCondition>[]): JobCondition[] => conditions.map((each) => ({ ...each }));
