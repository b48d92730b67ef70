import type { DeepReadonly, Job, KubeObject } from '../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME } from '../../shared/api/names.ts';
import { NAMESPACES, type Resource } from '../../shared/api/resources.ts';
import { isFinished } from '../../shared/kube/conditions.ts';
import { createInformer, type Informer } from '../../shared/kube/informer.ts';
import type { ReflectorOptions } from '../../shared/kube/reflector-options.ts';
import type { RevisionTracker } from '../../shared/kube/revision-tracker.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { AdmissionInformers } from '../admission/controllers/setup-watcher.ts';
import { CLUSTER_QUEUES } from '../api/cluster-queue.ts';
import { COHORTS } from '../api/cohort.ts';
import { formatProblems } from '../api/field-problem.ts';
import type { JobRules } from '../api/job-rules.ts';
import { LIMIT_RANGES } from '../api/limit-range.ts';
import { RUNTIME_CLASSES } from '../api/runtime-class.ts';
import { LOCAL_QUEUES } from '../api/local-queue.ts';
import { PRIORITY_CLASSES } from '../api/priority-class.ts';
import { SUBMISSION_QUEUES, type SubmissionQueueObject } from '../api/submission-queue.ts';
import { RESOURCE_FLAVORS } from '../api/resource-flavor.ts';
import { WORKER_CLUSTERS } from '../api/worker-cluster.ts';
import { WORKLOAD_PRIORITY_CLASSES } from '../api/workload-priority-class.ts';
import { createInformerOfKinds } from '../work-kind/informer-of-kinds.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

/** Caches of all objects that the manager reads on its own cluster. Nothing starts before they run. */
export type HomeInformersOptions = Pick<ReflectorOptions<Job>, 'client' | 'clock' | 'random' | 'log' | 'onRestart'> & {
  readonly kind: WorkKind<Job>;
  readonly rules: JobRules;
  /** User labels that are cached of a Job that waits or has ended; absent: none. */
  readonly usersLabelsMax?: number;
  /** Whether admission has admitted this Job. */
  readonly isAdmitted: (job: DeepReadonly<Job>) => boolean;
  /** The manager cluster was restored: cached state may not have happened there. */
  readonly onWentBack: (error: Error) => void;
  /** The revision tracker of the manager cluster. */
  readonly course: RevisionTracker;
};

export type HomeInformers = Required<Omit<AdmissionInformers, 'jobs'>> & {
  readonly jobs: Informer<Job>;
  readonly submissionQueues: Informer<SubmissionQueueObject>;
};

export function createHomeInformers(options: HomeInformersOptions): HomeInformers {
  const { kind, client, clock, random, log, onWentBack, course, onRestart } = options;
  const common = { client, clock, random, log, onWentBack, course, ...omitUndefined({ onRestart }) };
  const of = <T extends KubeObject>(resource: Resource<T>): Informer<T> => createInformer({ ...common, resource });
  return {
    jobs: createInformerOfKinds(kind, ({ resource }) =>
      createInformer({ ...common, resource, transform: (job) => cachedJob(job, options) }),
    ),
    namespaces: of(NAMESPACES),
    workerClusters: of(WORKER_CLUSTERS),
    resourceFlavors: of(RESOURCE_FLAVORS),
    clusterQueues: of(CLUSTER_QUEUES),
    localQueues: of(LOCAL_QUEUES),
    cohorts: of(COHORTS),
    workloadPriorityClasses: of(WORKLOAD_PRIORITY_CLASSES),
    priorityClasses: of(PRIORITY_CLASSES),
    limitRanges: of(LIMIT_RANGES),
    runtimeClasses: of(RUNTIME_CLASSES),
    submissionQueues: of(SUBMISSION_QUEUES),
  };
}

/**
 * The part of a Job that is cached. In order:
 *
 * 1. Of a Job with another controller only its identity.
 * 2. Of an admitted, unfinished Job everything: its copy is created from it.
 * 3. Of any other Job the fields that decisions read: of waiting and finished ones, and the least of refused ones.
 */
export function cachedJob(
  job: Job,
  { kind, rules, isAdmitted, usersLabelsMax }: Pick<HomeInformersOptions, 'kind' | 'rules' | 'isAdmitted' | 'usersLabelsMax'>,
): Job {
  if (kind.controllerOf(job) !== MANAGER_CONTROLLER_NAME) return kind.cache.identity(job); // 1
  const labels = omitUndefined({ usersLabelsMax });
  if (isFinished(job.status)) return kind.cache.compact(job, labels); // 3
  if (isAdmitted(job)) {
    return kind.cache.whole(job); // 2
  }
  const problems = kind.ruleProblems(job, rules);
  return kind.cache.compact(job, problems.length === 0 ? labels : { ...labels, problem: formatProblems(problems) }); // 3
}
