import { isDeepStrictEqual } from 'node:util';
import {
  ADMISSION_ANNOTATION,
  CHECK_FIELD_MANAGER,
  COPIES_FINALIZER,
  CREATED_BY_ANNOTATION,
  HOLD_ANNOTATION,
  SWITCHYARD_GROUP,
} from '../../shared/api/names.ts';
import { quoted } from './cel-variables.ts';
import { butFor, type KindWords, queueField, reservedName, type RuleInWords, textOf, type WriteRule } from './write-rule.ts';

/** Rules about fields of both user and Switchyard, depending on the state of the Job. */

const suspendField = ({ suspend }: KindWords): string => suspend;
const controllerField = ({ managedBy }: KindWords): string => managedBy?.path ?? 'spec';

/** `managedBy` is immutable, so a Job gets its queue at its creation or never. */
export const BORN_WITH_A_QUEUE: WriteRule = {
  field: queueField,
  problem: ({ managedBy }) =>
    managedBy === undefined
      ? 'is empty; name a LocalQueue of the namespace, or leave the label out'
      : `is missing, but ${managedBy.path} is ${managedBy.home}; name a LocalQueue of the namespace, or leave ${managedBy.path} out`,
  isBroken: ({ oldJob, managed, queue }) => oldJob === undefined && managed && queue === '',
  brokenWhen: "oldObject == null && variables.managed && variables.queue == ''",
  policy: 'Fail',
};

export const BORN_SUSPENDED: WriteRule = {
  field: suspendField,
  problem: ({ kind }) => `must be true in a new ${kind} with a queue: it is released when it is admitted`,
  isBroken: ({ oldJob, managed, suspended }) => oldJob === undefined && managed && !suspended,
  brokenWhen: 'oldObject == null && variables.managed && !variables.suspended',
  policy: 'Fail',
};

export const RELEASED_BY_ADMISSION: WriteRule = {
  field: suspendField,
  problem: ({ kind }) => `is set to false by the manager when the ${kind} is admitted; leave it true`,
  isBroken: ({ managed, oldSuspended, suspended }) => managed && oldSuspended && !suspended,
  brokenWhen: 'variables.managed && variables.oldSuspended && !variables.suspended',
  policy: 'Fail',
};

/** API servers hold Jobs to it; of other kinds, definitions and operators may or may not. */
export const CONTROLLER_STAYS: WriteRule = {
  field: controllerField,
  problem: ({ kind }) => `says who runs the ${kind}, and stays as it is; delete the ${kind}, and create it with the other value`,
  isBroken: ({ oldJob, managed, namesManager, oldNamesManager }) => oldJob !== undefined && managed && namesManager !== oldNamesManager,
  brokenWhen: 'oldObject != null && variables.managed && variables.namesManager != variables.oldNamesManager',
  policy: 'Fail',
};

/** A suspended Job may grow: it is then admitted again. */
export const GROWS_ONLY_SUSPENDED: WriteRule = {
  field: ({ pods }) => pods,
  problem: (words) =>
    `cannot let the ${words.kind} have more pods at once while it is admitted, because quota was reserved for those it had; ${admittedAnew(words)}`,
  detail: ({ pods, oldPods }, words) =>
    `cannot grow from ${oldPods} to ${pods} pods while the ${words.kind} is admitted, because quota was reserved for ${oldPods}; ${admittedAnew(words)}`,
  isBroken: ({ managed, admitted, suspended, pods, oldPods }) => managed && admitted && !suspended && pods > oldPods,
  brokenWhen: 'variables.managed && variables.admitted && !variables.suspended && variables.pods > variables.oldPods',
  policy: 'Fail',
};

const admittedAnew = ({ suspend, kind }: KindWords): string =>
  `set ${suspend} to true and annotation ${HOLD_ANNOTATION} to false with it, and the ${kind} is admitted anew`;

export const QUEUE_STAYS_WHILE_ADMITTED: WriteRule = {
  field: queueField,
  problem: ({ kind }) => `cannot be changed while the ${kind} is admitted, because its quota is charged there`,
  detail: ({ oldQueue }, { kind }) => `cannot be changed while the ${kind} is admitted; it is ${JSON.stringify(oldQueue)}`,
  isBroken: ({ managed, admitted, queue, oldQueue }) => managed && admitted && queue !== oldQueue,
  brokenWhen: 'variables.managed && variables.admitted && variables.queue != variables.oldQueue',
  policy: 'Ignore',
};

export const QUEUE_IS_NOT_REMOVED: WriteRule = {
  field: queueField,
  problem: ({ kind }) => `cannot be removed: without a queue the ${kind} would wait for ever`,
  isBroken: ({ managed, admitted, queue, oldQueue }) => managed && !admitted && queue === '' && oldQueue !== '',
  brokenWhen: "variables.managed && !variables.admitted && variables.queue == '' && variables.oldQueue != ''",
  policy: 'Ignore',
};

export const QUEUE_IS_NOT_ADDED_LATER: WriteRule = {
  field: queueField,
  problem: (words) =>
    `cannot be added to an existing ${words.kind}, because ${controllerField(words)} stays as it is; delete the ${words.kind} and create it with the label`,
  isBroken: ({ oldJob, managed, queue, oldQueue }) => oldJob !== undefined && !managed && queue !== '' && oldQueue === '',
  brokenWhen: "oldObject != null && !variables.managed && variables.queue != '' && variables.oldQueue == ''",
  policy: 'Ignore',
};

/**
 * The controller of an admission check writes the status, too. It must use this field manager, so that a user with all rights does not do
 * it by accident.
 */
const BY_A_CHECK =
  `variables.fieldManager == '${CHECK_FIELD_MANAGER}' && ` +
  `authorizer.group('${SWITCHYARD_GROUP}').resource('admissionchecks').namespace(request.namespace).check('update').allowed()`;

/** Quota is freed, and submitters are notified, on the strength of the status. */
export const MANAGER_WRITES_STATUS: WriteRule = {
  field: () => 'status',
  problem: ({ kind }) => `is written by Switchyard only; it follows the pods of the ${kind}, wherever they run`,
  isBroken: ({ subresource, managed, copy, runByWorker, writer }) =>
    subresource === 'status' && (managed || (copy && runByWorker && writer !== 'LocalWorker')),
  brokenWhen: `variables.ofStatus && (variables.managed && !(${BY_A_CHECK}) || variables.copy && variables.runByWorker && !variables.byLocalWorker)`,
  policy: 'Fail',
};

/** The same for an object of which the fields are not known: the manager has given it a record, and its finalizer. */
export const STATUS_OF_A_RECORD: RuleInWords = {
  ...MANAGER_WRITES_STATUS,
  brokenWhen:
    `variables.ofStatus && ${quoted(ADMISSION_ANNOTATION)} in variables.oldAnnotations` +
    ` && ${quoted(COPIES_FINALIZER)} in variables.oldFinalizers && !(${BY_A_CHECK})`,
};

/** The fence of a worker suspends copies that others run. */
export const COPY_FOLLOWS_ITS_ORIGINAL: WriteRule = {
  field: () => 'spec',
  problem: ({ kind }) => `of a copy follows the ${kind} that it is a copy of; change or suspend that one`,
  isBroken: ({ job, oldJob, copy, runByWorker, writer }) =>
    oldJob !== undefined && copy && (runByWorker || writer !== 'LocalWorker') && !isDeepStrictEqual(job.spec, oldJob.spec),
  brokenWhen: 'variables.copy && (variables.runByWorker || !variables.byLocalWorker) && variables.specChanged',
  policy: 'Fail',
};

/** The webhook writes the annotation in the request of the creator; without the webhook creators may write it themselves. */
export const CREATOR_IS_WHO_CREATES: WriteRule = {
  ...butFor(
    reservedName('annotations', CREATED_BY_ANNOTATION),
    ({ job, oldJob, username }) => oldJob === undefined && textOf(job, 'annotations', CREATED_BY_ANNOTATION) === username,
    `oldObject == null && ${quoted(CREATED_BY_ANNOTATION)} in variables.annotations` +
      ` && variables.annotations[${quoted(CREATED_BY_ANNOTATION)}] == variables.username`,
  ),
  problem: ({ kind }) => `names the user who creates the ${kind}, and stays; leave it out`,
};
