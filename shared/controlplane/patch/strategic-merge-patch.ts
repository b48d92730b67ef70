import { anySchema, type Field, type Schema } from '../schema/schema.ts';
import { cloneJson, fieldOf, isJsonObject, type JsonObject, setField, withoutNulls } from '../apimachinery/json.ts';
import { goValue } from './go-value.ts';
import { mergeScalars, orderElements, sameKey } from './strategic-order.ts';

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const DELETE_FROM_PRIMITIVE_LIST = '$deleteFromPrimitiveList/';
const SET_ELEMENT_ORDER = '$setElementOrder/';

/** A patch that cannot be carried out. `code` is the status of the answer: 400, 422 or, without a status of its own, 500. */
export class StrategicPatchError extends Error {
  readonly code: 400 | 422 | 500;

  constructor(message: string, code: 400 | 422 | 500 = 500) {
    super(message);
    this.name = 'StrategicPatchError';
    this.code = code;
  }
}

/**
 * Kubernetes' strategic merge patch: lists are merged by the merge key of the schema, or united where they hold scalars,
 * with the directives `$patch`, `$retainKeys`, `$setElementOrder/…` and `$deleteFromPrimitiveList/…`.
 * Returns a new document; throws StrategicPatchError.
 */
export function applyStrategicMergePatch(document: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  return mergeObject(cloneJson(document), cloneJson(patch), schema);
}

/** Merges `patch` into `original`; both are consumed. */
function mergeObject(original: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  const directive = fieldOf(patch, DIRECTIVE);
  if (directive !== undefined) return obeyDirective(directive, patch);
  retainKeys(original, patch);
  mergeOrderedLists(original, patch, schema);
  for (const patchKey of Object.keys(patch)) {
    const isDeleteList = patchKey.startsWith(DELETE_FROM_PRIMITIVE_LIST);
    const key = isDeleteList ? patchKey.slice(DELETE_FROM_PRIMITIVE_LIST.length) : patchKey;
    const value = patch[patchKey];
    if (value === null) {
      delete original[key];
      continue;
    }
    const existing = fieldOf(original, key);
    if (isJsonObject(existing) && isJsonObject(value)) {
      setField(original, key, mergeField(existing, value, fieldSchema(schema, key)));
    } else if (Array.isArray(existing) && Array.isArray(value)) {
      setField(original, key, mergeListField(existing, value, fieldSchema(schema, key), isDeleteList));
    } else if (!isDeleteList) {
      const added = withoutDirectives(withoutNulls(value));
      if (added === undefined) delete original[key];
      else setField(original, key, added);
    }
  }
  return original;
}

function obeyDirective(directive: unknown, patch: JsonObject): JsonObject {
  if (directive === 'replace') {
    delete patch[DIRECTIVE];
    return patch;
  }
  if (directive === 'delete') return {};
  throw new StrategicPatchError(`unknown patch type: ${goValue(directive)} in map: ${goValue(patch)}`);
}

/** `$retainKeys` names what stays of the original; the patch may only set what it names. */
function retainKeys(original: JsonObject, patch: JsonObject): void {
  const names = fieldOf(patch, RETAIN_KEYS);
  if (names === undefined) return;
  delete patch[RETAIN_KEYS];
  const kept: readonly unknown[] = Array.isArray(names) ? names : [];
  const isSetByPatch = (key: string): boolean =>
    patch[key] !== null && !key.startsWith(DELETE_FROM_PRIMITIVE_LIST) && !key.startsWith(SET_ELEMENT_ORDER);
  if (!Array.isArray(names) || Object.keys(patch).some((key) => isSetByPatch(key) && !kept.includes(key))) {
    throw new StrategicPatchError('invalid patch format of retainKeys', 400);
  }
  for (const key of Object.keys(original)) if (!kept.includes(key)) delete original[key];
}

/** Lists whose order the patch gives with `$setElementOrder/…`, together with their changes. */
function mergeOrderedLists(original: JsonObject, patch: JsonObject, schema: Schema): void {
  for (const directive of Object.keys(patch).filter((key) => key.startsWith(SET_ELEMENT_ORDER))) {
    const key = directive.slice(SET_ELEMENT_ORDER.length);
    const order = patch[directive];
    const live = fieldOf(original, key);
    const changes = fieldOf(patch, key);
    delete patch[directive];
    if (!Array.isArray(order)) throw notAList(order);
    if (!isListOrAbsent(live)) throw notAList(live);
    if (!isListOrAbsent(changes)) throw notAList(changes);
    const field = listField(schema, key);
    checkOrder(changes ?? [], order, field.patchMergeKey);
    if (live === undefined && changes === undefined) continue;
    const merged = mergeGivenLists(live, changes, field);
    delete patch[key];
    setField(original, key, orderElements(merged, order, live ?? [], field.patchMergeKey));
  }
}

const isListOrAbsent = (value: unknown): value is unknown[] | undefined => value === undefined || Array.isArray(value);

function mergeGivenLists(live: unknown[] | undefined, changes: unknown[] | undefined, field: Field): unknown[] {
  if (changes === undefined) return live ?? [];
  if (live === undefined) return itemsWithoutDirectives(changes);
  return mergeListField(live, changes, field, false);
}

/** Every element that the patch sets must have its place in the order, and in the same sequence. */
function checkOrder(changes: readonly unknown[], order: readonly unknown[], mergeKey: string | undefined): void {
  let at = 0;
  for (const change of changes) {
    if (isJsonObject(change) && fieldOf(change, DIRECTIVE) === 'delete') continue;
    while (at < order.length && !sameKey(order[at], change, mergeKey)) at++;
    if (at === order.length) {
      throw new StrategicPatchError(
        `The order in patch list:\n${goValue(changes)}\n doesn't match $setElementOrder list:\n${goValue(order)}\n`,
      );
    }
    at++;
  }
}

function mergeField(existing: JsonObject, patch: JsonObject, field: Field): JsonObject {
  return field.patchStrategy?.replace === true ? patch : mergeObject(existing, patch, field.schema);
}

function mergeListField(existing: unknown[], patch: unknown[], field: Field, isDeleteList: boolean): unknown[] {
  if (isDeleteList || field.patchStrategy?.merge === true) return mergeList(existing, patch, field, isDeleteList);
  return patch;
}

function mergeList(existing: unknown[], patch: unknown[], field: Field, isDeleteList: boolean): unknown[] {
  if (existing.length === 0 && patch.length === 0) return existing;
  if (elementType(existing, patch) !== 'map') {
    if (isDeleteList) return existing.filter((item) => !patch.includes(item));
    return orderElements(mergeScalars(existing, patch), patch, existing, undefined);
  }
  const key = field.patchMergeKey;
  if (key === undefined) throw new StrategicPatchError('cannot merge lists without merge key for struct');
  const elements = patch.filter(isJsonObject);
  const changes = elements.filter((element) => !Object.hasOwn(element, DIRECTIVE));
  const { remaining, replaced } = obeyElementDirectives(existing, elements, key);
  if (replaced) {
    for (const element of changes) requireKey(element, key);
    return changes;
  }
  const itemSchema = field.schema.kind === 'list' ? field.schema.items : anySchema;
  const merged = mergeElements([...remaining], changes, key, itemSchema);
  return orderElements(merged, changes, remaining, key);
}

/** All elements of both lists must be of one Go type, and none a list. */
function elementType(existing: readonly unknown[], patch: readonly unknown[]): string {
  const types = new Set([...existing, ...patch].map(goElementType));
  const [first = ''] = types;
  if (first === 'slice') throw new StrategicPatchError('lists of lists are not supported', 422);
  if (types.size > 1) throw new StrategicPatchError(`list element types are not identical: ${goValue([existing, patch])}`);
  return first;
}

function goElementType(value: unknown): string {
  if (Array.isArray(value)) return 'slice';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return isJsonObject(value) ? 'map' : typeof value;
}

/** Carries out `$patch: delete` and `$patch: replace` of list elements; returns what stays of the list. */
function obeyElementDirectives(
  existing: readonly unknown[],
  elements: readonly JsonObject[],
  key: string,
): { readonly remaining: readonly unknown[]; readonly replaced: boolean } {
  let remaining = existing;
  let replace = false;
  for (const element of elements) {
    const directive = fieldOf(element, DIRECTIVE);
    if (directive === undefined) continue;
    if (directive === 'delete') {
      requireKey(element, key);
      remaining = remaining.filter((item) => !sameKey(item, element, key));
    } else if (directive === 'replace') {
      replace = true;
    } else if (directive === 'merge') {
      throw new StrategicPatchError('merging lists cannot yet be specified in the patch');
    } else {
      throw new StrategicPatchError(`unknown patch type: ${goValue(directive)} in map: ${goValue(element)}`);
    }
  }
  return { remaining, replaced: replace };
}

function mergeElements(existing: unknown[], changes: readonly JsonObject[], key: string, itemSchema: Schema): unknown[] {
  for (const change of changes) {
    requireKey(change, key);
    const at = existing.findIndex((item) => sameKey(item, change, key));
    const found = existing[at];
    if (isJsonObject(found)) existing[at] = mergeObject(found, cloneJson(change), itemSchema);
    // A new element is taken as it is: what stands in it for the merge is an unknown field then.
    else existing.push(change);
  }
  return existing;
}

function requireKey(element: JsonObject, key: string): void {
  if (!Object.hasOwn(element, key)) {
    throw new StrategicPatchError(`map: ${goValue(element)} does not contain declared merge key: ${key}`);
  }
}

/** A value that the patch adds, without the objects that only carry a `$patch`; undefined for such an object. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return itemsWithoutDirectives(value);
  if (!isJsonObject(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  const kept: JsonObject = {};
  for (const key of Object.keys(value)) {
    const field = withoutDirectives(value[key]);
    if (field !== undefined) setField(kept, key, field);
  }
  return kept;
}

const itemsWithoutDirectives = (items: readonly unknown[]): unknown[] => items.map(withoutDirectives).filter((item) => item !== undefined);

const UNKNOWN_FIELD: Field = { schema: anySchema, emit: 'pointer' };

function fieldSchema(schema: Schema, key: string): Field {
  if (schema.kind === 'object') return schema.fields.get(key) ?? UNKNOWN_FIELD;
  return schema.kind === 'map' ? { schema: schema.values, emit: 'pointer' } : UNKNOWN_FIELD;
}

/** The field of a list whose order a patch gives. Upstream looks it up before it looks for the list. */
function listField(schema: Schema, key: string): Field {
  if (schema.kind === 'object' && !schema.fields.has(key)) {
    throw new StrategicPatchError(`unable to find api field in struct ${schema.name} for the json field ${JSON.stringify(key)}`);
  }
  return fieldSchema(schema, key);
}

/** As Go prints the types of what was wanted and what was given. */
const notAList = (value: unknown): StrategicPatchError =>
  new StrategicPatchError(`expected a []interface {}, but received a ${value === null ? '%!s(<nil>)' : GO_TYPES[goElementType(value)]}`);

const GO_TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  boolean: 'bool',
  int64: 'int64',
  float64: 'float64',
  map: 'map[string]interface {}',
};
