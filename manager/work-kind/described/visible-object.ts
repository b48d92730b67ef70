import type { DeepReadonly, PodTemplateSpec, Unsaved, WorkObject } from '../../../shared/api/kubernetes.ts';
import { SWITCHYARD_GROUP } from '../../../shared/api/names.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { isJsonObject } from '../../api/json-value.ts';
import { essentialsOfPod } from '../copy/pod-essentials.ts';
import { type FieldPath, valueAt, withValueAt } from '../../../shared/api/field-path.ts';
import { templateProblem } from './pod-shape.ts';

/** Expressions see no longer texts: scripts and settings decide nothing, and fill a cache. */
const TEXT_LENGTH_MAX = 1024;
const ANNOTATION_LENGTH_MAX = 256;

/**
 * What expressions see of an object, and what a cache keeps of it: of its pod templates what decides where pods may run, no text beyond
 * 1,024 characters, no annotation of others beyond 256. The result is the same for an object and for what is seen of it.
 */
export function visibleObject<O extends DeepReadonly<Unsaved<WorkObject>>>(object: O, templates: readonly FieldPath[]): O {
  const { metadata, spec, status } = object;
  const placed = templates.reduce<{ readonly spec: unknown }>((all, path) => withValueAt(all, path, visibleTemplate(valueAt(all, path))), {
    spec,
  });
  return {
    metadata: visibleMetadata(metadata),
    spec: hasLongText(placed.spec) ? shortened(placed.spec) : placed.spec,
    ...(status === undefined ? {} : { status }),
  } as unknown as O;
}

/** A pod template without what its containers do. */
export function visibleTemplate(template: unknown): PodTemplateSpec {
  const { metadata, spec } = (isJsonObject(template) ? template : {}) as PodTemplateSpec;
  if (spec === undefined || templateProblem(template) !== undefined) return {};
  const { terminationGracePeriodSeconds } = spec;
  return {
    ...omitUndefined({ metadata: metadata?.labels === undefined ? undefined : { labels: metadata.labels } }),
    spec: { ...essentialsOfPod(spec), ...omitUndefined({ terminationGracePeriodSeconds }) },
  };
}

type Metadata = DeepReadonly<Unsaved<WorkObject>['metadata']>;

function visibleMetadata({ managedFields: _managedFields, annotations, ...metadata }: Metadata): Metadata {
  const kept = Object.entries(isJsonObject(annotations) ? annotations : {}).filter(
    ([name, value]) => typeof value === 'string' && (name.startsWith(`${SWITCHYARD_GROUP}/`) || value.length <= ANNOTATION_LENGTH_MAX),
  );
  return { ...metadata, ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }) };
}

function hasLongText(value: unknown): boolean {
  if (typeof value === 'string') return value.length > TEXT_LENGTH_MAX;
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) ? value.some(hasLongText) : Object.values(value).some(hasLongText);
}

function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shortened);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) =>
      typeof each === 'string' && each.length > TEXT_LENGTH_MAX ? [] : [[name, typeof each === 'object' ? shortened(each) : each]],
    ),
  );
}
