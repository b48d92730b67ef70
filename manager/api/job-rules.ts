import type { DeepReadonly, Job, Unsaved } from '../../shared/api/kubernetes.ts';
import type { FieldProblem } from './field-problem.ts';
import { sizeProblems } from './job-size.ts';
import { podsAtOnce } from './pod-count.ts';

/** What an administrator lets a Job be: flags of the manager. */
export type JobRules = {
  /** Size as JSON, without managedFields and status. */
  readonly bytesMax: number;
};

export const DEFAULT_JOB_RULES: JobRules = { bytesMax: 256 * 1024 };

/** Upstream's bound for Indexed Jobs, here for all: Kubernetes is not made for clusters of many more pods. */
export const PODS_AT_ONCE_MAX = 100_000;

/** Why a Job is not taken, whatever quota there is. */
export const ruleProblems = (job: DeepReadonly<Unsaved<Job>>, { bytesMax }: JobRules): FieldProblem[] => [
  ...sizeProblems(job, bytesMax),
  ...podCountProblems(job),
];

function podCountProblems(job: DeepReadonly<Pick<Job, 'spec'>>): FieldProblem[] {
  const pods = podsAtOnce(job);
  if (pods <= PODS_AT_ONCE_MAX) return [];
  return [
    { field: 'spec.parallelism', problem: `asks for ${pods} pods at once, and at most ${PODS_AT_ONCE_MAX} are taken; split the Job` },
  ];
}
