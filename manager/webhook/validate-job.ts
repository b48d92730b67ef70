import type { DeepReadonly, WorkObject } from '../../shared/api/kubernetes.ts';
import { BUILT_IN_JOB_CONTROLLER_NAME, MANAGER_CONTROLLER_NAME, ORIGIN_LABEL, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import type { FieldProblem } from '../api/field-problem.ts';
import { queueNameOf } from '../api/job-annotations.ts';
import { DEFAULT_JOB_RULES, type JobRules } from '../api/job-rules.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';
import type { JobWrite } from '../policy/job-write.ts';
import { judgeWrite } from '../policy/judge-write.ts';
import { controllerWords, fieldOf, wordsOf } from '../policy/write-rule.ts';
import { controllerProblems, wishProblems, wrongWishes } from '../policy/prepare-job.ts';

/**
 * The problems of a write of a Job; none when it may pass. In order:
 *
 * 1. The manager may write anything.
 * 2. A writer may write its own parts only: manager/policy/job-parts.ts has the owners.
 * 3. A new Job with a queue must be as prepareJob makes it.
 * 4. Changed settings must be well-formed, and possible to meet.
 * 5. The Job must satisfy the administrator's rules: a new Job, and a changed one unless it broke them before.
 */
export function validateJob(kind: WorkKind, write: JobWrite, rules: JobRules = DEFAULT_JOB_RULES): FieldProblem[] {
  const { subresource, job, oldJob, writer } = write;
  if (writer === 'Manager') return []; // 1
  const problems = judgeWrite(kind, write); // 2
  if (oldJob === undefined)
    return queueNameOf(job) === undefined
      ? problems
      : [...problems, ...unpreparedProblems(kind, job), ...wishProblems(kind, job), ...kind.ruleProblems(job, rules)]; // 3, 5
  if (kind.controllerOf(oldJob) !== MANAGER_CONTROLLER_NAME) return problems;
  const mayBreakRules = subresource !== '' || kind.ruleProblems(oldJob, rules).length > 0;
  return [...problems, ...changedWishProblems(kind, job, oldJob), ...(mayBreakRules ? [] : kind.ruleProblems(job, rules))]; // 4, 5
}

/** A copy on a cluster that is its own worker cluster. A Job of the manager with the origin label is no copy. */
export const isCopy = (kind: WorkKind, job: DeepReadonly<WorkObject>): boolean =>
  job.metadata.labels?.[ORIGIN_LABEL] !== undefined && kind.controllerOf(job) !== MANAGER_CONTROLLER_NAME;

/** The mutating webhook prepares Jobs: a difference means that it was bypassed, or that another webhook undid its work. */
function unpreparedProblems(kind: WorkKind, job: DeepReadonly<WorkObject>): FieldProblem[] {
  const problems = controllerProblems(kind, job);
  if ((kind.controllerOf(job) ?? BUILT_IN_JOB_CONTROLLER_NAME) === BUILT_IN_JOB_CONTROLLER_NAME) {
    const words = wordsOf(kind.of(job.metadata.name));
    const { path, home } = controllerWords(words);
    problems.push({ field: path, problem: `must be ${home} for any ${words.kind} with the label ${QUEUE_NAME_LABEL}` });
  }
  return problems;
}

const changedWishProblems = (kind: WorkKind, job: DeepReadonly<WorkObject>, oldJob: DeepReadonly<WorkObject>): FieldProblem[] =>
  wrongWishes(kind, job)
    .filter(({ place, name }) => job.metadata[place]?.[name] !== oldJob.metadata[place]?.[name])
    .map(({ place, name, problem }) => ({ field: fieldOf(place, name), problem }));
