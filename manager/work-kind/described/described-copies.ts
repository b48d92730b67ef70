import { createHash } from 'node:crypto';
import { podIdentity, type TemplateIdentity } from '../../../shared/api/copy-identity.ts';
import { isSuspendedByWorker } from '../../../shared/api/fenced-kinds.ts';
import {
  BUILT_IN_JOB_CONTROLLER_NAME,
  CARRY_PENDING_ANNOTATION,
  DISPATCH_EPOCH_ANNOTATION,
  FENCED_ANNOTATION,
  FENCING_ANNOTATION,
  NODE_LABELS_ANNOTATION,
  ORIGIN_LABEL,
  ORIGIN_NAME_ANNOTATION,
  ORIGIN_UID_ANNOTATION,
  POD_SELECTOR_ANNOTATION,
  RESUMED_FROM_ANNOTATION,
} from '../../../shared/api/names.ts';
import type {
  DeepReadonly,
  JobCondition,
  PodSpec,
  PodTemplateSpec,
  Unsaved,
  WorkObject,
  WorkStatus,
} from '../../../shared/api/kubernetes.ts';
import { canonicalJson } from '../../../shared/api/payload-hash.ts';
import { apiVersionOf } from '../../../shared/api/resources.ts';
import { findCondition, isFinished } from '../../../shared/kube/conditions.ts';
import { objectKey } from '../../../shared/kube/keys.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { sameJson } from '../../api/json-diff.ts';
import { isJsonObject } from '../../api/json-value.ts';
import { withReferences } from '../../api/pod-references.ts';
import { copiedAnnotations, copiedLabels, variablesForPods } from '../copy/copied-metadata.ts';
import { copiedPod } from '../copy/copied-pod.ts';
import { endedPodsKept } from '../copy/ended-pods-kept.ts';
import { keeps, missingBelow } from '../copy/missing-fields.ts';
import { conditionsOf } from '../copy/remote-conditions.ts';
import { copyIdentity, copyName, variablesOf } from '../copy-marks.ts';
import type { CopyOptions } from '../copy-options.ts';
import type { SingleCopyRules } from '../work-kind.ts';
import { kindsOwn, verdict } from './described-conditions.ts';
import type { Description } from './description.ts';
import { type FieldPath, valueAt, withoutField, withValueAt } from '../../../shared/api/field-path.ts';
import { podSelectorOf, type Reading } from './reading.ts';
import type { Readings } from './readings.ts';
import { isCompact } from './described-cache.ts';
import { visibleObject } from './visible-object.ts';

/** Copies of a described kind on worker clusters. */
export function describedCopies(description: Description, readings: Readings): SingleCopyRules {
  const isSuspended = (object: DeepReadonly<Unsaved<WorkObject>>): boolean => valueAt(object, description.suspend) === true;
  const suspendedSince = ({ status }: DeepReadonly<WorkObject>): string | undefined => {
    const { suspendedCondition: type } = description.state;
    const said = type === undefined ? undefined : findCondition(status?.conditions, type);
    return said?.status === 'True' ? (said.lastTransitionTime ?? '') : undefined;
  };
  const isResumeUnseen = (copy: DeepReadonly<WorkObject>): boolean => {
    const since = isSuspended(copy) ? suspendedSince(copy) : undefined;
    return since !== undefined && copy.metadata.annotations?.[RESUMED_FROM_ANNOTATION] === since;
  };
  const hasLostController = (copy: DeepReadonly<WorkObject>): boolean => {
    if (description.managedBy === undefined) return false;
    const { path, home, copies } = description.managedBy;
    const value = valueAt(copy, path);
    return copies === undefined ? value === home : value !== copies;
  };
  return {
    suspendedCondition: description.state.suspendedCondition ?? 'Suspended',
    of: (local, options) => copyOf(description, readings, local, options),
    essentials: (copy, besideOriginal) => essentialsOf(description, readings, copy, besideOriginal),
    templateIdentity: (object) => identityIn(object, readings.of(object).templates),
    unrelated: ({ metadata: { name, namespace, uid, resourceVersion, creationTimestamp } }) => ({
      metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
      spec: {},
    }),
    // A worker resumes the copies that it has suspended.
    change: (copy, wanted, suspend) => changeOf(description, copy, wanted, suspend || isSuspendedByWorker(copy)),
    isFenced: isSuspendedByWorker,
    resumes: (change) => valueAt(change, description.suspend.slice(1)) === false,
    suspended: (copy) => withValueAt(copy, description.suspend, true),
    withReferences: (copy, nameOf) =>
      withTemplates(copy, readings.of(copy).templates, ({ spec, ...template }) => ({
        ...template,
        ...(spec === undefined ? {} : { spec: withReferences(spec, nameOf) as PodSpec }),
      })),
    changesPods: () => false,
    hasOtherPods: (copy, wanted) => {
      const [made, now] = [copy, wanted].map(({ metadata }) => metadata.annotations?.[NODE_LABELS_ANNOTATION]);
      return hasOtherPods(readings.of(copy), readings.of(wanted as DeepReadonly<WorkObject>), made === now);
    },
    hasLostController,
    hasOtherController: hasLostController,
    // What a copy has lost since it was made may have been changed by its operator.
    droppedFields: (sent, kept) =>
      kept.metadata.generation === 1 ? missingBelow(sentFields(description, sent), kept.spec, 'spec').slice(0, LISTED_MAX) : [],
    isAtRest: (copy) =>
      isFinished(copy.status) ||
      (isSuspended(copy) && !isSuspendedByWorker(copy) && readings.of(copy).state.atRest && !isResumeUnseen(copy)),
    isUnbegun: (copy) => !readings.of(copy).state.started && !isFinished(copy.status),
    isResumeUnseen,
    resumption: (copy) => ({ [RESUMED_FROM_ANNOTATION]: suspendedSince(copy) ?? '' }),
    isJudgedAtRest: () => false,
    isWaitingToStart: (copy) =>
      copy.metadata.deletionTimestamp === undefined && !isSuspended(copy) && !readings.of(copy).state.ready && !isFinished(copy.status),
    believed: (copy, local) => believed(readings, copy, local, isSuspended(copy)),
  };
}

const LISTED_MAX = 10;

/** `isSentSo`: the copy was sent with the wanted node labels. Those that it has beside them are from a webhook there. */
const hasOtherPods = ({ podSets: present }: Reading, { podSets: wanted }: Reading, isSentSo: boolean): boolean =>
  present.length !== wanted.length ||
  wanted.some(({ name, count, template: { spec } }) => {
    const same = present.find((podSet) => podSet.name === name);
    if (same?.count !== count) return true;
    const { nodeSelector = {}, tolerations } = same.template.spec ?? {};
    const sent = spec?.nodeSelector ?? {};
    return !keeps(sent, nodeSelector) || (!isSentSo && !sameJson(nodeSelector, sent)) || !keeps(spec?.tolerations, tolerations);
  });

/** The object for a worker cluster, with all fields of the user. Parts are shared with the original: the result is sent, never changed. */
function copyOf(description: Description, readings: Readings, local: DeepReadonly<WorkObject>, options: CopyOptions): Unsaved<WorkObject> {
  const { resource, managedBy, suspend } = description;
  const { namespace, name } = local.metadata;
  if (isCompact(local)) throw new Error(`no copy can be made of ${resource.kind} ${namespace}/${name}: parts of it are not cached`);
  const { podSets } = readings.of(local);
  const nodeLabels: Record<string, unknown> = {};
  const podSelector = podSelectorOf(description, { namespace, name: copyName(local, options.local) });
  const variables = variablesForPods(local, options);
  const withPods = podSets.reduce<DeepReadonly<WorkObject>>((all, { name: podSet, templatePath }) => {
    const flavors = options.podSetFlavors?.get(podSet) ?? options.flavors;
    const place = ({ spec, ...template }: PodTemplateSpec): PodTemplateSpec => {
      if (spec === undefined) return template;
      const pod = copiedPod(spec, flavors, variables);
      nodeLabels[podSet] = pod.nodeSelector;
      return { ...template, spec: pod };
    };
    return templatePath === undefined ? all : withTemplates(all, [templatePath], place);
  }, local);
  const left = [...description.withoutFields, ...(managedBy === undefined ? [] : [managedBy.path])].reduce(withoutField, {
    spec: withPods.spec,
  });
  const run = withValueAt(left, suspend, false);
  const { spec } = managedBy?.copies === undefined ? run : withValueAt(run, managedBy.path, managedBy.copies);
  const { apiVersion: _version, kind: _kind, metadata: _metadata, spec: _spec, status: _status, ...others } = local;
  return {
    ...others,
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: {
      name: copyName(local, options.local),
      namespace,
      labels: copiedLabels(local, options.origin, description.isLabelLeftOut),
      annotations: {
        ...copiedAnnotations(local, { ...options, jobController: BUILT_IN_JOB_CONTROLLER_NAME }, description.isAnnotationLeftOut),
        ...omitUndefined({ [POD_SELECTOR_ANNOTATION]: podSelector }),
        [NODE_LABELS_ANNOTATION]: createHash('sha256').update(canonicalJson(nodeLabels)).digest('hex').slice(0, 32),
      },
    },
    spec: spec as object,
  };
}

function withTemplates<O extends DeepReadonly<Unsaved<WorkObject>>>(
  object: O,
  templates: readonly FieldPath[],
  change: (template: PodTemplateSpec) => PodTemplateSpec,
): O {
  return templates.reduce((all, path) => withValueAt(all, path, change(valueAt(all, path) as PodTemplateSpec)), object);
}

/** `suspend`, `managedBy` and what may follow the original later need not be as they were sent. */
const sentFields = ({ suspend, managedBy, mutable }: Description, sent: DeepReadonly<Unsaved<WorkObject>>): unknown =>
  [suspend, ...(managedBy === undefined ? [] : [managedBy.path]), ...mutable].reduce(withoutField, { spec: sent.spec }).spec;

function changeOf(
  { suspend: path, mutable }: Description,
  copy: DeepReadonly<WorkObject>,
  wanted: Unsaved<WorkObject>,
  suspend: boolean,
): Record<string, unknown> | undefined {
  const isNow = valueAt(copy, path) === true;
  const suspension = isNow === suspend ? {} : withValueAt({}, path, suspend);
  // A server adds defaults to what was sent.
  const changed = mutable.filter((field) => !keeps(valueAt(wanted, field), valueAt(copy, field)));
  const change = changed.reduce<object>((all, field) => withValueAt(all, field, valueAt(wanted, field) ?? null), suspension);
  const { spec } = change as { readonly spec?: Record<string, unknown> };
  return spec;
}

/** Of a copy's marks those that decisions read. */
const ANNOTATIONS = [
  ORIGIN_UID_ANNOTATION,
  DISPATCH_EPOCH_ANNOTATION,
  FENCED_ANNOTATION,
  FENCING_ANNOTATION,
  CARRY_PENDING_ANNOTATION,
  NODE_LABELS_ANNOTATION,
  RESUMED_FROM_ANNOTATION,
];
const STATUS_BYTES_MAX = 64 * 1024;
const SPEC_BYTES_MAX = 64 * 1024;
const SHORT_LENGTH_MAX = 253;

/**
 * The fields of a copy that decisions read. Thousands are cached, and a worker cluster may return anything in them: a status that is too
 * large is reduced to its conditions, and a spec that is to what suspends it. The end of a copy stands in its conditions, as its
 * description sees it.
 */
function essentialsOf(description: Description, readings: Readings, copy: WorkObject, besideOriginal: boolean): WorkObject {
  const reading = readings.of(copy);
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, generation, labels, annotations } = copy.metadata;
  const visible = visibleObject(copy, reading.templates);
  const paths = [description.suspend, ...(description.managedBy === undefined ? [] : [description.managedBy.path])];
  const least = paths.reduce<object>((all, path) => withValueAt(all, path, valueAt(copy, path)), { spec: {} }) as Pick<WorkObject, 'spec'>;
  const whole = description.mutable.reduce((all, path) => withValueAt(all, path, valueAt(copy, path)), visible);
  const { spec } = bytesOf(whole.spec) > SPEC_BYTES_MAX ? least : whole;
  const status = isJsonObject(copy.status) ? statusOf(copy, readings) : undefined;
  const names = besideOriginal ? [...ANNOTATIONS, ORIGIN_NAME_ANNOTATION] : ANNOTATIONS;
  const essentials: WorkObject = {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      creationTimestamp: shortText(creationTimestamp) ?? '',
      labels: texts(labels, [ORIGIN_LABEL]),
      annotations: {
        ...texts(annotations, names),
        ...endedPodsKept(annotations, isFinished(status) || valueAt(copy, description.suspend) === true),
      },
      ...omitUndefined({ deletionTimestamp: shortText(deletionTimestamp), generation }),
    },
    spec,
    ...omitUndefined({ status }),
  };
  return readings.keep(withIdentity(essentials, identityIn(copy, reading.templates), besideOriginal), reading);
}

function statusOf(copy: WorkObject, readings: Readings): WorkStatus {
  const { conditions: said, ...fields } = copy.status ?? {};
  const list: JobCondition[] = Array.isArray(said) ? conditionsOf(said) : [];
  const own = list.filter(({ type }) => type === 'Suspended');
  const createdMs = Date.parse(copy.metadata.creationTimestamp) || 0;
  const { state } = readings.of(copy);
  const endedMs = Date.parse(state.completionTime ?? latestOf(list) ?? '') || createdMs;
  const conditions = [...kindsOwn(list), ...own, ...verdict(state, list, endedMs)];
  return { ...(bytesOf(fields) > STATUS_BYTES_MAX ? {} : fields), conditions };
}

const latestOf = (conditions: readonly JobCondition[]): string | undefined =>
  conditions
    .flatMap(({ lastTransitionTime }) => (lastTransitionTime === undefined ? [] : [lastTransitionTime]))
    .toSorted()
    .at(-1);

/**
 * Whose a copy is, by the environment of the first of its pod templates that has it: labels and annotations are edited more easily, and
 * dropped by webhooks. undefined: its annotations alone say it.
 */
function identityIn(copy: DeepReadonly<Unsaved<WorkObject>>, templates: readonly FieldPath[]): TemplateIdentity | undefined {
  for (const path of templates) {
    const found = podIdentity(valueAt(copy, [...path, 'spec']));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The identity of its templates stands where that of a Job does, where the annotations differ from it. */
function withIdentity(essentials: WorkObject, inTemplate: TemplateIdentity | undefined, besideOriginal: boolean): WorkObject {
  const { metadata, spec } = essentials;
  if (inTemplate === undefined) return essentials;
  const own = objectKey(essentials);
  const localKey = besideOriginal && inTemplate.namespace === own.namespace ? { ...own, name: inTemplate.name } : own;
  const identity = { localKey, originUid: inTemplate.originUid, epoch: inTemplate.epoch };
  const said = copyIdentity({ metadata });
  if (said?.originUid === identity.originUid && said.epoch === identity.epoch && said.localKey.name === localKey.name) return essentials;
  const env = variablesOf(identity).map((variable) => ({ ...variable }));
  const template = { spec: { containers: [{ name: '', env }] } };
  return { ...essentials, spec: { ...spec, template } };
}

/**
 * The status of a copy, as far as it counts. An end counts only while the copy is not being deleted, unless it is known at home: an
 * operator may take pods that the deletion removes for failed. `Suspended` counts only while the copy is suspended.
 */
function believed(
  readings: Readings,
  copy: DeepReadonly<WorkObject>,
  local: DeepReadonly<WorkObject>,
  suspended: boolean,
): DeepReadonly<WorkStatus> | undefined {
  const { status } = copy;
  if (status === undefined) return undefined;
  const leaves = copy.metadata.deletionTimestamp !== undefined && !isFinished(local.status);
  const isDoubted = ({ type, status: is }: DeepReadonly<JobCondition>): boolean =>
    is === 'True' && ((leaves && (type === 'Complete' || type === 'Failed')) || (!suspended && type === 'Suspended'));
  if (!(status.conditions ?? []).some(isDoubted)) return status;
  const { state } = readings.of(copy);
  const conditions = (status.conditions ?? []).filter((each) => !isDoubted(each));
  return readings.keepState({ ...status, conditions }, leaves ? { ...state, end: undefined } : state);
}

const shortText = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= SHORT_LENGTH_MAX ? value : undefined;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

function texts(map: unknown, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = isJsonObject(map) ? map[name] : undefined;
      return typeof value === 'string' && value.length <= SHORT_LENGTH_MAX ? [[name, value]] : [];
    }),
  );
}
