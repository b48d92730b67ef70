import { hash } from 'node:crypto';
import type { DeepReadonly, Job, JobSpec, PodSpec, Unsaved } from '../../../shared/api/kubernetes.ts';
import {
  ACTS_ANNOTATION,
  ADMISSION_ANNOTATION,
  CANARY_LABEL,
  CARRIED_CONTENT_ANNOTATION,
  CARRY_ANNOTATION,
  CLUSTERS_ANNOTATION,
  CREATED_BY_ANNOTATION,
  DATA_ANNOTATION,
  FENCING_ANNOTATION,
  HOLD_ANNOTATION,
  LAST_FAILURE_ANNOTATION,
  MAX_EXEC_TIME_LABEL,
  MIN_PARALLELISM_ANNOTATION,
  MIN_READY_PODS_ANNOTATION,
  ORIGIN_LABEL,
  POD_FENCE_ANNOTATION,
  PRIORITY_ANNOTATION,
  PRIORITY_CLASS_LABEL,
  QUEUE_NAME_LABEL,
  RECOVERY_TIMEOUT_ANNOTATION,
  REQUESTS_ANNOTATION,
  SHORT_OF_ANNOTATION,
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
} from '../../../shared/api/names.ts';
import { controllerOf } from '../../../shared/kube/controller-of.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { FieldProblem } from '../../api/field-problem.ts';
import { type NeededObject, neededObjects } from '../../api/needed-objects.ts';
import { submittedNames, withAttached } from '../../api/attachments.ts';
import { podReferences, type PodReference, withReferences } from '../../api/pod-references.ts';
import { essentialsOfPod, withoutCommands } from '../copy/pod-essentials.ts';
import { podFenceProblem } from './pod-fence-problem.ts';

const COMPACT = Symbol('compact');

/** The part of a Job that the cache keeps. The type is marked, because no copy may be created from it. */
export type CompactJob = Job & { readonly [COMPACT]: Compactness };
type Compactness = {
  readonly problem: string | undefined;
  readonly program: string;
  readonly podFence: FieldProblem | undefined;
  readonly references: readonly PodReference[];
  readonly needs: readonly NeededObject[];
};

export type CompactOptions = {
  /** Why the Job is refused; a refused Job keeps even less. */
  readonly problem?: string;
  /** The number of user labels that are kept, the first by name; absent: none. */
  readonly usersLabelsMax?: number;
};

/** A Job without most of its pod template: all that admission, the reporters and the rules of Jobs read. */
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
      ? { ...essentialsOf(job), metadata: ownLabelsAndAnnotations(metadata, [...ANNOTATIONS, ...SHOWN_ANNOTATIONS]) }
      : {
          metadata: ownLabelsAndAnnotations(metadata, [...REFUSED_ANNOTATIONS, ACTS_ANNOTATION]),
          spec: { ...scalarsOf(job.spec), template: {} },
        };
  const labels =
    usersLabelsMax === 0 ? essentials.metadata.labels : { ...firstByName(metadata.labels, usersLabelsMax), ...essentials.metadata.labels };
  return {
    metadata: { ...identity, ...essentials.metadata, ...omitUndefined({ labels }) },
    spec: essentials.spec,
    ...omitUndefined({ status }),
    [COMPACT]: {
      problem,
      program: programOf(job),
      podFence: podFenceProblemOf(job),
      references: referencesOfJob(job),
      needs: needsOfJob(job),
    },
  };
}

/** Whether parts of the Job are missing. */
export const isCompact = (job: DeepReadonly<Unsaved<Job>>): job is DeepReadonly<CompactJob> => COMPACT in job;

/** Why the Job is refused, as found when it was cached; undefined when it is accepted. */
export const compactProblem = (job: DeepReadonly<Job>): string | undefined => (isCompact(job) ? job[COMPACT].problem : undefined);

/** Why its pods cannot have a pod fence; undefined: they can. The result is the same for a full Job and its compact form. */
export const podFenceProblemOf = (job: DeepReadonly<Unsaved<Job>>): FieldProblem | undefined =>
  isCompact(job) ? job[COMPACT].podFence : podFenceProblem(job);

/** The ConfigMaps and Secrets that its pods refer to. The result is the same for a full Job and its compact form. */
export function referencesOfJob(job: DeepReadonly<Unsaved<Job>>): readonly PodReference[] {
  if (isCompact(job)) return job[COMPACT].references;
  const references = withAttached(podReferences(job.spec.template.spec), job.metadata);
  return references.length === 0 ? NO_REFERENCES : references;
}
const NO_REFERENCES: readonly PodReference[] = [];

/** The objects that its pods need and that never travel with it. The result is the same for a full Job and its compact form. */
export function needsOfJob(job: DeepReadonly<Unsaved<Job>>): readonly NeededObject[] {
  if (isCompact(job)) return job[COMPACT].needs;
  const needs = neededObjects(job.spec.template.spec);
  return needs.length === 0 ? NO_NEEDS : needs;
}
const NO_NEEDS: readonly NeededObject[] = [];

/**
 * A digest of the pods of a Job, without their commands, arguments and environment. The result is the same for a full Job and its compact
 * form.
 */
export function programOf(job: DeepReadonly<Job>): string {
  if (isCompact(job)) return job[COMPACT].program;
  // Each submission has names of its own for its attachments.
  const given = submittedNames(job.metadata);
  const spec: DeepReadonly<Partial<PodSpec>> = job.spec.template.spec ?? {};
  const {
    initContainers = [],
    containers = [],
    ...pod
  } = given === undefined ? spec : withReferences(spec as DeepReadonly<PodSpec>, given);
  return hash('sha256', JSON.stringify([pod, [...initContainers, ...(containers ?? [])].map(withoutCommands)]), 'base64url').slice(0, 12);
}

/** The fields that decisions read, besides the identity and the status of the Job. */
export function essentialsOf({ metadata, spec }: DeepReadonly<Unsaved<Job>>): Pick<Job, 'spec'> & { metadata: LabelsAndAnnotations } {
  const pod = spec.template.spec;
  return {
    metadata: ownLabelsAndAnnotations(metadata, ANNOTATIONS),
    spec: { ...scalarsOf(spec), template: pod === undefined ? {} : { spec: essentialsOfPod(pod) } },
  };
}

type LabelsAndAnnotations = Pick<Job['metadata'], 'labels' | 'annotations'>;

const LABELS = [QUEUE_NAME_LABEL, CANARY_LABEL, ORIGIN_LABEL, PRIORITY_CLASS_LABEL, MAX_EXEC_TIME_LABEL];
const REFUSED_ANNOTATIONS = [
  SUBMISSION_ANNOTATION,
  SUBMITTED_AT_ANNOTATION,
  SUBMISSION_TENANT_ANNOTATION,
  SUBMISSION_PAYLOAD_ANNOTATION,
  SUBMISSION_ATTEMPT_ANNOTATION,
  SUBMISSION_SEAL_ANNOTATION,
];
/** Annotations that are shown to users, and that no decision reads. */
const SHOWN_ANNOTATIONS = [
  ACTS_ANNOTATION,
  CREATED_BY_ANNOTATION,
  LAST_FAILURE_ANNOTATION,
  SHORT_OF_ANNOTATION,
  SUBMITTED_BY_ANNOTATION,
  TRACE_ID_ANNOTATION,
];
const ANNOTATIONS = [
  ...REFUSED_ANNOTATIONS,
  ADMISSION_ANNOTATION,
  CARRIED_CONTENT_ANNOTATION,
  CARRY_ANNOTATION,
  CLUSTERS_ANNOTATION,
  DATA_ANNOTATION,
  FENCING_ANNOTATION,
  HOLD_ANNOTATION,
  MIN_PARALLELISM_ANNOTATION,
  MIN_READY_PODS_ANNOTATION,
  POD_FENCE_ANNOTATION,
  PRIORITY_ANNOTATION,
  RECOVERY_TIMEOUT_ANNOTATION,
  REQUESTS_ANNOTATION,
  START_TIMEOUT_ANNOTATION,
  TRACEPARENT_ANNOTATION,
];

const ownLabelsAndAnnotations = (
  { labels, annotations }: DeepReadonly<LabelsAndAnnotations>,
  kept: readonly string[],
): LabelsAndAnnotations => omitUndefined({ labels: only(labels, LABELS), annotations: only(annotations, kept) });

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

/** Scalar fields: parallelism, completions, completionMode, suspend, managedBy and others. */
const scalarsOf = (spec: DeepReadonly<JobSpec>): Omit<JobSpec, 'template'> =>
  Object.fromEntries(Object.entries(spec).filter(([, value]) => typeof value !== 'object'));
