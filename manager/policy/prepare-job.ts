import type { DeepReadonly, Job, Unsaved, WorkObject } from '../../shared/api/kubernetes.ts';
import {
  BUILT_IN_JOB_CONTROLLER_NAME,
  KUEUE_MAX_EXEC_TIME_LABEL,
  KUEUE_MIN_PARALLELISM_ANNOTATION,
  KUEUE_QUEUE_NAME_LABEL,
  MANAGER_CONTROLLER_NAME,
  MAX_EXEC_TIME_LABEL,
  MIN_PARALLELISM_ANNOTATION,
  QUEUE_NAME_LABEL,
  SUBMISSION_ANNOTATION,
  SUBMISSION_ATTEMPT_ANNOTATION,
  SUBMISSION_PAYLOAD_ANNOTATION,
  SUBMISSION_TENANT_ANNOTATION,
  SUBMITTED_AT_ANNOTATION,
  SUBMITTED_BY_ANNOTATION,
} from '../../shared/api/names.ts';
import { apiVersionOf, isOfKind } from '../../shared/api/resources.ts';
import type { FieldProblem } from '../api/field-problem.ts';
import { queueNameOf, unreadableWishes, wishesOf, type UnreadableWish } from '../api/job-annotations.ts';
import { DEFAULT_JOB_RULES, type JobRules } from '../api/job-rules.ts';
import { isJsonObject } from '../api/json-value.ts';
import { unmetPodFence } from '../api/unmet-wishes.ts';
import { parseQualifiedName, qualifiedName, qualifierOf } from '../work-kind/qualified-name.ts';
import type { SingleKind, WorkKind } from '../work-kind/work-kind.ts';
import { SWITCHYARDS_NAMES } from './job-parts.ts';
import { controllerWords, fieldOf, hasName, queueField, wordsOf } from './write-rule.ts';

/** A Job that is not stored yet. */
export type JobManifest<O extends WorkObject = Job> = Unsaved<O>;

export type Preparation<J> =
  | { readonly kind: 'Prepared'; readonly job: J }
  | { readonly kind: 'Refused'; readonly problems: readonly FieldProblem[] };

/**
 * Prepares a Job for the manager: suspended until its admission, and managed by the manager. `spec.managedBy` is immutable, so this must
 * happen before the Job exists; webhook and submission consumer share this function. The argument is not changed.
 */
export function prepareJob<J extends Unsaved<WorkObject>>(kind: WorkKind, given: J, rules: JobRules = DEFAULT_JOB_RULES): Preparation<J> {
  const job = withSwitchyardNames(given, rules);
  const problems = preparationProblems(kind, job);
  if (problems.length > 0) return { kind: 'Refused', problems };
  return { kind: 'Prepared', job: kind.prepared(job) };
}

/**
 * Translates the queue label of Kueue on a new Job, and its other settings in Kueue's names, to Switchyard's, where the administrator
 * allows it and Switchyard's are absent. From then on only Switchyard's count: Kueue's belong to the user, and may be on Jobs of other
 * controllers.
 */
export function withSwitchyardNames<J extends Unsaved<WorkObject>>(job: J, rules: JobRules): J {
  return namesFromKueue(job, rules).reduce(
    (all, { place, name, value }) => ({ ...all, metadata: { ...all.metadata, [place]: { ...all.metadata[place], [name]: value } } }),
    job,
  );
}

/** The names that such a Job gets. Where a name of Switchyard is absent, that of Kueue is there. */
export function namesFromKueue({ metadata }: DeepReadonly<Unsaved<WorkObject>>, { kueueQueueLabel }: JobRules): TranslatedName[] {
  const queue = metadata.labels?.[KUEUE_QUEUE_NAME_LABEL] ?? '';
  if (!kueueQueueLabel || queue === '' || metadata.labels?.[QUEUE_NAME_LABEL] !== undefined) return [];
  return KUEUE_NAMES.flatMap(({ place, kueues, ours }) => {
    const value = metadata[place]?.[ours] === undefined ? metadata[place]?.[kueues] : undefined;
    return value === undefined ? [] : [{ place, name: ours, value }];
  });
}

type TranslatedName = { readonly place: 'labels' | 'annotations'; readonly name: string; readonly value: string };
const KUEUE_NAMES: readonly { readonly place: TranslatedName['place']; readonly kueues: string; readonly ours: string }[] = [
  { place: 'labels', kueues: KUEUE_QUEUE_NAME_LABEL, ours: QUEUE_NAME_LABEL },
  { place: 'labels', kueues: KUEUE_MAX_EXEC_TIME_LABEL, ours: MAX_EXEC_TIME_LABEL },
  { place: 'annotations', kueues: KUEUE_MIN_PARALLELISM_ANNOTATION, ours: MIN_PARALLELISM_ANNOTATION },
];

/** Why the manager cannot run a Job. */
const preparationProblems = (kind: WorkKind, job: DeepReadonly<Unsaved<WorkObject>>): FieldProblem[] => [
  ...ownershipProblems(kind, job),
  ...wishProblems(kind, job),
];

/**
 * Checks that a submitted manifest of any shape is a Job, or an object of another kind that is taken, and may be created. Its name is the
 * one by which the manager knows it, qualified by `qualifier` (`qualified-name.ts`); one that its API server is to name has the qualifier
 * alone. Pass the result to {@link prepareJob}.
 */
export function readJobManifest<O extends WorkObject>(kind: WorkKind<O>, manifest: unknown): ReadManifest<O> {
  const found = kindOfManifest(kind, manifest);
  if ('problems' in found) return { kind: 'Refused', problems: found.problems };
  const problems = shapeProblems(found.kind, manifest);
  if (problems.length > 0 || !isJobManifest<O>(manifest)) return { kind: 'Refused', problems };
  const qualifier = qualifierOf(found.kind.resource);
  return { kind: 'Manifest', manifest: qualified(withoutServerFields(manifest), qualifier), qualifier };
}

export type ReadManifest<O extends WorkObject = Job> =
  | { readonly kind: 'Manifest'; readonly manifest: Unsaved<O>; readonly qualifier: string | undefined }
  | { readonly kind: 'Refused'; readonly problems: readonly FieldProblem[] };

const qualified = <O extends WorkObject>(manifest: Unsaved<O>, qualifier: string | undefined): Unsaved<O> =>
  qualifier === undefined
    ? manifest
    : { ...manifest, metadata: { ...manifest.metadata, name: qualifiedName(qualifier, manifest.metadata.name ?? '') } };

/** The kind that a manifest says it is of; that of Jobs where there is no other, or the manifest has no kind. */
function kindOfManifest(kind: WorkKind, manifest: unknown): { readonly kind: SingleKind } | { readonly problems: readonly FieldProblem[] } {
  const jobs = kind.of(undefined);
  if (kind.others.length === 0 || !isJsonObject(manifest)) return { kind: jobs };
  const { apiVersion, kind: word } = manifest;
  const kinds = [jobs, ...kind.others];
  // Of another version of a kind that is taken, the check of its shape says which one is.
  const found = kinds.find(({ resource }) => isOfKind(resource, manifest));
  if (found !== undefined) return { kind: found };
  const taken = kinds.map(({ resource }) => `${apiVersionOf(resource)} ${resource.kind}`).join(', ');
  const said = [apiVersion, word].map((each) => (typeof each === 'string' ? each.slice(0, 100) : 'none')).join(' ');
  return { problems: [{ field: 'apiVersion and kind', problem: `are ${JSON.stringify(said)}, and the manager takes ${taken}` }] };
}

function ownershipProblems(kind: WorkKind, job: DeepReadonly<Unsaved<WorkObject>>): FieldProblem[] {
  const problems = [...controllerProblems(kind, job), ...problemsOfNames(job)];
  if (queueNameOf(job) === undefined) {
    problems.push({
      field: queueField(),
      problem: 'is missing; set it to the name of a LocalQueue of the namespace',
    });
  }
  return problems;
}

/** Whether the Job names another controller than the manager. */
export function controllerProblems(kind: WorkKind, job: DeepReadonly<Unsaved<WorkObject>>): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const managedBy = kind.controllerOf(job);
  // The reserved name of the built-in controller means the same as no name (KEP-4368), so it may be replaced.
  if (managedBy !== undefined && managedBy !== MANAGER_CONTROLLER_NAME && managedBy !== BUILT_IN_JOB_CONTROLLER_NAME) {
    const words = wordsOf(kind.of(job.metadata.name));
    const { path, home } = controllerWords(words);
    problems.push({
      field: path,
      problem: `is ${JSON.stringify(managedBy)}, but any ${words.kind} with the label ${QUEUE_NAME_LABEL} is managed by ${home}; leave the field out`,
    });
  }
  return problems;
}

/** Names reserved for Switchyard in a new Job, except for those of submissions, which the consumer sets. */
const problemsOfNames = (job: DeepReadonly<Unsaved<WorkObject>>): FieldProblem[] =>
  SWITCHYARDS_NAMES.filter(({ place, name }) => !OF_THE_CONSUMER.includes(name) && hasName(job, place, name)).map(({ place, name }) => ({
    field: fieldOf(place, name),
    problem: 'is written by Switchyard only; remove it',
  }));

const OF_THE_CONSUMER = [
  SUBMISSION_ANNOTATION,
  SUBMITTED_AT_ANNOTATION,
  SUBMISSION_TENANT_ANNOTATION,
  SUBMISSION_PAYLOAD_ANNOTATION,
  SUBMISSION_ATTEMPT_ANNOTATION,
  SUBMITTED_BY_ANNOTATION,
];

/** Problems of settings that are malformed or cannot be met. */
export const wishProblems = (kind: WorkKind, job: DeepReadonly<Unsaved<WorkObject>>): FieldProblem[] =>
  wrongWishes(kind, job).map(({ place, name, problem }) => ({ field: fieldOf(place, name), problem }));

/** Settings that are malformed or cannot be met. */
export function wrongWishes(kind: WorkKind, job: DeepReadonly<Unsaved<WorkObject>>): UnreadableWish[] {
  const wishes = wishesOf(job);
  const unreadable = [...unreadableWishes(wishes), ...unmetPodFence(kind.podFenceProblem(job), wishes)];
  const { minParallelism: least } = wishes;
  const pods = kind.podsAtOnce(job);
  if (least.kind === 'Invalid' || least.pods === undefined || least.pods < pods) return unreadable;
  const { kind: word } = wordsOf(kind.of(job.metadata.name));
  const problem = `is ${least.pods}; it must be less than the ${pods} pods that the ${word} may have at once, or be left out`;
  return [...unreadable, { place: 'annotations', name: MIN_PARALLELISM_ANNOTATION, problem }];
}

/** Settings that a described kind does not know, each with what serves the purpose there; for the writer of the object. */
export const ignoredSettings = (kind: WorkKind, { metadata }: DeepReadonly<Unsaved<WorkObject>>): { name: string; warning: string }[] =>
  parseQualifiedName(metadata.name ?? '').qualifier === undefined
    ? []
    : [MIN_PARALLELISM_ANNOTATION, KUEUE_MIN_PARALLELISM_ANNOTATION]
        .filter((name) => metadata.annotations?.[name] !== undefined)
        .map((name) => {
          const { resource } = kind.of(metadata.name);
          const remedy = `minCount in its WorkKind admits a ${resource.kind} with fewer pods`;
          return { name, warning: `${fieldOf('annotations', name)}: is ignored, as it is for Jobs only; ${remedy}` };
        });

function shapeProblems({ resource, specProblems }: SingleKind, manifest: unknown): FieldProblem[] {
  const apiVersion = apiVersionOf(resource);
  if (!isJsonObject(manifest)) return [{ field: 'manifest', problem: `must be a ${apiVersion} ${resource.kind} as a JSON object` }];
  const problems: FieldProblem[] = [];
  if (manifest['apiVersion'] !== apiVersion) problems.push({ field: 'apiVersion', problem: `must be ${apiVersion}` });
  if (manifest['kind'] !== resource.kind) problems.push({ field: 'kind', problem: `must be ${resource.kind}` });
  const metadata = manifest['metadata'];
  if (!isJsonObject(metadata)) problems.push({ field: 'metadata', problem: 'is missing; name at least a queue in its labels' });
  else problems.push(...metadataProblems(metadata));
  return [...problems, ...specProblems(manifest['spec'])];
}

const NAMESPACE_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

function metadataProblems(metadata: Record<string, unknown>): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const field of ['name', 'generateName', 'namespace']) {
    const value = metadata[field];
    if (value !== undefined && typeof value !== 'string') problems.push({ field: `metadata.${field}`, problem: 'must be a string' });
    // A name with a colon names an object of another kind (`qualified-name.ts`).
    else if (value?.includes(':') === true) problems.push({ field: `metadata.${field}`, problem: 'has a colon; leave it out' });
  }
  const { namespace } = metadata;
  if (typeof namespace === 'string' && !NAMESPACE_NAME.test(namespace)) {
    problems.push({
      field: 'metadata.namespace',
      problem: `is ${JSON.stringify(namespace.slice(0, 64))}, which no namespace is called; name one, or leave the field out`,
    });
  }
  for (const field of ['labels', 'annotations']) {
    const value = metadata[field];
    if (value === undefined || value === null) continue;
    if (!isJsonObject(value)) problems.push({ field: `metadata.${field}`, problem: 'must be an object of strings' });
    else
      for (const [key, each] of Object.entries(value)) {
        if (typeof each !== 'string') problems.push({ field: `metadata.${field}[${key}]`, problem: 'must be a string; put it in quotes' });
      }
  }
  if (metadata['ownerReferences'] !== undefined) {
    // The garbage collector would delete the Job when its owner is not on this cluster.
    problems.push({ field: 'metadata.ownerReferences', problem: 'is not allowed in a submission; remove it' });
  }
  return problems;
}

/** Drops the fields that an API server adds to every object. A manifest read from a cluster has them; a new Job must not. */
function withoutServerFields<O extends WorkObject>(manifest: Unsaved<O>): Unsaved<O> {
  const { status: _status, ...job } = manifest;
  const {
    uid: _uid,
    resourceVersion: _resourceVersion,
    creationTimestamp: _creationTimestamp,
    generation: _generation,
    managedFields: _managedFields,
    deletionTimestamp: _deletionTimestamp,
    deletionGracePeriodSeconds: _deletionGracePeriodSeconds,
    ...metadata
  } = manifest.metadata;
  return { ...job, metadata } as unknown as Unsaved<O>;
}

/** The API server validates the rest of the shape. */
const isJobManifest = <O extends WorkObject>(value: unknown): value is Unsaved<O> =>
  isJsonObject(value) && isJsonObject(value['metadata']) && isJsonObject(value['spec']);
