import { isJsonObject, jsonEquals, type JsonObject } from '../apimachinery/json.ts';
import { conformObject } from '../schema/conform.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { type Comparison, compareObjects } from './compare.ts';
import { difference, EMPTY_SET, type FieldSet, isEmptySet, union } from './field-set.ts';
import { appliedProblem } from './validate-applied.ts';
import { capUpdateManagers, isSameManager, type Manager, readManagers, withoutEmpty, writeManagers } from './managers.ts';

export type TrackedUpdate = {
  /** The object as stored; undefined on create. */
  readonly live: AnyObject | undefined;
  /** The object to be stored; its managedFields are replaced. */
  readonly next: AnyObject;
  readonly manager: string;
  /** Version of the request, such as `batch/v1`. */
  readonly apiVersion: string;
  /** '' for the main resource. */
  readonly subresource: string;
  readonly schema: ObjectSchema;
  /** The schemas of the other versions, where the resource has any. */
  readonly schemaOf?: VersionSchemas | undefined;
  /** RFC 3339 with whole seconds. */
  readonly now: string;
};

/** The schema of an apiVersion of the same resource; undefined when it is not served. */
export type VersionSchemas = (apiVersion: string) => ObjectSchema | undefined;

/**
 * Notes in `next.metadata.managedFields` which fields a create, an update or a patch (not an apply) sets: the manager
 * owns what it adds and changes, and everybody else loses it. Objects without managedFields stay without when
 * they are updated; `managedFields: [{}]` in the request resets them.
 */
export function trackUpdate(update: TrackedUpdate): void {
  const { live, next, schema } = update;
  const before = managersBefore(live, next, update.subresource !== '');
  if (before.length === 0 && live !== undefined) {
    delete next.metadata.managedFields;
    return;
  }
  const known = inOtherVersions(before, live, next, update);
  if (known === undefined) {
    // Upstream would rather have no managedFields than wrong ones.
    delete next.metadata.managedFields;
    return;
  }
  const comparison = compareObjects(comparable(live ?? emptyObject(schema), update), comparable(next, update), schema);
  const hasChanged = [comparison.added, comparison.modified, comparison.removed].some((set) => !isEmptySet(set));
  const after = hasChanged ? capUpdateManagers(managersAfter(known, comparison, update)) : known;
  setManagers(next, after, schema.custom !== undefined);
}

/** The managers whose versions are still served; undefined when the object does not fit into one of those versions. */
function inOtherVersions(
  managers: readonly Manager[],
  live: AnyObject | undefined,
  next: AnyObject,
  { apiVersion, schemaOf }: TrackedUpdate,
): readonly Manager[] | undefined {
  const served = servedManagers(managers, apiVersion, schemaOf);
  const problem = served.find((manager) => [live, next].some((each) => versionProblem(each, manager, apiVersion, schemaOf) !== undefined));
  return problem === undefined ? served : undefined;
}

/** Managers of versions that are gone are forgotten. */
export const servedManagers = (
  managers: readonly Manager[],
  apiVersion: string,
  schemaOf: VersionSchemas | undefined,
): readonly Manager[] =>
  managers.filter(({ apiVersion: own }) =>
    own === apiVersion ? true : schemaOf === undefined ? isKnownVersion(own) : schemaOf(own) !== undefined,
  );

/** Whether built-in kinds are known in this version: the core group has one, other groups may have had several. */
const isKnownVersion = (apiVersion: string): boolean => /^(v1|[a-z0-9.-]+\/v[1-3]((alpha|beta)[1-9])?)$/.test(apiVersion);

/**
 * What keeps an object from being seen as its manager wrote it. Conversion changes nothing but the version, so fields may be unknown there.
 */
export function versionProblem(
  object: JsonObject | undefined,
  manager: Manager,
  apiVersion: string,
  schemaOf: VersionSchemas | undefined,
): string | undefined {
  const schema = manager.apiVersion === apiVersion ? undefined : schemaOf?.(manager.apiVersion);
  return schema === undefined ? undefined : appliedProblem(object, schema);
}

/** Custom resources are kept as maps, so their keys come in order. */
export function setManagers(object: AnyObject, managers: readonly Manager[], isCustom: boolean): void {
  if (managers.length === 0) delete object.metadata.managedFields;
  else object.metadata.managedFields = writeManagers(managers, isCustom);
}

/** A request may set managedFields itself, except through a subresource; what makes no sense is ignored. */
function managersBefore(live: AnyObject | undefined, next: AnyObject, isSubresource: boolean): Manager[] {
  const given = next.metadata.managedFields;
  if (!isSubresource && isReset(given)) return [];
  const own = isSubresource || given === live?.metadata.managedFields ? undefined : readManagers(given);
  return own !== undefined && own.length > 0 ? own : (readManagers(live?.metadata.managedFields) ?? []);
}

const isReset = (managedFields: unknown[] | undefined): boolean =>
  managedFields !== undefined &&
  (managedFields.length === 0 ||
    (managedFields.length === 1 && isJsonObject(managedFields[0]) && Object.keys(managedFields[0]).length === 0));

function managersAfter(before: readonly Manager[], { added, modified, removed }: Comparison, update: TrackedUpdate): Manager[] {
  const taken = union(added, modified);
  const self: Manager = {
    name: update.manager,
    operation: 'Update',
    apiVersion: update.apiVersion,
    subresource: update.subresource,
    time: update.now,
    fields: EMPTY_SET,
  };
  const own = before.find((manager) => isSameManager(manager, self));
  const others = before
    .filter((manager) => manager !== own)
    .map((manager) => ({ ...manager, fields: difference(difference(manager.fields, taken), removed) }));
  const fields = union(difference(own?.fields ?? EMPTY_SET, removed), difference(taken, NEVER_OWNED));
  return withoutEmpty([...others, { ...self, fields }]);
}

/** Fields of metadata that nobody owns (stripMeta), apart from those left out of every comparison. */
export const NEVER_OWNED: FieldSet = { 'f:metadata': EMPTY_SET };
const UNTRACKED_METADATA = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
];

/** The object without what is never owned and without what the write will not change. */
export function comparable(object: AnyObject | JsonObject, context: Pick<TrackedUpdate, 'subresource' | 'schema'>): JsonObject {
  const { apiVersion: _apiVersion, kind: _kind, ...tracked } = withoutResetFields(object, context);
  if (context.subresource === 'status' && context.schema.custom !== undefined) return tracked;
  const metadata: JsonObject = isJsonObject(tracked.metadata) ? { ...tracked.metadata } : {};
  for (const field of UNTRACKED_METADATA) delete metadata[field];
  tracked.metadata = metadata;
  return tracked;
}

/** The object without what the write will not change (GetResetFields of the strategies). A shallow copy. */
export function withoutResetFields(
  object: AnyObject | JsonObject,
  { subresource, schema }: Pick<TrackedUpdate, 'subresource' | 'schema'>,
): JsonObject {
  const kept: JsonObject = { ...object };
  if (subresource === 'status') delete kept.spec;
  else if (subresource === '' && hasStatus(schema)) delete kept.status;
  if (subresource === 'status' && schema.custom !== undefined) return kept.status === undefined ? {} : { status: kept.status };
  return kept;
}

/** Custom resources without the subresource keep an ordinary field of that name. */
const hasStatus = (schema: ObjectSchema): boolean => schema.custom?.hasStatusSubresource ?? true;

/** What a kind looks like before anything is set: it decides which containers count as added. */
export function emptyObject(schema: ObjectSchema): JsonObject {
  const empty: JsonObject = {};
  if (schema.custom === undefined) conformObject(empty, schema);
  return empty;
}

/**
 * Undoes what only renewed the time of an entry: an object that is otherwise as it was keeps its old managedFields.
 */
export function keepTimesOfUnchanged(next: AnyObject, live: AnyObject): void {
  const [ofNext, ofLive] = [next.metadata.managedFields, live.metadata.managedFields];
  if (ofNext === undefined || ofLive === undefined || ofNext === ofLive) return;
  const timeless = (entries: readonly unknown[]): unknown[] =>
    entries.map((entry) => (isJsonObject(entry) ? { ...entry, time: undefined } : entry));
  if (!jsonEquals(timeless(ofNext), timeless(ofLive))) return;
  const bare = (object: AnyObject): object => ({ ...object, metadata: { ...object.metadata, managedFields: undefined } });
  if (jsonEquals(bare(next), bare(live))) next.metadata.managedFields = ofLive;
}
