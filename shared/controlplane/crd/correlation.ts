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
