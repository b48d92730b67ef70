import {
  ADMISSION_ANNOTATION,
  MANAGER_CONTROLLER_NAME,
  MANAGER_FIELD_MANAGER,
  ORIGIN_LABEL,
  QUEUE_NAME_LABEL,
  SUBMISSION_USER_EXTRA,
  WORKER_CONTROLLER_NAME,
} from '../../shared/api/names.ts';
import type { Identities } from './writer.ts';

/**
 * Variables of the rules in CEL: `variables.NAME`, each by means of the ones before it. They are the fields of {@link WriteView}
 * (job-write.ts). The installation adds the lists `managers` and `localWorkers` in front: user names, as in {@link Identities}.
 *
 * Objects have the form in which they were sent: optional fields are tested with `has`, so that no expression fails.
 */
export type CelVariable = { readonly name: string; readonly expression: string };

const mapOf = (object: string, field: string): string => `has(${object}.metadata.${field}) ? ${object}.metadata.${field} : {}`;
const ofOld = (otherwise: string, expression: string): string => `oldObject == null ? ${otherwise} : (${expression})`;
const queueIn = (labels: string): string => `${quoted(QUEUE_NAME_LABEL)} in ${labels} ? ${labels}[${quoted(QUEUE_NAME_LABEL)}] : ''`;
const parallelismOf = (object: string): string => `${specHas(object, 'parallelism')} ? ${object}.spec.parallelism : 1`;
const podsOf = (object: string, parallelism: string): string =>
  `${specHas(object, 'completions')} && ${object}.spec.completions < ${parallelism} ? ${object}.spec.completions : ${parallelism}`;

/** In the order in which they use one another. */
export const CEL_VARIABLES: readonly CelVariable[] = [
  { name: 'labels', expression: mapOf('object', 'labels') },
  { name: 'oldLabels', expression: ofOld('{}', mapOf('oldObject', 'labels')) },
  { name: 'annotations', expression: mapOf('object', 'annotations') },
  { name: 'oldAnnotations', expression: ofOld('{}', mapOf('oldObject', 'annotations')) },
  { name: 'finalizers', expression: 'has(object.metadata.finalizers) ? object.metadata.finalizers : []' },
  { name: 'oldFinalizers', expression: ofOld('[]', 'has(oldObject.metadata.finalizers) ? oldObject.metadata.finalizers : []') },
  {
    name: 'managed',
    expression: `${isManagedBy('object', MANAGER_CONTROLLER_NAME)} || oldObject != null && ${isManagedBy('oldObject', MANAGER_CONTROLLER_NAME)}`,
  },
  {
    name: 'copy',
    expression: `!variables.managed && (${quoted(ORIGIN_LABEL)} in variables.labels || ${quoted(ORIGIN_LABEL)} in variables.oldLabels)`,
  },
  { name: 'runByWorker', expression: isManagedBy('object', WORKER_CONTROLLER_NAME) },
  { name: 'suspended', expression: `${specHas('object', 'suspend')} && object.spec.suspend` },
  { name: 'oldSuspended', expression: `oldObject != null && ${specHas('oldObject', 'suspend')} && oldObject.spec.suspend` },
  { name: 'admitted', expression: `${quoted(ADMISSION_ANNOTATION)} in variables.oldAnnotations && !variables.oldSuspended` },
  { name: 'queue', expression: queueIn('variables.labels') },
  { name: 'oldQueue', expression: queueIn('variables.oldLabels') },
  { name: 'parallelism', expression: parallelismOf('object') },
  { name: 'oldParallelism', expression: ofOld('0', parallelismOf('oldObject')) },
  { name: 'pods', expression: podsOf('object', 'variables.parallelism') },
  { name: 'oldPods', expression: ofOld('0', podsOf('oldObject', 'variables.oldParallelism')) },
  // Empty fields of a request are absent.
  { name: 'ofStatus', expression: "has(request.subResource) && request.subResource == 'status'" },
  { name: 'username', expression: "has(request.userInfo.username) ? request.userInfo.username : ''" },
  {
    name: 'fieldManager',
    expression: "has(request.options) && request.options != null && has(request.options.fieldManager) ? request.options.fieldManager : ''",
  },
  {
    name: 'byManager',
    expression: `variables.username in variables.managers && variables.fieldManager == ${quoted(MANAGER_FIELD_MANAGER)}`,
  },
  { name: 'byLocalWorker', expression: 'variables.username in variables.localWorkers' },
  // Only a user with the right to impersonate can have this extra; a writer with another proof of identity needs none.
  {
    name: 'bySubmission',
    expression:
      `!(variables.username in variables.managers) && !variables.byLocalWorker && variables.fieldManager == ${quoted(MANAGER_FIELD_MANAGER)}` +
      ` && has(request.userInfo.extra) && ${quoted(SUBMISSION_USER_EXTRA)} in request.userInfo.extra`,
  },
];

export function specHas(object: string, field: string): string {
  return `has(${object}.spec) && has(${object}.spec.${field})`;
}

/** CEL: true of an object with this controller. */
export function isManagedBy(object: string, controller: string): string {
  return `${specHas(object, 'managedBy')} && ${object}.spec.managedBy == ${quoted(controller)}`;
}

/** CEL: true of an object with this label. */
export function labelledWith(object: string, label: string): string {
  return `has(${object}.metadata.labels) && ${quoted(label)} in ${object}.metadata.labels`;
}

/** A string in CEL. */
export function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** The expression with its variables expanded, for match conditions, which have none. Variables of the installation stay. */
export function inlined(expression: string): string {
  return expression.replaceAll(/variables\.([A-Za-z]+)/g, (reference, name: string) => {
    const variable = CEL_VARIABLES.find((each) => each.name === name);
    return variable === undefined ? reference : `(${inlined(variable.expression)})`;
  });
}

/** A list of strings in CEL. */
export function listed(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(', ')}]`;
}

/** The expression with the lists of an installation inserted. JSON is valid CEL here; the chart inserts JSON, too. */
export const withIdentities = (expression: string, { managers, localWorkers }: Identities): string =>
  expression
    .replaceAll('variables.managers', () => JSON.stringify(managers))
    .replaceAll('variables.localWorkers', () => JSON.stringify(localWorkers));
