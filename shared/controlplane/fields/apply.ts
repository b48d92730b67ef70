import { isJsonObject, type JsonObject } from '../apimachinery/json.ts';
import { conformDecoded, kindOf } from '../schema/decode.ts';
import { TypeMismatch } from '../schema/conform.ts';
import { converterWording } from '../schema/converter-wording.ts';
import { hasDuplicateKeys } from '../schema/json-text.ts';
import type { FieldValidation, ObjectSchema } from '../schema/schema.ts';
import { parseYaml, repeatedYamlKeys, yamlKeysError, YamlSyntaxError } from '../schema/yaml-text.ts';
import { badRequest, StatusError } from '../apimachinery/status-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { allowedByLastApplied, refreshLastApplied } from './last-applied.ts';
import { appliedFields, compareObjects, withNamedFields } from './compare.ts';
import { difference, EMPTY_SET, type FieldSet, intersection, isEmptySet, pathsOf, union } from './field-set.ts';
import {
  comparable,
  emptyObject,
  NEVER_OWNED,
  servedManagers,
  setManagers,
  type VersionSchemas,
  versionProblem,
  withoutResetFields,
} from './managed-fields.ts';
import { isSameManager, type Manager, readManagers, withoutEmpty } from './managers.ts';
import { mergeApplied, removeItems } from './merge.ts';
import { appliedProblem } from './validate-applied.ts';

export const APPLY_PATCH = 'application/apply-patch+yaml';

export type ApplyRequest = {
  /** YAML or JSON. */
  readonly body: string;
  /** The object as stored, with kind and apiVersion; undefined if the apply creates it. */
  readonly live: AnyObject | undefined;
  readonly schema: ObjectSchema;
  /** The schemas of the other versions, where the resource has any. */
  readonly schemaOf?: VersionSchemas | undefined;
  readonly manager: string;
  readonly force: boolean;
  readonly subresource: string;
  readonly fieldValidation: FieldValidation;
  /** RFC 3339 with whole seconds. */
  readonly now: string;
};

/** The applied object, not yet defaulted, with its managedFields. */
export type Applied = { readonly object: AnyObject; readonly warnings: string[] };

/**
 * Server-side apply (merge.Updater.Apply of structured-merge-diff with the managers around it): merges the configuration
 * into the live object, removes what the manager used to apply and nobody owns any more, and refuses to take fields
 * from others unless forced. Throws StatusError.
 */
export function applyConfiguration(request: ApplyRequest): Applied {
  const { live, schema, subresource } = request;
  const configuration = readConfiguration(request);
  const liveObject: JsonObject = live ?? emptyObject(schema);
  const known = managersBefore(request);
  const applied = appliedFields(comparable(configuration, { subresource, schema }), schema);
  const self = applier(request, difference(applied, NEVER_OWNED));
  const previous = known.find((manager) => isSameManager(manager, self));
  const others = servedManagers(
    known.filter((manager) => manager !== previous),
    self.apiVersion,
    request.schemaOf,
  );
  const merged = mergeApplied(withoutManagedFields(liveObject), withoutManagedFields(configuration), schema);
  const applierBefore = previous === undefined ? [] : [previous];
  refuseUnfit(merged, applierBefore, self, request, 'prune fields: failed to convert merged object to last applied version');
  // The whole configuration keeps its fields, its name among them; what is never owned is left out afterwards.
  const whole = { ...self, fields: appliedFields(withoutResetFields(configuration, { subresource, schema }), schema) };
  const pruned = prune(merged, previous?.fields ?? EMPTY_SET, [...others, whole], schema);
  const object = isJsonObject(pruned) ? pruned : {};
  refuseUnfit(liveObject, others, self, request, 'convert old object');
  refuseUnfit(object, others, self, request, 'convert new object');
  const unconvertible = settle(object, configuration, request);
  const after = takeFields(withoutEmpty([...others, self]), self, liveObject, object, request);
  if (unconvertible !== undefined) throw unconvertible;
  const warnings = repeatedKeys(request);
  const result = object as AnyObject;
  setManagers(result, keepTime(after, self, previous, liveObject, object, request), schema.custom !== undefined);
  refreshLastApplied(result, configuration, request.manager);
  return { object: result, warnings };
}

function readConfiguration({ body, schema }: ApplyRequest): JsonObject {
  const configuration = parseConfiguration(body);
  const { group, version, kind } = kindOf(schema);
  const [first = '', second] = typeof configuration.apiVersion === 'string' ? configuration.apiVersion.split('/') : [];
  const actual = { group: second === undefined ? '' : first, version: second ?? first, kind: textOf(configuration.kind) };
  if (actual.group !== group || actual.version !== version || actual.kind !== kind) {
    throw badRequest(`invalid object type: ${actual.group}/${actual.version}, Kind=${actual.kind}`);
  }
  const metadata = isJsonObject(configuration.metadata) ? configuration.metadata : {};
  if (metadata.managedFields !== undefined && metadata.managedFields !== null) throw badRequest('metadata.managedFields must be nil');
  const problem = appliedProblem(configuration, schema);
  if (problem !== undefined) {
    throw new StatusError(500, '', `failed to create typed patch object (${describeObject(configuration, schema)}): ${problem}`);
  }
  return configuration;
}

const kindText = (schema: ObjectSchema): string => {
  const { group, version, kind } = kindOf(schema);
  return `${group}/${version}, Kind=${kind}`;
};

function describeObject(configuration: JsonObject, schema: ObjectSchema): string {
  const metadata = isJsonObject(configuration.metadata) ? configuration.metadata : {};
  return `${textOf(metadata.namespace)}/${textOf(metadata.name)}; ${kindText(schema)}`;
}

/** An object is compared in the version of each manager, and must fit there. */
function refuseUnfit(object: unknown, managers: readonly Manager[], self: Manager, { schemaOf }: ApplyRequest, action: string): void {
  if (!isJsonObject(object)) return;
  for (const manager of managers) {
    const problem = versionProblem(withoutManagedFields(object), manager, self.apiVersion, schemaOf);
    if (problem !== undefined) throw new StatusError(500, '', `failed to ${action}: ${problem}`);
  }
}

/** What is no text is as good as absent. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function parseConfiguration(body: string): JsonObject {
  try {
    const value = parseYaml(body);
    if (isJsonObject(value)) return value;
    // Decoding null changes nothing.
    if (value === null || value === undefined) return {};
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value} into Go value of type map[string]interface {}`,
    );
  } catch (error) {
    if (error instanceof YamlSyntaxError) throw badRequest(`error decoding YAML: ${error.message}`);
    throw error;
  }
}

/** Keys that stand twice in the configuration: refused, warned of or let pass. Unknown fields have been refused already. */
function repeatedKeys({ body, fieldValidation }: ApplyRequest): string[] {
  if (fieldValidation === 'Ignore' || (body.trimStart().startsWith('{') && !hasDuplicateKeys(body, parseYaml(body)))) return [];
  const repeated = repeatedYamlKeys(body);
  if (fieldValidation === 'Strict' && repeated.length > 0) throw badRequest(`error strict decoding YAML: ${yamlKeysError(repeated)}`);
  return repeated;
}

/** The owners of an object that has none yet: everything it has belongs to "before-first-apply". */
function managersBefore({ live, schema, subresource, now }: ApplyRequest): Manager[] {
  if (live === undefined) return [];
  const known = readManagers(live.metadata.managedFields) ?? [];
  if (known.length > 0) return known;
  const fields = compareObjects(
    comparable(emptyObject(schema), { subresource, schema }),
    comparable(live, { subresource, schema }),
    schema,
  );
  const apiVersion = String(live.apiVersion);
  const owner: Manager = {
    name: 'before-first-apply',
    operation: 'Update',
    apiVersion,
    subresource: '',
    time: now,
    fields: union(fields.added, fields.modified),
  };
  return withoutEmpty([{ ...owner, fields: difference(owner.fields, NEVER_OWNED) }]);
}

const applier = ({ manager, subresource, schema, now }: ApplyRequest, fields: FieldSet): Manager => {
  const { group, version } = kindOf(schema);
  return { name: manager, operation: 'Apply', apiVersion: group === '' ? version : `${group}/${version}`, subresource, time: now, fields };
};

const withoutManagedFields = (object: JsonObject): JsonObject => {
  if (!isJsonObject(object.metadata)) return object;
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
};

/** Removes what the manager applied last time, does not apply now, and nobody else owns (Updater.prune). */
function prune(merged: unknown, last: FieldSet, managers: readonly Manager[], schema: ObjectSchema): unknown {
  if (isEmptySet(last)) return merged;
  const lastNamed = withNamedFields(last, schema);
  const mergedSet = withNamedFields(appliedFields(merged, schema), schema);
  const bare = removeItems(merged, lastNamed, schema);
  const owned = managers.reduce<FieldSet>((set, { fields }) => union(set, fields), EMPTY_SET);
  const keep = union(withNamedFields(appliedFields(bare ?? {}, schema), schema), withNamedFields(owned, schema));
  const withOwned = removeItems(merged, difference(mergedSet, keep), schema);
  const withOwnedSet = withNamedFields(appliedFields(withOwned ?? {}, schema), schema);
  return removeItems(merged, intersection(difference(mergedSet, withOwnedSet), lastNamed), schema);
}

/** Brings the merged object to its stored form. Returns why that cannot be done, which counts only if nobody else's fields are taken. */
function settle(object: JsonObject, configuration: JsonObject, { live, schema }: ApplyRequest): StatusError | undefined {
  const { apiVersion, kind } = live ?? { apiVersion: object.apiVersion, kind: object.kind };
  try {
    conformDecoded(object, schema, { wording: converterWording });
  } catch (error) {
    if (!(error instanceof TypeMismatch)) throw error;
    const why = `unable to convert unstructured object to ${kindText(schema)}: ${error.message}`;
    return new StatusError(500, '', `failed to convert new object (${describeObject(configuration, schema)}) to proper version: ${why}`);
  }
  Object.assign(object, { apiVersion, kind });
  object.metadata ??= {};
  return undefined;
}

/** Takes from the other managers what this apply changes; without force that is a conflict. */
function takeFields(managers: readonly Manager[], self: Manager, live: JsonObject, object: JsonObject, request: ApplyRequest): Manager[] {
  const { schema, subresource } = request;
  const { added, modified, removed } = compareObjects(
    comparable(live, { subresource, schema }),
    comparable(object, { subresource, schema }),
    schema,
  );
  const changed = union(added, modified);
  const conflicts = managers.flatMap((manager) =>
    manager === self ? [] : pathsOf(intersection(manager.fields, changed)).map((path) => ({ manager, path })),
  );
  const allowed = request.force ? undefined : allowedByLastApplied(request.live, request.manager, schema);
  const refused = request.force ? [] : conflicts.filter(({ path }) => allowed?.has(path) !== true);
  if (refused.length > 0) throw conflictError(refused);
  return withoutEmpty(
    managers.map((manager) => (manager === self ? self : { ...manager, fields: difference(difference(manager.fields, changed), removed) })),
  );
}

type FieldConflict = { readonly manager: Manager; readonly path: string };

function conflictError(conflicts: readonly FieldConflict[]): StatusError {
  const causes = conflicts.map(({ manager, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${describe(manager)}`,
    field: path,
  }));
  return new StatusError(409, 'Conflict', conflictMessage(conflicts), { causes });
}

function conflictMessage(conflicts: readonly FieldConflict[]): string {
  const [first] = conflicts;
  if (conflicts.length === 1 && first !== undefined) {
    return `Apply failed with 1 conflict: conflict with ${describe(first.manager)}: ${first.path}`;
  }
  const byManager = new Map<string, string[]>();
  for (const { manager, path } of conflicts) byManager.set(describe(manager), [...(byManager.get(describe(manager)) ?? []), `- ${path}`]);
  const groups = [...byManager].sort(([left], [right]) => (left < right ? -1 : 1));
  const lines = groups.flatMap(([manager, paths]) => [`conflicts with ${manager}:`, ...paths]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

function describe({ name, operation, apiVersion, subresource }: Manager): string {
  const subject = JSON.stringify(name) + (subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`);
  return operation === 'Update' ? `${subject} using ${apiVersion}` : subject;
}

/** An apply that changes nothing but who owns what is no news: the entry keeps its time, and a new one has none. */
function keepTime(
  after: readonly Manager[],
  self: Manager,
  previous: Manager | undefined,
  live: JsonObject,
  object: JsonObject,
  { schema, subresource }: ApplyRequest,
): readonly Manager[] {
  const { added, modified, removed } = compareObjects(
    comparable(live, { subresource, schema }),
    comparable(object, { subresource, schema }),
    schema,
  );
  const isUnchanged = [added, modified, removed].every(isEmptySet);
  return isUnchanged ? after.map((manager) => (manager === self ? { ...self, time: previous?.time } : manager)) : after;
}
