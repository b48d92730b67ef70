import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import {
  ADMISSION_ANNOTATION,
  BUILT_IN_JOB_CONTROLLER_NAME,
  CLUSTERS_ANNOTATION,
  MANAGER_CONTROLLER_NAME,
  ORIGIN_LABEL,
  PRIORITY_ANNOTATION,
  QUEUE_NAME_LABEL,
} from '../../shared/api/names.ts';
import { clusterWishOf, priorityOf, queueNameOf } from '../api/job-annotations.ts';
import { podsAtOnce } from '../api/pod-count.ts';
import { activeAdmission } from '../api/records.ts';
import { preparationProblems, type FieldProblem } from '../prepare-job.ts';

/** A write of a Job that an API server asks about. */
export type JobChange =
  | { readonly operation: 'CREATE'; readonly job: DeepReadonly<Job>; readonly byManager: boolean }
  | { readonly operation: 'UPDATE'; readonly job: DeepReadonly<Job>; readonly oldJob: DeepReadonly<Job>; readonly byManager: boolean };

/**
 * What is wrong with a write of a Job; nothing when it may pass. In order:
 *
 * 1. The manager itself may write anything, and mirrored copies are not judged.
 * 2. A new Job with a queue must be as prepareJob makes it.
 * 3. A Job that lives already cannot be given to the manager, because managedBy is immutable.
 * 4. The admission record is the manager's, and so is the release of a suspended Job.
 * 5. The queue of an admitted Job stays, because its quota is charged there; that of any other Job may change, but not go.
 * 6. The number of pods that an admitted Job may have at once does not grow, because quota was reserved for so many. Suspended, it may:
 *    the Job is then admitted anew. What one pod requests the API server keeps as it is until the Job is suspended and at rest.
 * 7. Priority and cluster wishes must be readable, if they are changed.
 */
export function validateJob(change: JobChange): FieldProblem[] {
  if (change.byManager || isCopy(change.job)) return []; // 1
  if (change.operation === 'CREATE') return queueNameOf(change.job) === undefined ? [] : creationProblems(change.job); // 2
  const { job, oldJob } = change;
  if (oldJob.spec.managedBy !== MANAGER_CONTROLLER_NAME) return adoptionProblems(job, oldJob); // 3
  return [...recordProblems(job, oldJob), ...queueProblems(job, oldJob), ...growthProblems(job, oldJob), ...wishProblems(job, oldJob)]; // 4, 5, 6, 7
}

/** A mirrored copy on a cluster that is its own worker. A Job of the manager that merely wears the label is no copy. */
export const isCopy = ({ metadata, spec }: DeepReadonly<Job>): boolean =>
  metadata.labels?.[ORIGIN_LABEL] !== undefined && spec.managedBy !== MANAGER_CONTROLLER_NAME;

function creationProblems(job: DeepReadonly<Job>): FieldProblem[] {
  const problems = preparationProblems(job);
  // The mutating webhook sees to both; they can only differ when it was passed by or another webhook undid its work.
  if ((job.spec.managedBy ?? BUILT_IN_JOB_CONTROLLER_NAME) === BUILT_IN_JOB_CONTROLLER_NAME) {
    problems.push({ field: 'spec.managedBy', problem: `must be ${MANAGER_CONTROLLER_NAME} for a Job with the label ${QUEUE_NAME_LABEL}` });
  }
  if (job.spec.suspend !== true) problems.push({ field: 'spec.suspend', problem: 'must be true: the Job is released when it is admitted' });
  return problems;
}

function adoptionProblems(job: DeepReadonly<Job>, oldJob: DeepReadonly<Job>): FieldProblem[] {
  if (queueNameOf(job) === undefined || queueNameOf(oldJob) !== undefined) return [];
  return [
    {
      field: QUEUE_FIELD,
      problem: 'cannot be added to a Job that exists, because spec.managedBy is immutable; delete the Job and create it with the label',
    },
  ];
}

function recordProblems(job: DeepReadonly<Job>, oldJob: DeepReadonly<Job>): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (job.metadata.annotations?.[ADMISSION_ANNOTATION] !== oldJob.metadata.annotations?.[ADMISSION_ANNOTATION]) {
    problems.push({ field: `metadata.annotations[${ADMISSION_ANNOTATION}]`, problem: 'is written by the manager only' });
  }
  if (oldJob.spec.suspend === true && job.spec.suspend !== true) {
    problems.push({ field: 'spec.suspend', problem: 'is set to false by the manager when the Job is admitted; leave it true' });
  }
  return problems;
}

function queueProblems(job: DeepReadonly<Job>, oldJob: DeepReadonly<Job>): FieldProblem[] {
  const queue = queueNameOf(job);
  const before = queueNameOf(oldJob);
  if (queue === before) return [];
  if (activeAdmission(oldJob) !== undefined) {
    return [{ field: QUEUE_FIELD, problem: `cannot be changed while the Job is admitted; it is ${JSON.stringify(before)}` }];
  }
  return queue === undefined ? [{ field: QUEUE_FIELD, problem: 'cannot be removed: without a queue the Job would wait for ever' }] : [];
}

function growthProblems(job: DeepReadonly<Job>, oldJob: DeepReadonly<Job>): FieldProblem[] {
  const pods = podsAtOnce(job);
  const before = podsAtOnce(oldJob);
  if (activeAdmission(oldJob) === undefined || job.spec.suspend === true || pods <= before) return [];
  return [
    {
      field: 'spec.parallelism',
      problem: `cannot grow from ${before} to ${pods} pods while the Job is admitted, because quota was reserved for ${before}; set spec.suspend to true with it, and the Job is admitted anew`,
    },
  ];
}

function wishProblems(job: DeepReadonly<Job>, oldJob: DeepReadonly<Job>): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [annotation, wish] of [
    [PRIORITY_ANNOTATION, priorityOf(job)],
    [CLUSTERS_ANNOTATION, clusterWishOf(job)],
  ] as const) {
    const changed = job.metadata.annotations?.[annotation] !== oldJob.metadata.annotations?.[annotation];
    if (changed && wish.kind === 'Invalid') problems.push({ field: `metadata.annotations[${annotation}]`, problem: wish.problem });
  }
  return problems;
}

const QUEUE_FIELD = `metadata.labels[${QUEUE_NAME_LABEL}]`;
