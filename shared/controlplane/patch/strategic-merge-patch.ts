import { anySchema, type Field, type Schema } from '../schema/schema.ts';
import { cloneJson, fieldOf, isJsonObject, type JsonObject, setField } from '../apimachinery/json.ts';
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
      setField(original, key, withoutDirectives(value));
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
  if (!Array.isArray(names) || Object.keys(patch).some((key) => patch[key] !== null && !kept.includes(key))) {
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
    if (!Array.isArray(order) || !isListOrAbsent(live) || !isListOrAbsent(changes)) {
      throw new StrategicPatchError(`invalid patch format of setElementOrder list`, 400);
    }
    const field = fieldSchema(schema, key);
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
  if (live === undefined) return changes.map((item) => withoutDirectives(item));
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
  if (isDeleteList) return existing.filter((item) => !patch.includes(item));
  return field.patchStrategy?.merge === true ? mergeList(existing, patch, field) : patch;
}

function mergeList(existing: unknown[], patch: unknown[], field: Field): unknown[] {
  if (existing.length === 0 && patch.length === 0) return existing;
  if (!isJsonObject(existing[0] ?? patch[0])) {
    const merged = mergeScalars(existing, patch);
    return orderElements(merged, patch, existing, undefined);
  }
  const key = field.patchMergeKey;
  if (key === undefined) throw new StrategicPatchError('cannot merge lists without merge key');
  const elements = patch.filter(isJsonObject);
  const changes = elements.filter((element) => !Object.hasOwn(element, DIRECTIVE));
  const remaining = obeyElementDirectives(existing, elements, key);
  const itemSchema = field.schema.kind === 'list' ? field.schema.items : anySchema;
  const merged = mergeElements([...remaining], changes, key, itemSchema);
  return orderElements(merged, changes, remaining, key);
}

/** Carries out `$patch: delete` and `$patch: replace` of list elements; returns what stays of the list. */
function obeyElementDirectives(existing: readonly unknown[], elements: readonly JsonObject[], key: string): readonly unknown[] {
  let remaining = existing;
  let replace = false;
  for (const element of elements) {
    const directive = fieldOf(element, DIRECTIVE);
    if (directive === undefined) continue;
    if (directive === 'delete') {
      if (!Object.hasOwn(element, key)) throw missingKey(element, key);
      remaining = remaining.filter((item) => !sameKey(item, element, key));
    } else if (directive === 'replace') {
      replace = true;
    } else if (directive === 'merge') {
      throw new StrategicPatchError('merging lists cannot yet be specified in the patch');
    } else {
      throw new StrategicPatchError(`unknown patch type: ${goValue(directive)} in map: ${goValue(element)}`);
    }
  }
  return replace ? [] : remaining;
}

function mergeElements(existing: unknown[], changes: readonly JsonObject[], key: string, itemSchema: Schema): unknown[] {
  for (const change of changes) {
    if (!Object.hasOwn(change, key)) throw missingKey(change, key);
    const at = existing.findIndex((item) => sameKey(item, change, key));
    const found = existing[at];
    if (isJsonObject(found)) existing[at] = mergeObject(found, cloneJson(change), itemSchema);
    else existing.push(withoutDirectives(change));
  }
  return existing;
}

const missingKey = (element: JsonObject, key: string): StrategicPatchError =>
  new StrategicPatchError(`map: ${goValue(element)} does not contain declared merge key: ${key}`);

/** A value that the patch adds: without directives and without nulls, which have nothing to remove. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((item) => !isJsonObject(item) || !Object.hasOwn(item, DIRECTIVE)).map((item: unknown) => withoutDirectives(item));
  }
  if (!isJsonObject(value)) return value;
  const kept: JsonObject = {};
  for (const key of Object.keys(value)) {
    const isDirective = key === DIRECTIVE || key === RETAIN_KEYS || key.startsWith(SET_ELEMENT_ORDER);
    if (isDirective || key.startsWith(DELETE_FROM_PRIMITIVE_LIST) || value[key] === null) continue;
    setField(kept, key, withoutDirectives(value[key]));
  }
  return kept;
}

const UNKNOWN_FIELD: Field = { schema: anySchema, emit: 'pointer' };

function fieldSchema(schema: Schema, key: string): Field {
  if (schema.kind === 'object') return schema.fields.get(key) ?? UNKNOWN_FIELD;
  return schema.kind === 'map' ? { schema: schema.values, emit: 'pointer' } : UNKNOWN_FIELD;
}
