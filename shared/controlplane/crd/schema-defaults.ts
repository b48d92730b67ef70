import { setField } from '../apimachinery/json.ts';
import { itemsOf, type JsonSchema, propertyOf, valuesOf } from './json-schema.ts';

/**
 * What happens to a custom resource on every decode (structural defaulting of apiextensions): nulls that the schema
 * does not allow go, unless a default takes their place, and absent fields get their defaults. Changes `value`.
 */
export function applySchemaDefaults(value: unknown, schema: JsonSchema | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) return defaultItems(value, itemsOf(schema));
  if (!isRecord(value)) return;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (property.default === undefined) continue;
    if (!Object.hasOwn(value, name) || isForbiddenNull(value[name], property)) setField(value, name, structuredClone(property.default));
  }
  for (const name of Object.keys(value)) {
    const child = propertyOf(schema, name) ?? valuesOf(schema);
    if (child === undefined) continue;
    if (isForbiddenNull(value[name], child)) {
      if (child.default === undefined) {
        delete value[name];
        continue;
      }
      value[name] = structuredClone(child.default);
    }
    applySchemaDefaults(value[name], child);
  }
}

function defaultItems(list: unknown[], items: JsonSchema | undefined): void {
  if (items === undefined) return;
  for (const [i, element] of list.entries()) {
    if (isForbiddenNull(element, items) && items.default !== undefined) list[i] = structuredClone(items.default);
    applySchemaDefaults(list[i], items);
  }
}

const isForbiddenNull = (value: unknown, schema: JsonSchema): boolean => value === null && schema.nullable !== true;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
