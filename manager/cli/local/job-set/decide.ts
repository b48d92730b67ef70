import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { DeepReadonly, Job, JobCondition, Unsaved } from '../../../../shared/api/kubernetes.ts';
import { WORKER_CONTROLLER_NAME } from '../../../../shared/api/names.ts';
import { toWireTime } from '../../../../shared/api/wire-time.ts';
import { finishedCondition, hasTrueCondition } from '../../../../shared/kube/conditions.ts';
import { omitUndefined } from '../../../../shared/runtime/omit-undefined.ts';
import {
  JOB_SET_API_VERSION,
  JOB_SETS,
  type JobSet,
  type JobSetStatus,
  type ReplicatedJob,
  type ReplicatedJobStatus,
} from './definition.ts';

/** The operator's own name in `spec.managedBy`. */
const JOB_SET_CONTROLLER = 'jobset.sigs.k8s.io/jobset-controller';
const LABELS = 'jobset.sigs.k8s.io';

/** What the operator of JobSets writes next; all empty where nothing is to be done. */
export type JobSetDecision = {
  readonly create: readonly Unsaved<Job>[];
  /**
   * Child Jobs whose `spec.suspend` becomes that of the JobSet. One that still says that it is Suspended is not suspended again: its
   * controller may be about to resume it, and what it says would be of the time before.
   */
  readonly suspend: readonly { readonly child: DeepReadonly<Job>; readonly value: boolean }[];
  readonly remove: readonly DeepReadonly<Job>[];
  readonly status?: JobSetStatus;
};

const NOTHING: JobSetDecision = { create: [], suspend: [], remove: [] };

/**
 * The operator's step for a JobSet with these child Jobs, after the documentation of JobSet: every replica of a replicated job is a child
 * Job, suspended with the JobSet; one that fails ends the JobSet, for nothing is restarted; all that complete complete it. A JobSet is
 * Suspended once every child that has not ended says so itself.
 */
export function decideJobSet(jobSet: DeepReadonly<JobSet>, children: readonly DeepReadonly<Job>[], nowMs: number): JobSetDecision {
  const { managedBy = JOB_SET_CONTROLLER } = jobSet.spec;
  if (managedBy !== JOB_SET_CONTROLLER || jobSet.metadata.deletionTimestamp !== undefined) return NOTHING;
  const unfinished = children.filter(({ status, metadata }) => finishedCondition(status) === undefined && !metadata.deletionTimestamp);
  if (jobSet.status?.terminalState !== undefined) return { ...NOTHING, remove: unfinished };

  const wanted = childJobs(jobSet);
  const present = new Map(children.map((child) => [child.metadata.name, child]));
  const inPlace = wanted.flatMap(({ metadata }) => present.get(metadata.name ?? '') ?? []);
  return {
    create: wanted.filter(({ metadata }) => !present.has(metadata.name ?? '')),
    suspend: unfinished
      .filter((child) => isSuspended(child) !== isSuspended(jobSet) && (!isSuspended(jobSet) || !saysSuspended(child)))
      .map((child) => ({ child, value: isSuspended(jobSet) })),
    remove: [],
    ...omitUndefined({ status: changedStatus(jobSet, inPlace, wanted.length, nowMs) }),
  };
}

const isSuspended = ({ spec: { suspend = false } }: DeepReadonly<Pick<JobSet, 'spec'> | Pick<Job, 'spec'>>): boolean => suspend;

/** All child Jobs, in the order of the replicated jobs. */
function childJobs(jobSet: DeepReadonly<JobSet>): Unsaved<Job>[] {
  const replicated = jobSet.spec.replicatedJobs ?? [];
  return replicated.flatMap((one, at) => {
    const before = replicated.slice(0, at).reduce((sum, each) => sum + replicasOf(each), 0);
    return Array.from({ length: replicasOf(one) }, (_, index) => childJob(jobSet, one, index, before + index));
  });
}

const replicasOf = ({ replicas = 1 }: DeepReadonly<ReplicatedJob>): number => replicas;

function childJob(jobSet: DeepReadonly<JobSet>, replicated: DeepReadonly<ReplicatedJob>, index: number, globalIndex: number): Unsaved<Job> {
  const { namespace, name: owner, uid } = jobSet.metadata;
  const name = `${owner}-${replicated.name}-${index}`;
  const labels = {
    [`${LABELS}/jobset-name`]: owner,
    [`${LABELS}/jobset-uid`]: uid,
    [`${LABELS}/replicatedjob-name`]: replicated.name,
    [`${LABELS}/replicatedjob-replicas`]: `${replicasOf(replicated)}`,
    [`${LABELS}/job-index`]: `${index}`,
    [`${LABELS}/job-global-index`]: `${globalIndex}`,
    // JobSet's own controller takes SHA-1; only the length matters to who reads the label.
    [`${LABELS}/job-key`]: createHash('sha256').update(`${namespace}/${name}`).digest('hex').slice(0, 40),
    [`${LABELS}/restart-attempt`]: '0',
  };
  // The schema of the definition lets any template in: the API server judges the Job that is made of it.
  const { metadata, spec } = structuredClone(replicated.template) as ReplicatedJob['template'];
  const { metadata: ofPods } = spec.template;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      namespace,
      name,
      labels: { ...metadata?.labels, ...labels },
      annotations: { ...metadata?.annotations },
      ownerReferences: [
        { apiVersion: JOB_SET_API_VERSION, kind: JOB_SETS.kind, name: owner, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: {
      managedBy: WORKER_CONTROLLER_NAME,
      ...spec,
      suspend: isSuspended(jobSet),
      template: { ...spec.template, metadata: { ...ofPods, labels: { ...ofPods?.labels, ...labels } } },
    },
  };
}

/** The whole status, if it is another than the present one. */
function changedStatus(
  jobSet: DeepReadonly<JobSet>,
  children: readonly DeepReadonly<Job>[],
  wanted: number,
  nowMs: number,
): JobSetStatus | undefined {
  const replicatedJobsStatus = (jobSet.spec.replicatedJobs ?? []).map(({ name }) =>
    countsOf(
      name,
      children.filter(({ metadata }) => metadata.labels?.[`${LABELS}/replicatedjob-name`] === name),
    ),
  );
  const outcome = outcomeOf(children, wanted);
  const changes = [suspension(jobSet, children, wanted), outcome].flatMap((change) => change ?? []);
  const present = structuredClone(jobSet.status ?? {}) as JobSetStatus;
  const status = {
    ...present,
    conditions: changes.reduce((all, change) => withCondition(all, change, nowMs), present.conditions ?? []),
    replicatedJobsStatus,
    ...(outcome === undefined ? {} : { terminalState: outcome.type }),
  };
  return isDeepStrictEqual(status, { conditions: [], ...present }) ? undefined : status;
}

type Change<T extends string = string> = {
  readonly type: T;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
};

function outcomeOf(children: readonly DeepReadonly<Job>[], wanted: number): Change<'Completed' | 'Failed'> | undefined {
  const failed = children.find(({ status }) => hasTrueCondition(status?.conditions, 'Failed'));
  if (failed !== undefined) {
    const message = `jobset failed due to one or more job failures (first failed job: ${failed.metadata.name})`;
    return { type: 'Failed', status: 'True', reason: 'FailedJobs', message };
  }
  const complete = children.filter(({ status }) => hasTrueCondition(status?.conditions, 'Complete'));
  if (complete.length < wanted) return undefined;
  return { type: 'Completed', status: 'True', reason: 'AllJobsCompleted', message: 'jobset completed successfully' };
}

function suspension(jobSet: DeepReadonly<JobSet>, children: readonly DeepReadonly<Job>[], wanted: number): Change<'Suspended'> | undefined {
  if (!isSuspended(jobSet)) {
    const was = hasTrueCondition(jobSet.status?.conditions, 'Suspended');
    return was ? { type: 'Suspended', status: 'False', reason: 'ResumeJobs', message: 'jobset is resumed' } : undefined;
  }
  const resting = children.filter((child) => finishedCondition(child.status) !== undefined || isAtRest(child));
  if (resting.length < wanted) return undefined;
  return { type: 'Suspended', status: 'True', reason: 'SuspendedJobs', message: 'jobset is suspended' };
}

const saysSuspended = ({ status }: DeepReadonly<Job>): boolean => hasTrueCondition(status?.conditions, 'Suspended');

/** The Job controller has seen the suspension, and no pod of the Job runs. */
const isAtRest = (child: DeepReadonly<Job>): boolean => isSuspended(child) && saysSuspended(child) && (child.status?.active ?? 0) === 0;

function countsOf(name: string, children: readonly DeepReadonly<Job>[]): ReplicatedJobStatus {
  const number = (matches: (child: DeepReadonly<Job>) => boolean): number => children.filter(matches).length;
  const hasEnded = (child: DeepReadonly<Job>): boolean => finishedCondition(child.status) !== undefined;
  return {
    name,
    active: number((child) => !hasEnded(child) && (child.status?.active ?? 0) > 0),
    failed: number(({ status }) => hasTrueCondition(status?.conditions, 'Failed')),
    ready: number((child) => !hasEnded(child) && (child.status?.ready ?? 0) + (child.status?.succeeded ?? 0) >= podsOf(child)),
    succeeded: number(({ status }) => hasTrueCondition(status?.conditions, 'Complete')),
    suspended: number((child) => !hasEnded(child) && isSuspended(child)),
  };
}

function podsOf({
  spec: { parallelism = 1, completions = parallelism },
}: {
  readonly spec: { readonly parallelism?: number; readonly completions?: number };
}): number {
  return Math.min(parallelism, completions);
}

function withCondition(conditions: readonly JobCondition[], change: Change, nowMs: number): JobCondition[] {
  const present = conditions.find(({ type }) => type === change.type);
  const lastTransitionTime = present?.status === change.status ? (present.lastTransitionTime ?? toWireTime(nowMs)) : toWireTime(nowMs);
  const next = { ...change, lastTransitionTime };
  return present === undefined ? [...conditions, next] : conditions.map((each) => (each === present ? next : each));
}
