import type { WorkObject } from '../../shared/api/kubernetes.ts';
import { deniedBy, SYSTEM_NAMESPACES } from '../../shared/api/denied-namespaces.ts';
import {
  ACTS_ANNOTATION,
  CREATED_BY_ANNOTATION,
  DEFAULT_LOCAL_QUEUE,
  KUEUE_QUEUE_NAME_LABEL,
  QUEUE_NAME_LABEL,
} from '../../shared/api/names.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { changeInWords, jobChanges } from '../audit/job-changes.ts';
import { queueNameOf } from '../api/job-annotations.ts';
import { withAct } from '../api/job-acts.ts';
import { isJsonObject, parseJson } from '../api/json-value.ts';
import { formatProblems, type FieldProblem } from '../api/field-problem.ts';
import { DEFAULT_JOB_RULES, type JobRules } from '../api/job-rules.ts';
import { recognize, type Identities, type UserExtra } from '../policy/writer.ts';
import { controllerProblems, ignoredSettings, namesFromKueue } from '../policy/prepare-job.ts';
import { isPart } from '../work-kind/kinds.ts';
import { qualifiedName, qualifierOf } from '../work-kind/qualified-name.ts';
import type { SingleKind, WorkKind } from '../work-kind/work-kind.ts';
import { isCopy, validateJob } from './validate-job.ts';

/** The fields of an admission.k8s.io/v1 AdmissionReview that concern Jobs. */
export type AdmissionRequest = {
  readonly uid: string;
  readonly operation: string;
  readonly subResource?: string;
  readonly userInfo: { readonly username?: string; readonly uid?: string; readonly groups?: readonly string[]; readonly extra?: UserExtra };
  /** The write is not stored. */
  readonly dryRun?: true;
  /** The field manager of the writer, if it names one. */
  readonly fieldManager?: string;
  readonly object: WorkObject | undefined;
  readonly oldObject: WorkObject | undefined;
};
export type AdmissionResponse = {
  readonly uid: string;
  readonly allowed: boolean;
  readonly patchType?: 'JSONPatch';
  /** Base64 of a JSON Patch. */
  readonly patch?: string;
  /** The API server sends them to the writer. */
  readonly warnings?: readonly string[];
  readonly status?: { readonly code: number; readonly reason: string; readonly message: string };
  /** For the audit log of the API server, which adds the name of the webhook to each key. */
  readonly auditAnnotations?: Readonly<Record<string, string>>;
};

/** Reads the body of a webhook call, its objects as the manager knows them; a string is its problem. */
export function readAdmissionReview(body: string, kinds: readonly SingleKind[] = []): AdmissionRequest | string {
  const review = parseJson(body);
  if (!isJsonObject(review)) return 'the body is not a JSON object';
  if (review['apiVersion'] !== 'admission.k8s.io/v1' || review['kind'] !== 'AdmissionReview')
    return 'the body is not an admission.k8s.io/v1 AdmissionReview';
  const { request } = review;
  if (!isJsonObject(request)) return 'the AdmissionReview has no request';
  const { uid, operation, subResource, userInfo, options, dryRun, resource, object, oldObject } = request;
  if (typeof uid !== 'string' || typeof operation !== 'string') return 'the request has no uid or no operation';
  const { username, uid: userUid, groups, extra } = isJsonObject(userInfo) ? userInfo : {};
  const foreign = kinds.find(
    ({ resource: { group, plural } }) => isJsonObject(resource) && resource['group'] === group && resource['resource'] === plural,
  );
  const asRead = (value: unknown): WorkObject | undefined => {
    if (foreign === undefined) return isJob(value) ? value : undefined;
    // The definition of another kind may let a user leave out the spec: what else the object says is judged all the same.
    const object = isJsonObject(value) && !isJsonObject(value['spec']) ? { ...value, spec: {} } : value;
    if (!isJob(object)) return undefined;
    const read = foreign.cache.whole(object);
    return { ...read, metadata: { ...read.metadata, name: qualifiedName(qualifierOf(foreign.resource), read.metadata.name ?? '') } };
  };
  const fieldManager = isJsonObject(options) ? options['fieldManager'] : undefined;
  return {
    uid,
    operation,
    ...(typeof subResource === 'string' ? { subResource } : {}),
    userInfo: {
      ...(typeof username === 'string' ? { username } : {}),
      ...(typeof userUid === 'string' && userUid !== '' ? { uid: userUid } : {}),
      ...(Array.isArray(groups) ? { groups: groups.filter((group): group is string => typeof group === 'string') } : {}),
      ...(isJsonObject(extra) ? { extra } : {}),
    },
    ...(dryRun === true ? { dryRun } : {}),
    ...(typeof fieldManager === 'string' ? { fieldManager } : {}),
    object: asRead(object),
    oldObject: asRead(oldObject),
  };
}

export const admissionReviewOf = (response: AdmissionResponse): object => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  response,
});

/**
 * Prepares a new Job with a queue for the manager, and records its creator. Problems are reported by the validating webhook, which knows
 * the writer.
 */
export function mutate(kind: WorkKind, request: AdmissionRequest, rules: JobRules = DEFAULT_JOB_RULES): AdmissionResponse {
  const { uid, object } = request;
  if (request.operation !== 'CREATE' || object === undefined) return { uid, allowed: true };
  const words = namesFromKueue(object, rules);
  if (queueNameOf(object) === undefined && words.length === 0) return { uid, allowed: true };
  // Where Switchyard's name is absent, Kueue's is there, and so the map exists.
  const names = words.map(({ place, name, value }) => ({ op: 'add', path: pathOf(place, name), value }));
  return prepare(kind, request, object, names);
}

/**
 * Prepares a new Job without a queue for the manager, with the default LocalQueue, as Kueue's manageJobsWithoutQueueName does. API servers
 * ask this in the namespaces that the administrator selects. A Job that names a queue has passed `mutate`, and may be called with an older
 * state of it. One that an object of another kind has made goes where that object went.
 */
export function mutateUnlabelled(kind: WorkKind, request: AdmissionRequest, rules: JobRules = DEFAULT_JOB_RULES): AdmissionResponse {
  const { uid, object } = request;
  if (request.operation !== 'CREATE' || object === undefined) return { uid, allowed: true };
  const { namespace, labels } = object.metadata;
  const isNamed = [QUEUE_NAME_LABEL, KUEUE_QUEUE_NAME_LABEL].some((name) => labels?.[name] !== undefined);
  if (isNamed || isPart(kind, object) || deniedBy([...SYSTEM_NAMESPACES, ...rules.deniedNamespaces], namespace) !== undefined)
    return { uid, allowed: true };
  const label =
    labels === undefined
      ? { op: 'add', path: '/metadata/labels', value: { [QUEUE_NAME_LABEL]: DEFAULT_LOCAL_QUEUE } }
      : { op: 'add', path: pathOf('labels', QUEUE_NAME_LABEL), value: DEFAULT_LOCAL_QUEUE };
  return prepare(kind, request, object, [label]);
}

function prepare(kind: WorkKind, { uid, userInfo }: AdmissionRequest, object: WorkObject, names: readonly object[]): AdmissionResponse {
  if (isCopy(kind, object) || controllerProblems(kind, object).length > 0) return { uid, allowed: true };
  const operations = [...names, ...creatorOperations(userInfo.username, object), ...kind.preparation(object)];
  const warnings = ignoredSettings(kind, object).map(({ warning }) => warning);
  return {
    ...(operations.length === 0 ? { uid, allowed: true } : patched(uid, operations)),
    ...omitUndefined({ warnings: warnings.length === 0 ? undefined : warnings }),
  };
}

/** The JSON pointer of a label or annotation. */
const pathOf = (place: 'labels' | 'annotations', name: string): string => `/metadata/${place}/${name.replace('/', '~1')}`;

/**
 * Records on the Job the user who bypasses the policies. Acts that the write itself contains are replaced by the stored ones. The answer
 * counts only for the API server that asked, so that another caller of this port cannot write a name to a Job.
 */
export function noteOverride({ uid, object, oldObject, userInfo: { username } }: AdmissionRequest, nowMs: number): AdmissionResponse {
  if (object === undefined || username === undefined) return { uid, allowed: true };
  const acts = withAct(oldObject ?? { metadata: {} }, { what: 'Override', user: username }, nowMs);
  return patched(uid, [annotationOperation(object, ACTS_ANNOTATION, acts)]);
}

/** The creator by the API server; the manifest's own value is ignored. */
function creatorOperations(username: string | undefined, { metadata }: WorkObject): object[] {
  const name = CREATED_BY_ANNOTATION;
  return username === undefined || metadata.annotations?.[name] === username ? [] : [annotationOperation({ metadata }, name, username)];
}

/** An empty map is not sent. */
const annotationOperation = ({ metadata }: Pick<WorkObject, 'metadata'>, name: string, value: string): object =>
  metadata.annotations === undefined
    ? { op: 'add', path: '/metadata/annotations', value: { [name]: value } }
    : { op: 'add', path: pathOf('annotations', name), value };

const patched = (uid: string, operations: readonly object[]): AdmissionResponse => ({
  uid,
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

/** Judges a write of a Job or of its status. */
export function validate(
  kind: WorkKind,
  request: AdmissionRequest,
  identities: Identities,
  rules: JobRules = DEFAULT_JOB_RULES,
): AdmissionResponse {
  const { uid, operation, object: job, oldObject: oldJob, userInfo, fieldManager, subResource: subresource = '' } = request;
  if (job === undefined || (operation !== 'CREATE' && operation !== 'UPDATE')) return { uid, allowed: true };
  if (operation === 'UPDATE' && oldJob === undefined) return denied(uid, [{ field: 'oldObject', problem: 'is missing in the review' }]);
  const { writer } = recognize(userInfo.username, fieldManager, identities, userInfo.extra);
  const problems = validateJob(kind, { subresource, job, oldJob, writer, username: userInfo.username ?? '' }, rules);
  if (problems.length > 0) return denied(uid, problems);
  const changes = oldJob === undefined || subresource !== '' ? [] : jobChanges(kind, oldJob, job).map(changeInWords);
  // Of a new object the mutating webhook says it.
  const warnings = ignoredSettings(kind, job).flatMap(({ name, warning }) =>
    oldJob === undefined || job.metadata.annotations?.[name] === oldJob.metadata.annotations?.[name] ? [] : [warning],
  );
  return {
    uid,
    allowed: true,
    ...omitUndefined({
      warnings: warnings.length === 0 ? undefined : warnings,
      auditAnnotations: changes.length === 0 ? undefined : { changes: changes.join(', ') },
    }),
  };
}

const denied = (uid: string, problems: readonly FieldProblem[]): AdmissionResponse => ({
  uid,
  allowed: false,
  status: { code: 422, reason: 'Invalid', message: formatProblems(problems) },
});

/** The API server validates the rest. */
const isJob = (value: unknown): value is WorkObject =>
  isJsonObject(value) && isJsonObject(value['metadata']) && isJsonObject(value['spec']);
