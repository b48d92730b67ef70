import { OMIT_VALUE, duplicate, invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import { countIndexes, firstCommonIndex } from './completion-indexes.ts';
import type { DecodedJob, DecodedJobSpec, DecodedJobStatus } from './decoded.ts';
import { goValue } from './go-value.ts';
import { validateNonNegative } from './number-validation.ts';
import { validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';

type Conditions = DecodedJobStatus['conditions'];
type Change = {
  readonly spec: DecodedJobSpec;
  readonly next: DecodedJobStatus;
  readonly old: DecodedJobStatus;
  /** What this write changes: most rules hold only for what is touched, so that Jobs from before a rule can still be written. */
  readonly touched: Touched;
};
type Touched = ReturnType<typeof whatIsTouched>;

/**
 * ValidateJobUpdateStatus of batch/v1, in upstream's order. The rules keep whoever writes the status of a Job, and above all
 * external controllers (KEP-4368), from states that the built-in controller never leaves behind.
 */
export const validateJobStatusUpdate = (job: DecodedJob, previous: DecodedJob): FieldError[] => {
  const next = job.status ?? {};
  const old = previous.status ?? {};
  const change: Change = { spec: job.spec ?? {}, next, old, touched: whatIsTouched(next, old) };
  return [
    ...validateObjectMetaUpdate(job.metadata, previous.metadata),
    ...validateCounters(next),
    ...validateUncounted(next),
    ...validateExclusiveTerminals(change),
    ...validateCompletionTime(change),
    ...validateInterimConditions(change),
    ...validateFinishedJob(change),
    ...validateIndexLists(change),
    ...validatePodCounts(change),
    ...validateSuccessCriteria(change),
    ...validateNothingWithdrawn(change),
  ];
};

/** Several conditions of one type are not refused; one that is True decides. */
export const isConditionTrue = (conditions: Conditions, type: string): boolean =>
  (conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');

const is = (status: DecodedJobStatus, type: string): boolean => isConditionTrue(status.conditions, type);
const isFinished = (status: DecodedJobStatus): boolean => is(status, 'Complete') || is(status, 'Failed');
const isIndexed = (spec: DecodedJobSpec): boolean => spec.completionMode === 'Indexed';

const whatIsTouched = (next: DecodedJobStatus, old: DecodedJobStatus) => {
  const truth = (type: string): boolean => is(next, type) !== is(old, type);
  return {
    complete: truth('Complete'),
    failed: truth('Failed'),
    failureTarget: truth('FailureTarget'),
    successCriteriaMet: truth('SuccessCriteriaMet'),
    finished: isFinished(next) !== isFinished(old),
    completedIndexes: (next.completedIndexes ?? '') !== (old.completedIndexes ?? ''),
    failedIndexes: next.failedIndexes !== old.failedIndexes,
    active: (next.active ?? 0) !== (old.active ?? 0),
    ready: next.ready !== old.ready,
    terminating: next.terminating !== old.terminating,
    startTime: next.startTime !== old.startTime,
    completionTime: next.completionTime !== old.completionTime,
    uncounted: !semanticEqual(next.uncountedTerminatedPods, old.uncountedTerminatedPods),
  };
};

const refuseConditions = (why: string): FieldError => invalid('status.conditions', OMIT_VALUE, why);

const validateCounters = (status: DecodedJobStatus): FieldError[] =>
  (['active', 'succeeded', 'failed', 'ready', 'terminating'] as const).flatMap((counter) =>
    validateNonNegative(status[counter], `status.${counter}`),
  );

/** No pod may wait twice for being counted. */
const validateUncounted = ({ uncountedTerminatedPods: pods }: DecodedJobStatus): FieldError[] => {
  const seen = new Set<string>();
  return (['succeeded', 'failed'] as const).flatMap((list) =>
    (pods?.[list] ?? []).flatMap((uid, i) => {
      const path = `status.uncountedTerminatedPods.${list}[${i}]`;
      if (uid === '') return [invalid(path, uid, 'must not be empty')];
      if (seen.has(uid)) return [duplicate(path, uid)];
      seen.add(uid);
      return [];
    }),
  );
};

const validateExclusiveTerminals = ({ next, touched }: Change): FieldError[] => {
  if (!is(next, 'Complete')) return [];
  const errors: FieldError[] = [];
  if ((touched.complete || touched.failed) && is(next, 'Failed')) {
    errors.push(refuseConditions('cannot set Complete=True and Failed=true conditions'));
  }
  if ((touched.complete || touched.failureTarget) && is(next, 'FailureTarget')) {
    errors.push(refuseConditions('cannot set Complete=True and FailureTarget=true conditions'));
  }
  return errors;
};

const validateCompletionTime = ({ next, touched }: Change): FieldError[] => {
  const path = 'status.completionTime';
  const { completionTime, startTime } = next;
  const complete = is(next, 'Complete');
  const errors: FieldError[] = [];
  if (touched.complete || touched.completionTime) {
    if (completionTime !== undefined && !complete) {
      errors.push(invalid(path, completionTime, 'cannot set completionTime when there is no Complete=True condition'));
    }
    if (completionTime === undefined && complete) errors.push(required(path, 'completionTime is required for Complete jobs'));
  }
  const timesTouched = touched.startTime || touched.completionTime;
  if (timesTouched && completionTime !== undefined && startTime !== undefined && Date.parse(completionTime) < Date.parse(startTime)) {
    errors.push(invalid(path, completionTime, 'must be equal to or after `startTime`'));
  }
  return errors;
};

/** A terminal condition needs its interim one, which tells controllers that pods may still be ending. */
const validateInterimConditions = ({ next, touched }: Change): FieldError[] => {
  const errors: FieldError[] = [];
  if ((touched.failed || touched.failedIndexes) && is(next, 'Failed') && !is(next, 'FailureTarget')) {
    errors.push(refuseConditions('cannot set Failed=True condition without the FailureTarget=true condition'));
  }
  if ((touched.complete || touched.successCriteriaMet) && is(next, 'Complete') && !is(next, 'SuccessCriteriaMet')) {
    errors.push(refuseConditions('cannot set Complete=True condition without the SuccessCriteriaMet=true condition'));
  }
  return errors;
};

const validateFinishedJob = ({ spec, next, touched }: Change): FieldError[] => {
  if (!isFinished(next)) return [];
  const errors: FieldError[] = [];
  if ((touched.finished || touched.active) && (next.active ?? 0) > 0) {
    errors.push(invalid('status.active', next.active, 'active>0 is invalid for finished job'));
  }
  // A suspended Job of no completions is complete without ever having started.
  const neverStarts = spec.suspend === true && spec.completions === 0;
  if ((touched.finished || touched.startTime) && !neverStarts && next.startTime === undefined) {
    errors.push(required('status.startTime', 'startTime is required for finished job'));
  }
  const uncounted = next.uncountedTerminatedPods;
  const waiting = (uncounted?.succeeded ?? []).length + (uncounted?.failed ?? []).length;
  if ((touched.finished || touched.uncounted) && waiting > 0) {
    errors.push(invalid('status.uncountedTerminatedPods', goValue(uncounted), 'must be empty for finished job'));
  }
  return errors;
};

const validateIndexLists = ({ spec, next, touched }: Change): FieldError[] => {
  const { completions } = spec;
  const { completedIndexes = '', failedIndexes } = next;
  const errors: FieldError[] = [];
  const validateList = (field: 'completedIndexes' | 'failedIndexes', list: string): void => {
    const indexes = completions === undefined ? { count: 0 } : countIndexes(list, completions);
    if ('problem' in indexes) errors.push(invalid(`status.${field}`, list, `error parsing ${field}: ${indexes.problem}`));
  };
  if (touched.completedIndexes) validateList('completedIndexes', completedIndexes);
  if (touched.failedIndexes && spec.backoffLimitPerIndex !== undefined) validateList('failedIndexes', failedIndexes ?? '');
  if (touched.completedIndexes && completedIndexes !== '' && !isIndexed(spec)) {
    errors.push(
      invalid('status.completedIndexes', completedIndexes, 'cannot set non-empty completedIndexes when non-indexed completion mode'),
    );
  }
  if (touched.failedIndexes && failedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    errors.push(invalid('status.failedIndexes', failedIndexes, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'));
  }
  if ((touched.completedIndexes || touched.failedIndexes) && failedIndexes !== undefined && completions !== undefined) {
    const common = firstCommonIndex(completedIndexes, failedIndexes, completions);
    if (common !== undefined) {
      errors.push(invalid('status.failedIndexes', failedIndexes, `failedIndexes and completedIndexes overlap at index: ${common}`));
    }
  }
  return errors;
};

const validatePodCounts = ({ next, touched }: Change): FieldError[] => {
  const errors: FieldError[] = [];
  if ((touched.finished || touched.terminating) && isFinished(next) && (next.terminating ?? 0) > 0) {
    errors.push(invalid('status.terminating', next.terminating, 'terminating>0 is invalid for finished job'));
  }
  if ((touched.ready || touched.active) && (next.ready ?? 0) > (next.active ?? 0) && next.ready !== undefined) {
    errors.push(invalid('status.ready', next.ready, 'cannot set more ready pods than active'));
  }
  return errors;
};

const validateSuccessCriteria = ({ spec, next }: Change): FieldError[] => {
  const met = is(next, 'SuccessCriteriaMet');
  const errors: FieldError[] = [];
  for (const failure of ['Failed', 'FailureTarget']) {
    if (met && is(next, failure)) errors.push(refuseConditions(`cannot set SuccessCriteriaMet=True and ${failure}=true conditions`));
  }
  if (spec.successPolicy !== undefined && is(next, 'Complete') && !met) {
    errors.push(refuseConditions('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'));
  }
  return errors;
};

/** What a status has once said stays said. */
const validateNothingWithdrawn = (change: Change): FieldError[] => {
  const { next, old } = change;
  const errors: FieldError[] = [];
  for (const terminal of ['Failed', 'Complete', 'FailureTarget']) {
    if (is(old, terminal) && !is(next, terminal)) {
      errors.push(refuseConditions(`cannot disable the terminal ${terminal}=True condition`));
    }
  }
  errors.push(...validateCountersNeverFall(change), ...validateTimesStay(change));
  if (is(old, 'SuccessCriteriaMet') && !is(next, 'SuccessCriteriaMet')) {
    errors.push(refuseConditions('cannot disable the SuccessCriteriaMet=True condition'));
  }
  if (is(old, 'Complete') && !is(old, 'SuccessCriteriaMet') && is(next, 'SuccessCriteriaMet')) {
    errors.push(refuseConditions('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions'));
  }
  return errors;
};

const validateCountersNeverFall = ({ spec, next, old }: Change): FieldError[] => {
  const errors: FieldError[] = [];
  if ((next.failed ?? 0) < (old.failed ?? 0)) {
    errors.push(invalid('status.failed', next.failed ?? 0, 'cannot decrease the failed counter'));
  }
  // An Indexed Job whose indexes all run at once may be scaled down, and then has fewer successes.
  const elastic = isIndexed(spec) && spec.completions === spec.parallelism;
  if (!elastic && (next.succeeded ?? 0) < (old.succeeded ?? 0)) {
    errors.push(invalid('status.succeeded', next.succeeded ?? 0, 'cannot decrease the succeeded counter'));
  }
  return errors;
};

const validateTimesStay = ({ spec, next, old, touched }: Change): FieldError[] => {
  const errors: FieldError[] = [];
  if (old.completionTime !== undefined && next.completionTime !== undefined && touched.completionTime) {
    errors.push(invalid('status.completionTime', next.completionTime, 'field is immutable'));
  }
  if (old.startTime !== undefined && touched.startTime && spec.suspend !== true && !isResuming(next, old)) {
    errors.push(invalid('status.startTime', next.startTime, 'field is immutable for unsuspended job once set'));
  }
  return errors;
};

/** The write that says a Job is no longer suspended may also restart its clock, although the spec already says so. */
const isResuming = (next: DecodedJobStatus, old: DecodedJobStatus): boolean =>
  is(old, 'Suspended') && (next.conditions ?? []).some(({ type, status }) => type === 'Suspended' && status === 'False');
