import { hash } from 'node:crypto';
import type { Container, DeepReadonly, Job, JobSpec, PodSpec, Unsaved } from '../../shared/api/kubernetes.ts';
import {
  ACTS_ANNOTATION,
  ADMISSION_ANNOTATION,
  CANARY_LABEL,
  CLUSTERS_ANNOTATION,
  CREATED_BY_ANNOTATION,
  FENCING_ANNOTATION,
  HOLD_ANNOTATION,
  LAST_FAILURE_ANNOTATION,
  MAX_EXEC_TIME_LABEL,
  MIN_PARALLELISM_ANNOTATION,
  ORIGIN_LABEL,
  POD_FENCE_ANNOTATION,
  PRIORITY_ANNOTATION,
  PRIORITY_CLASS_LABEL,
  QUEUE_NAME_LABEL,
  START_TIMEOUT_ANNOTATION,
  SUBMISSION_ANNOTATION,
  SUBMISSION_SEAL_ANNOTATION,
  SUBMISSION_ATTEMPT_ANNOTATION,
  SUBMISSION_PAYLOAD_ANNOTATION,
  SUBMISSION_TENANT_ANNOTATION,
  SUBMITTED_AT_ANNOTATION,
  SUBMITTED_BY_ANNOTATION,
  TRACE_ID_ANNOTATION,
  TRACEPARENT_ANNOTATION,
} from '../../shared/api/names.ts';
import { controllerOf } from '../../shared/kube/controller-of.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { FieldProblem } from './field-problem.ts';
import { podFenceProblem } from './pod-fence.ts';

const COMPACT = Symbol('compact');

/** What is kept of a Job that nothing is made from. It says so, wherever it goes: no copy may be made of it. */
export type CompactJob = Job & { readonly [COMPACT]: Compactness };
type Compactness = { readonly problem: string | undefined; readonly program: string; readonly podFence: FieldProblem | undefined };

export type CompactOptions = {
  /** Why the Job is not taken; even less of it is kept then. */
  readonly problem?: string;
  /** How many labels that are not ours are kept, the first by name; absent: none. */
  readonly usersLabelsMax?: number;
};

/** A Job without what its pods are made of: all that admission, the reporters and the rules that hold a Job back look at. */
export function compactJob(job: Job, { problem, usersLabelsMax = 0 }: CompactOptions = {}): CompactJob {
  const { apiVersion: _apiVersion, kind: _kind, metadata, status } = job;
  const { name, namespace, uid, resourceVersion, creationTimestamp, generateName, generation, deletionTimestamp, finalizers } = metadata;
  const controller = controllerOf(job);
  const ownerReferences = controller && [controller];
  const identity = {
    name,
    namespace,
    uid,
    resourceVersion,
    creationTimestamp,
    ...omitUndefined({ generateName, generation, deletionTimestamp, finalizers, ownerReferences }),
  };
  const essentials =
    problem === undefined
      ? { ...essentialsOf(job), metadata: wordsOfOurs(metadata, [...ANNOTATIONS, ...TOLD_ANNOTATIONS]) }
      : { metadata: wordsOfOurs(metadata, [...REFUSED_ANNOTATIONS, ACTS_ANNOTATION]), spec: { ...scalarsOf(job.spec), template: {} } };
  const labels =
    usersLabelsMax === 0 ? essentials.metadata.labels : { ...firstByName(metadata.labels, usersLabelsMax), ...essentials.metadata.labels };
  return {
    metadata: { ...identity, ...essentials.metadata, ...omitUndefined({ labels }) },
    spec: essentials.spec,
    ...omitUndefined({ status }),
    [COMPACT]: { problem, program: programOf(job), podFence: podFenceProblemOf(job) },
  };
}

/** Whether parts of the Job are missing. */
export const isCompact = (job: DeepReadonly<Unsaved<Job>>): job is DeepReadonly<CompactJob> => COMPACT in job;

/** Why the Job is not taken, as its cache has found out; undefined when nothing is wrong with it. */
export const compactProblem = (job: DeepReadonly<Job>): string | undefined => (isCompact(job) ? job[COMPACT].problem : undefined);

/** Why its pods cannot have a pod fence; undefined: they can. The same for a Job of which all is known and for a compact one. */
export const podFenceProblemOf = (job: DeepReadonly<Unsaved<Job>>): FieldProblem | undefined =>
  isCompact(job) ? job[COMPACT].podFence : podFenceProblem(job);

/** A digest of what the pods of a Job are, whatever they are told to do. The same for a Job of which all is known and for a compact one. */
export function programOf(job: DeepReadonly<Job>): string {
  if (isCompact(job)) return job[COMPACT].program;
  const { initContainers = [], containers = [], ...pod } = job.spec.template.spec ?? {};
  return hash('sha256', JSON.stringify([pod, [...initContainers, ...(containers ?? [])].map(withoutOrders)]), 'base64url').slice(0, 12);
}

const withoutOrders = ({ command: _command, args: _args, env: _env, envFrom: _envFrom, ...container }: DeepReadonly<Container>): object =>
  container;

/** What decisions look at, apart from the identity of the Job and its status. */
export function essentialsOf({ metadata, spec }: DeepReadonly<Unsaved<Job>>): Pick<Job, 'spec'> & { metadata: Words } {
  const pod = spec.template.spec;
  return {
    metadata: wordsOfOurs(metadata, ANNOTATIONS),
    spec: { ...scalarsOf(spec), template: pod === undefined ? {} : { spec: essentialsOfPod(pod) } },
  };
}

type Words = Pick<Job['metadata'], 'labels' | 'annotations'>;

const LABELS = [QUEUE_NAME_LABEL, CANARY_LABEL, ORIGIN_LABEL, PRIORITY_CLASS_LABEL, MAX_EXEC_TIME_LABEL];
const REFUSED_ANNOTATIONS = [
  SUBMISSION_ANNOTATION,
  SUBMITTED_AT_ANNOTATION,
  SUBMISSION_TENANT_ANNOTATION,
  SUBMISSION_PAYLOAD_ANNOTATION,
  SUBMISSION_ATTEMPT_ANNOTATION,
  SUBMISSION_SEAL_ANNOTATION,
];
/** What nothing is decided by, and people are told. */
const TOLD_ANNOTATIONS = [ACTS_ANNOTATION, LAST_FAILURE_ANNOTATION, CREATED_BY_ANNOTATION, SUBMITTED_BY_ANNOTATION, TRACE_ID_ANNOTATION];
const ANNOTATIONS = [
  ...REFUSED_ANNOTATIONS,
  ADMISSION_ANNOTATION,
  CLUSTERS_ANNOTATION,
  FENCING_ANNOTATION,
  HOLD_ANNOTATION,
  MIN_PARALLELISM_ANNOTATION,
  POD_FENCE_ANNOTATION,
  PRIORITY_ANNOTATION,
  START_TIMEOUT_ANNOTATION,
  TRACEPARENT_ANNOTATION,
];

const wordsOfOurs = ({ labels, annotations }: DeepReadonly<Words>, kept: readonly string[]): Words =>
  omitUndefined({ labels: only(labels, LABELS), annotations: only(annotations, kept) });

function only(map: Readonly<Record<string, string>> | undefined, keys: readonly string[]): Record<string, string> | undefined {
  const found = keys.flatMap((key): [string, string][] => (map?.[key] === undefined ? [] : [[key, map[key]]]));
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

const firstByName = (map: Readonly<Record<string, string>> = {}, most: number): Record<string, string> =>
  Object.fromEntries(
    Object.entries(map)
      .filter(([name]) => !LABELS.includes(name))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, most),
  );

/** Numbers, words and switches: parallelism, completions, completionMode, suspend, managedBy and the like. */
const scalarsOf = (spec: DeepReadonly<JobSpec>): Omit<JobSpec, 'template'> =>
  Object.fromEntries(Object.entries(spec).filter(([, value]) => typeof value !== 'object'));

function essentialsOfPod(pod: DeepReadonly<PodSpec>): PodSpec {
  const { nodeSelector, affinity, tolerations, priorityClassName, runtimeClassName, overhead, resources, resourceClaims } = pod as PodSpec;
  const initContainers = pod.initContainers?.map(essentialsOfContainer);
  return {
    containers: (pod.containers ?? []).map(essentialsOfContainer),
    ...omitUndefined({
      initContainers,
      nodeSelector,
      affinity,
      tolerations,
      priorityClassName,
      runtimeClassName,
      overhead,
      resources,
      resourceClaims,
    }),
  };
}

function essentialsOfContainer(container: DeepReadonly<Container>): Container {
  const { name, resources, restartPolicy } = container as Container;
  return { name, ...omitUndefined({ resources, restartPolicy }) };
}
