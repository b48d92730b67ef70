import { QUEUE_NAME_LABEL } from '../../../shared/api/names.ts';
import { apiVersionOf } from '../../../shared/api/resources.ts';
import type { WorldObjects } from '../../insight/world/world-objects.ts';
import { isJsonObject } from '../../api/json-value.ts';
import { CHANGE_KINDS, kindNamed, objectsOf, withObjects, type AnyObject, type ChangeKind } from './change-kinds.ts';
import { edited } from '../../insight/world/edited-object.ts';
import type { Change, Target } from './changes.ts';
import { ChangeError, createValidator, type Validator } from './validation.ts';

export type ChangedObjects = {
  readonly objects: WorldObjects;
  /** Each change in words. */
  readonly said: readonly string[];
};

/** More Jobs are not submitted at once. */
const COPIES_MAX = 10_000;

/** The objects as they would be after these changes, made one after another. Throws {@link ChangeError} for what cannot be made. */
export function changedObjects(objects: WorldObjects, changes: readonly Change[], namespace: string, nowMs: number): ChangedObjects {
  const validate = createValidator(nowMs);
  let now = objects;
  const said: string[] = [];
  for (const change of changes) {
    const step = made(now, change, { validate, namespace, nowMs });
    now = step.objects;
    said.push(...step.said);
  }
  return { objects: now, said };
}

type Context = { readonly validate: Validator; readonly namespace: string; readonly nowMs: number };

function made(objects: WorldObjects, change: Change, context: Context): ChangedObjects {
  const { place } = change;
  switch (change.kind) {
    case 'Apply':
      return applied(objects, change.manifest, place, context);
    case 'Submit':
      return submitted(objects, change.manifest, change.copies, place, context);
    case 'Remove': {
      const { kind, object } = found(objects, change.target, place);
      const others = objectsOf(objects, kind).filter((each) => each !== object);
      return { objects: withObjects(objects, kind, others), said: [`${kind.title} ${nameOf(object)} were deleted`] };
    }
    case 'Edit': {
      const { kind, object } = found(objects, change.target, place);
      const wanted = edited(object, change.edit, place, context.nowMs);
      const stored = context.validate(kind.resource, withType(kind, wanted), object, place);
      // A status is not for clients to write; here it is what would come about.
      const next = change.edit.field === 'lost' ? { ...stored, status: wanted['status'] } : stored;
      return { objects: replaced(objects, kind, object, next), said: [`${place.replace(/^--(\S+) /, '$1 ')}`] };
    }
  }
}

const withType = ({ resource }: ChangeKind, object: object): object => ({
  ...object,
  apiVersion: apiVersionOf(resource),
  kind: resource.kind,
});

function found(objects: WorldObjects, { word, namespace, name }: Target, place: string) {
  const kind = kindNamed(word);
  if (kind === undefined)
    throw new ChangeError(
      `${place}: ${word} is no kind that admission looks at; choose from ${CHANGE_KINDS.map(({ resource }) => resource.kind).join(', ')}`,
    );
  const { namespaced } = kind.resource;
  if (namespaced !== (namespace !== undefined))
    throw new ChangeError(`${place}: a ${kind.title} is named ${namespaced ? 'NAMESPACE/NAME' : 'NAME'}; write it so`);
  const all = objectsOf(objects, kind);
  const object = all.find(({ metadata }) => metadata.name === name && (!namespaced || metadata.namespace === namespace));
  if (object === undefined) {
    const names = all.map(nameOf).toSorted((a, b) => (a < b ? -1 : 1));
    const some = names.length > 8 ? `${names.slice(0, 8).join(', ')} and ${names.length - 8} more` : names.join(', ');
    throw new ChangeError(
      `${place}: there is no ${kind.title} ${namespace === undefined ? '' : `${namespace}/`}${name}; there ${some === '' ? 'is none' : `are ${some}`}`,
    );
  }
  return { kind, object };
}

function applied(objects: WorldObjects, manifest: object, place: string, context: Context): ChangedObjects {
  const kind = kindOf(manifest, place);
  const named = withNamespace(kind, manifest, context.namespace);
  const { name, namespace } = metadataOf(named);
  const all = objectsOf(objects, kind);
  const before = all.find(({ metadata }) => metadata.name === name && (!kind.resource.namespaced || metadata.namespace === namespace));
  if (before === undefined && kind.list === 'jobs') return submitted(objects, manifest, 1, place, context);
  const stored = context.validate(kind.resource, named, before, place);
  const next = before === undefined && kind.list === 'workerClusters' ? asReady(stored, named, context.nowMs) : stored;
  const said = `${kind.title} ${nameOf(next)} were ${before === undefined ? 'there' : 'as in'}${before === undefined ? '' : ` ${place}`}`;
  return {
    objects: before === undefined ? withObjects(objects, kind, [...all, next]) : replaced(objects, kind, before, next),
    said: [said],
  };
}

/** Nobody has seen a cluster that is not there yet: it is taken to answer, and to have what its spec says, or room for everything. */
function asReady(stored: AnyObject, manifest: object, nowMs: number): AnyObject {
  const status = 'status' in manifest && isJsonObject(manifest.status) ? manifest.status : undefined;
  const lastTransitionTime = new Date(nowMs).toISOString();
  const ready = { type: 'Ready', status: 'True', reason: 'Connected', message: '', lastTransitionTime };
  return { ...stored, status: status ?? { conditions: [ready] } };
}

function submitted(objects: WorldObjects, manifest: object, copies: number, place: string, context: Context): ChangedObjects {
  const kind = kindOf(manifest, place);
  if (kind.list !== 'jobs') throw new ChangeError(`${place}: only Jobs are submitted; give a ${kind.resource.kind} with -f`);
  if (copies > COPIES_MAX) throw new ChangeError(`${place}: more than ${COPIES_MAX} Jobs; ask about fewer at once`);
  const named = withNamespace(kind, manifest, context.namespace);
  const { name, generateName } = metadataOf(named);
  const base = name ?? `${generateName ?? 'job-'}what-if`;
  const all = objectsOf(objects, kind);
  const taken = new Set(all.map(nameOf));
  const added: AnyObject[] = [];
  for (let n = 1; added.length < copies; n++) {
    const each = copies === 1 && n === 1 ? base : `${base}-${n}`;
    const { generateName: _prefix, ...metadata } = metadataOf(named);
    if (taken.has(`${metadata.namespace}/${each}`)) continue;
    added.push(context.validate(kind.resource, { ...named, metadata: { ...metadata, name: each } }, undefined, place));
  }
  const [first] = added;
  const queue = first?.metadata.labels?.[QUEUE_NAME_LABEL] ?? '';
  const what =
    copies === 1
      ? `job ${first === undefined ? '' : nameOf(first)} were`
      : `${copies} jobs such as ${first === undefined ? '' : nameOf(first)} were`;
  return { objects: withObjects(objects, kind, [...all, ...added]), said: [`${what} submitted to queue ${queue}`] };
}

function kindOf(manifest: object, place: string): ChangeKind {
  const { apiVersion, kind } = manifest as { readonly apiVersion?: unknown; readonly kind?: unknown };
  const known = CHANGE_KINDS.find(({ resource }) => resource.kind === kind && apiVersionOf(resource) === apiVersion);
  if (known !== undefined) return known;
  const kinds = CHANGE_KINDS.map(({ resource }) => `${apiVersionOf(resource)} ${resource.kind}`).join(', ');
  throw new ChangeError(`${place}: admission does not look at ${String(apiVersion)} ${String(kind)}; it looks at ${kinds}`);
}

type Metadata = { readonly name?: string; readonly generateName?: string; readonly namespace?: string };
function metadataOf(manifest: object): Metadata {
  const metadata = 'metadata' in manifest && isJsonObject(manifest.metadata) ? manifest.metadata : {};
  const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
  const [name, generateName, namespace] = [text(metadata['name']), text(metadata['generateName']), text(metadata['namespace'])];
  return { ...metadata, ...(name && { name }), ...(generateName && { generateName }), ...(namespace && { namespace }) };
}

const withNamespace = ({ resource }: ChangeKind, manifest: object, namespace: string): object =>
  resource.namespaced ? { ...manifest, metadata: { namespace, ...metadataOf(manifest) } } : manifest;

const replaced = (objects: WorldObjects, kind: ChangeKind, before: AnyObject, next: AnyObject): WorldObjects =>
  withObjects(
    objects,
    kind,
    objectsOf(objects, kind).map((each) => (each === before ? next : each)),
  );

const nameOf = ({ metadata }: Pick<AnyObject, 'metadata'>): string =>
  metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
