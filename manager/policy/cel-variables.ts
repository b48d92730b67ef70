import {
  ADMISSION_ANNOTATION,
  COPIES_FINALIZER,
  MANAGER_CONTROLLER_NAME,
  MANAGER_FIELD_MANAGER,
  ORIGIN_LABEL,
  QUEUE_NAME_LABEL,
  SUBMISSION_USER_EXTRA,
  WORKER_CONTROLLER_NAME,
} from '../../shared/api/names.ts';
import type { WorkKindSpec } from '../api/work-kind.ts';
import { podsOf } from './described-pods.ts';
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
const jobPodsOf = (object: string, parallelism: string): string =>
  `${specHas(object, 'completions')} && ${object}.spec.completions < ${parallelism} ? ${object}.spec.completions : ${parallelism}`;

/** Variables that are the same for objects of any kind. In the order in which they use one another. */
export const COMMON_VARIABLES: readonly CelVariable[] = [
  { name: 'labels', expression: mapOf('object', 'labels') },
  { name: 'oldLabels', expression: ofOld('{}', mapOf('oldObject', 'labels')) },
  { name: 'annotations', expression: mapOf('object', 'annotations') },
  { name: 'oldAnnotations', expression: ofOld('{}', mapOf('oldObject', 'annotations')) },
  { name: 'finalizers', expression: 'has(object.metadata.finalizers) ? object.metadata.finalizers : []' },
  { name: 'oldFinalizers', expression: ofOld('[]', 'has(oldObject.metadata.finalizers) ? oldObject.metadata.finalizers : []') },
  { name: 'queue', expression: queueIn('variables.labels') },
  { name: 'oldQueue', expression: queueIn('variables.oldLabels') },
  {
    name: 'specChanged',
    expression: 'oldObject != null && (has(object.spec) != has(oldObject.spec) || has(object.spec) && object.spec != oldObject.spec)',
  },
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

/** Where objects say who runs them and whether they are suspended: as a Job does, or as a description says. */
export type ObjectForm = {
  /** CEL: whether an object names this manager as its controller. */
  readonly namesManager: (object: string) => string;
  /**
   * CEL, of an object that does: whether it does by a name that only this manager has. With another's name it also needs a queue, or
   * copies, to be this manager's. Absent: there is no other name.
   */
  readonly namesNobodyElse?: (object: string) => string;
  /** CEL: whether an object names our worker as its controller. */
  readonly namesWorker: (object: string) => string;
  /** CEL: whether an object is suspended. */
  readonly isSuspended: (object: string) => string;
  /** `pods` and `oldPods`, with what they need; empty where only the manager can tell. */
  readonly podVariables: readonly CelVariable[];
};

const POD_VARIABLES: readonly CelVariable[] = [
  { name: 'parallelism', expression: parallelismOf('object') },
  { name: 'oldParallelism', expression: ofOld('0', parallelismOf('oldObject')) },
  { name: 'pods', expression: jobPodsOf('object', 'variables.parallelism') },
  { name: 'oldPods', expression: ofOld('0', jobPodsOf('oldObject', 'variables.oldParallelism')) },
];

export const JOB_FORM: ObjectForm = {
  namesManager: (object) => isManagedBy(object, MANAGER_CONTROLLER_NAME),
  namesWorker: (object) => isManagedBy(object, WORKER_CONTROLLER_NAME),
  isSuspended: (object) => `${specHas(object, 'suspend')} && ${object}.spec.suspend`,
  podVariables: POD_VARIABLES,
};

/** The fields of a description by which the form of its objects is known. */
export type DescribedFields = Pick<WorkKindSpec, 'suspend' | 'managedBy'> & Partial<Pick<WorkKindSpec, 'podSets'>>;

/** Its definition may allow anything there: what is not of the right type is as good as absent. */
export function describedForm({ suspend, managedBy, podSets = [] }: DescribedFields): ObjectForm {
  const [pods, oldPods] = ['object', 'oldObject'].map((object) => podsOf(object, podSets));
  const podVariables =
    podSets.length === 0 || pods === undefined || oldPods === undefined
      ? []
      : [
          { name: 'pods', expression: pods },
          { name: 'oldPods', expression: ofOld('0', oldPods) },
        ];
  const others = { isSuspended: (object: string) => fieldIs(object, suspend, '== true'), podVariables };
  if (managedBy === undefined) return { ...others, namesManager: () => 'true', namesNobodyElse: () => 'false', namesWorker: () => 'false' };
  const { path, home } = managedBy;
  const namesWorker = (object: string): string => fieldIs(object, path, `== ${quoted(WORKER_CONTROLLER_NAME)}`);
  const isOurs = `== ${quoted(MANAGER_CONTROLLER_NAME)}`;
  if (home === MANAGER_CONTROLLER_NAME) return { ...others, namesWorker, namesManager: (object) => fieldIs(object, path, isOurs) };
  return {
    ...others,
    namesWorker,
    namesManager: (object) => fieldIs(object, path, `in ${listed([home, MANAGER_CONTROLLER_NAME])}`),
    namesNobodyElse: (object) => `${object}.${path} ${isOurs}`,
  };
}

/** The variables of objects of a form, the common ones among them. In the order in which they use one another. */
export const variablesOf = (form: ObjectForm): readonly CelVariable[] => [
  ...COMMON_VARIABLES,
  { name: 'namesManager', expression: form.namesManager('object') },
  { name: 'oldNamesManager', expression: `oldObject != null && ${form.namesManager('oldObject')}` },
  { name: 'managed', expression: managedIn(form) },
  {
    name: 'copy',
    expression: `!variables.managed && (${quoted(ORIGIN_LABEL)} in variables.labels || ${quoted(ORIGIN_LABEL)} in variables.oldLabels)`,
  },
  { name: 'runByWorker', expression: form.namesWorker('object') },
  { name: 'suspended', expression: form.isSuspended('object') },
  { name: 'oldSuspended', expression: `oldObject != null && ${form.isSuspended('oldObject')}` },
  { name: 'admitted', expression: `${quoted(ADMISSION_ANNOTATION)} in variables.oldAnnotations && !variables.oldSuspended` },
  ...form.podVariables,
];

function managedIn({ namesNobodyElse }: ObjectForm): string {
  if (namesNobodyElse === undefined) return 'variables.namesManager || variables.oldNamesManager';
  const [queue, copies] = [quoted(QUEUE_NAME_LABEL), quoted(COPIES_FINALIZER)];
  return (
    `variables.namesManager && (${queue} in variables.labels || ${copies} in variables.finalizers || ${namesNobodyElse('object')}) || ` +
    `variables.oldNamesManager && (${queue} in variables.oldLabels || ${copies} in variables.oldFinalizers || ${namesNobodyElse('oldObject')})`
  );
}

/** The variables of Jobs. */
export const JOB_VARIABLES: readonly CelVariable[] = variablesOf(JOB_FORM);

/** Whether these variables, and those of an installation, are all that an expression uses. */
export const isJudgedBy = (expression: string, variables: readonly CelVariable[]): boolean =>
  namesIn(expression).every((name) => name === 'managers' || name === 'localWorkers' || variables.some((each) => each.name === name));

const namesIn = (expression: string): string[] => [...expression.matchAll(/variables\.([A-Za-z]+)/g)].map(([, name = '']) => name);

/** Variables among these that expressions use, also by means of others. */
export function usedBy(expressions: readonly string[], variables: readonly CelVariable[]): readonly CelVariable[] {
  const used = new Set<string>();
  const note = (expression: string): void => {
    for (const name of namesIn(expression)) {
      if (used.has(name)) continue;
      used.add(name);
      note(variables.find((each) => each.name === name)?.expression ?? '');
    }
  };
  for (const each of expressions) note(each);
  return variables.filter(({ name }) => used.has(name));
}

/** CEL: whether a field (`spec.runPolicy.suspend`) is there and `== VALUE` or `in LIST`, whatever else is there. */
function fieldIs(object: string, path: string, test: string): string {
  const steps = path.split('.');
  const fields = steps.map((_, index) => [object, ...steps.slice(0, index + 1)].join('.'));
  const isThere = fields.map((field, index) => (index === fields.length - 1 ? `has(${field})` : `has(${field}) && type(${field}) == map`));
  return `${isThere.join(' && ')} && ${fields.at(-1)} ${test}`;
}

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
export function inlined(expression: string, variables = JOB_VARIABLES): string {
  return expression.replaceAll(/variables\.([A-Za-z]+)/g, (reference, name: string) => {
    const variable = variables.find((each) => each.name === name);
    return variable === undefined ? reference : `(${inlined(variable.expression, variables)})`;
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
