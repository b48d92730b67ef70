import { jsonEquals } from '../apimachinery/json.ts';
import type { JsonSchema } from './json-schema.ts';
import { isRecord } from './schema-defaults.ts';

/** The old value that a part of an object had before an update, where old and new can be told to be the same part. */
export type OldValue = { readonly value: unknown } | undefined;

/** Fields of an object correlate by name, unless it is replaced as a whole (x-kubernetes-map-type: atomic). */
export function correlatedField(old: OldValue, schema: JsonSchema, name: string): OldValue {
  if (old === undefined || !isRecord(old.value) || !Object.hasOwn(old.value, name) || schema['x-kubernetes-map-type'] === 'atomic') {
    return undefined;
  }
  return { value: old.value[name] };
}

/** Elements correlate by their keys in lists of type map, and not at all in sets and atomic lists. */
export function correlatedItem(old: OldValue, schema: JsonSchema, item: unknown): OldValue {
  if (old === undefined || !Array.isArray(old.value) || schema['x-kubernetes-list-type'] !== 'map' || !isRecord(item)) return undefined;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const found = old.value.find((each) => isRecord(each) && keys.every((key) => jsonEquals(each[key], item[key])));
  return found === undefined ? undefined : { value: found };
}
