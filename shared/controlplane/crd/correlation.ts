import { jsonEquals } from '../apimachinery/json.ts';
import { itemsOf, type JsonSchema, propertyOf, valuesOf } from './json-schema.ts';
import { isRecord } from './schema-defaults.ts';

/**
 * The value that a part of an object had before an update, and the schema of that part, where old and new can be told to be the same
 * part (CorrelatedObject of apiserver); undefined where they cannot.
 */
export type Correlated = { readonly value: unknown; readonly schema: JsonSchema } | undefined;

/** Fields of an object correlate by name. */
export function correlatedField(old: Correlated, name: string): Correlated {
  if (old === undefined || !isRecord(old.value) || !Object.hasOwn(old.value, name)) return undefined;
  const schema = propertyOf(old.schema, name) ?? valuesOf(old.schema);
  return schema === undefined ? undefined : { value: old.value[name], schema };
}

/** Elements correlate by their keys in lists of type map, and not at all in sets and atomic lists. */
export function correlatedItem(old: Correlated, item: unknown): Correlated {
  if (old === undefined || !Array.isArray(old.value) || old.schema['x-kubernetes-list-type'] !== 'map' || !isRecord(item)) return undefined;
  const schema = itemsOf(old.schema);
  const keys = old.schema['x-kubernetes-list-map-keys'] ?? [];
  const found = old.value.find((each) => isRecord(each) && keys.every((key) => jsonEquals(each[key], item[key])));
  return found === undefined || schema === undefined ? undefined : { value: found, schema };
}

/** Whether a value is as it was. Elements of lists of type map may have changed their places (CachedDeepEqual of apiserver). */
export function isUnchanged(value: unknown, old: Correlated): boolean {
  if (old === undefined) return false;
  const { value: before } = old;
  if (Array.isArray(value)) {
    if (!Array.isArray(before) || before.length !== value.length) return false;
    if (old.schema['x-kubernetes-list-type'] !== 'map') return jsonEquals(value, before);
    return value.every((each) => isUnchanged(each, correlatedItem(old, each)));
  }
  if (!isRecord(value) || !isRecord(before)) return jsonEquals(value, before);
  const names = Object.keys(value);
  return names.length === Object.keys(before).length && names.every((name) => isFieldUnchanged(value, before, name, old));
}

function isFieldUnchanged(value: Record<string, unknown>, before: Record<string, unknown>, name: string, old: Correlated): boolean {
  const correlated = correlatedField(old, name);
  // A field that the schema does not describe is compared as it is.
  return correlated === undefined
    ? Object.hasOwn(before, name) && jsonEquals(value[name], before[name])
    : isUnchanged(value[name], correlated);
}
