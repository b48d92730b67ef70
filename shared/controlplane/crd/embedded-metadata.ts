import { goJson } from '../apimachinery/json.ts';
import { objectMetaSchema } from '../schema/builtin.ts';
import { conformObject, TypeMismatch } from '../schema/conform.ts';
import { itemsOf, type JsonSchema, propertyOf, valuesOf } from './json-schema.ts';
import { isRecord } from './schema-defaults.ts';

/**
 * Brings the metadata of embedded objects to the form that metadata has (schema/objectmeta of apiextensions), and returns the paths of
 * fields that metadata does not have, sorted. Changes `value`. Throws TypeMismatch for what is no metadata.
 */
export function conformEmbedded(value: unknown, schema: JsonSchema | undefined): string[] {
  const unknown: string[] = [];
  conform(value, schema, '', unknown);
  return unknown.sort();
}

function conform(value: unknown, schema: JsonSchema | undefined, path: string, unknown: string[]): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    for (const [i, each] of value.entries()) conform(each, itemsOf(schema), `${path}[${i}]`, unknown);
    return;
  }
  if (!isRecord(value)) return;
  for (const name of Object.keys(value)) {
    const property = propertyOf(schema, name);
    const at = property === undefined && valuesOf(schema) !== undefined ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
    if (schema['x-kubernetes-embedded-resource'] === true) conformPart(value, name, at, unknown);
    conform(value[name], property ?? valuesOf(schema), at, unknown);
  }
}

function conformPart(object: Record<string, unknown>, name: string, path: string, unknown: string[]): void {
  const value = object[name];
  if (name === 'apiVersion' || name === 'kind') {
    if (typeof value !== 'string') throw new TypeMismatch(`${path}: Invalid value: ${JSON.stringify(value)}: must be a string`);
  } else if (name === 'metadata') object[name] = conformMetadata(value, path, unknown);
}

function conformMetadata(value: unknown, path: string, unknown: string[]): unknown {
  if (value === null) return {};
  const shown = goJson(value);
  try {
    if (!isRecord(value)) throw new TypeMismatch(`json: cannot unmarshal ${typeof value} into Go value of type v1.ObjectMeta`);
    conformObject(value, objectMetaSchema(), { onUnknown: (field) => unknown.push(`${path}.${field}`) });
    return value;
  } catch (error) {
    if (error instanceof TypeMismatch) throw new TypeMismatch(`${path}: Invalid value: ${shown}: ${error.message}`);
    throw error;
  }
}
