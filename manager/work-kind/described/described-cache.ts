import type { DeepReadonly, Unsaved, WorkObject } from '../../../shared/api/kubernetes.ts';
import { COPIES_FINALIZER, MANAGER_CONTROLLER_NAME, QUEUE_NAME_LABEL } from '../../../shared/api/names.ts';
import { formatProblems } from '../../api/field-problem.ts';
import { NEEDED_OBJECTS_MAX, neededObjects, type NeededObject } from '../../api/needed-objects.ts';
import { withAttached } from '../../api/attachments.ts';
import { podReferences, type PodReference } from '../../api/pod-references.ts';
import type { CachedForm } from '../work-kind.ts';
import type { Description } from './description.ts';
import { statusIn } from './described-conditions.ts';
import { valueAt, withValueAt } from '../../../shared/api/field-path.ts';
import type { Readings } from './readings.ts';
import { visibleObject } from './visible-object.ts';

const COMPACT = Symbol('compact');

type Compact = {
  readonly [COMPACT]: {
    readonly problem: string | undefined;
    readonly references: readonly PodReference[];
    readonly needs: readonly NeededObject[];
  };
};

/** Whether parts of an object are missing, so that no copy may be made of it. */
export const isCompact = (object: object): object is Compact => COMPACT in object;

/** The forms of a described kind that the manager cluster's cache keeps. */
export function describedCache(description: Description, readings: Readings): CachedForm {
  const paths = [description.suspend, ...(description.managedBy === undefined ? [] : [description.managedBy.path])];
  const least = (object: WorkObject): object =>
    (paths.reduce<object>((all, path) => withValueAt(all, path, valueAt(object, path)), { spec: {} }) as Pick<WorkObject, 'spec'>).spec;
  const whole = (object: WorkObject): WorkObject => {
    delete object.metadata.managedFields;
    if (description.status.hasConditions) return object;
    const status = statusIn(object.status, object.metadata.annotations);
    return status === undefined ? object : ({ ...object, status } as WorkObject);
  };
  return {
    whole,
    compact: (object, { problem } = {}) => {
      const all = whole(object);
      const reading = readings.of(all);
      const templates = reading.templates.map((path) => valueAt(all, path));
      const [references, needs] = [withAttached(referencesIn(templates), all.metadata), needsIn(templates)];
      const visible = problem === undefined ? visibleObject(all, reading.templates) : { ...visibleObject(all, []), spec: least(all) };
      const compact = { ...visible, [COMPACT]: { problem: problem ?? problemOf(reading.problems), references, needs } };
      return problem === undefined ? readings.keep(compact, reading) : compact;
    },
    identity: (object) => {
      const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
      return { metadata: { name, namespace, uid, resourceVersion, creationTimestamp }, spec: least(object) };
    },
    problem: (object) => (isCompact(object) ? object[COMPACT].problem : problemOf(readings.of(object).problems)),
  };
}

const problemOf = (problems: Parameters<typeof formatProblems>[0]): string | undefined =>
  problems.length === 0 ? undefined : formatProblems(problems);

/** The ConfigMaps and Secrets that its pods refer to, each once. The result is the same for an object and its compact form. */
export const referencesOf = (readings: Readings, object: DeepReadonly<Unsaved<WorkObject>>): readonly PodReference[] =>
  isCompact(object)
    ? object[COMPACT].references
    : withAttached(referencesIn(readings.of(object).templates.map((path) => valueAt(object, path))), object.metadata);

/** The objects that its pods need and that are never carried, each once. The result is the same for an object and its compact form. */
export const needsOf = (readings: Readings, object: DeepReadonly<Unsaved<WorkObject>>): readonly NeededObject[] =>
  isCompact(object) ? object[COMPACT].needs : needsIn(readings.of(object).templates.map((path) => valueAt(object, path)));

function needsIn(templates: readonly unknown[]): readonly NeededObject[] {
  const all = (templates as readonly { readonly spec?: Parameters<typeof neededObjects>[0] }[]).flatMap(({ spec }) => neededObjects(spec));
  return [...new Map(all.map((each) => [`${each.kind}/${each.name}`, each])).values()].slice(0, NEEDED_OBJECTS_MAX);
}

function referencesIn(templates: readonly unknown[]): readonly PodReference[] {
  const found = new Map<string, PodReference>();
  for (const template of templates as readonly { readonly spec?: Parameters<typeof podReferences>[0] }[])
    for (const reference of podReferences(template.spec)) {
      const key = `${reference.kind}/${reference.name}`;
      const known = found.get(key);
      if (known === undefined || (known.optional && !reference.optional)) found.set(key, reference);
    }
  return found.size === 0 ? NO_REFERENCES : [...found.values()];
}
const NO_REFERENCES: readonly PodReference[] = [];

/**
 * The controller of an object: this manager where the field has the value that the description names. Others may use that value, too; then
 * an object is this manager's by its queue, or by what was once dispatched.
 */
export function controllerOf({ managedBy }: Description, object: DeepReadonly<Unsaved<WorkObject>>): string | undefined {
  const { labels, finalizers } = object.metadata;
  const isMarked = labels?.[QUEUE_NAME_LABEL] !== undefined || finalizers?.includes(COPIES_FINALIZER) === true;
  if (managedBy === undefined) return isMarked ? MANAGER_CONTROLLER_NAME : undefined;
  const value = valueAt(object, managedBy.path);
  if (value === managedBy.home && (value === MANAGER_CONTROLLER_NAME || isMarked)) return MANAGER_CONTROLLER_NAME;
  return typeof value !== 'string' || managedBy.operator.includes(value) ? undefined : value;
}
