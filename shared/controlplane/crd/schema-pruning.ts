import { itemsOf, type JsonSchema, propertyOf, valuesOf } from './json-schema.ts';
import { isRecord } from './schema-defaults.ts';

/** Fields that the metadata and type of an embedded object bring along. */
const EMBEDDED_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Drops what the schema does not specify (structural pruning) and returns the paths of what was dropped, as in
 * `unknown field "spec.extra"`. At the root, apiVersion, kind and metadata are always known. Changes `value`.
 */
export function pruneUnknownFields(value: unknown, schema: JsonSchema | undefined, isRoot: boolean): string[] {
  const dropped: string[] = [];
  prune(value, schema ?? {}, isRoot, '', dropped);
  return dropped;
}

function prune(value: unknown, schema: JsonSchema, isObjectRoot: boolean, path: string, dropped: string[]): void {
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    // Below x-kubernetes-preserve-unknown-fields without a schema everything stays.
    if (items === undefined && schema['x-kubernetes-preserve-unknown-fields'] === true) return;
    const isEmbedded = items?.['x-kubernetes-embedded-resource'] === true;
    for (const [i, element] of value.entries()) prune(element, items ?? {}, isEmbedded, `${path}[${i}]`, dropped);
    return;
  }
  if (!isRecord(value)) return;
  for (const name of Object.keys(value)) {
    if (isObjectRoot && EMBEDDED_FIELDS.has(name)) continue;
    const at = path === '' ? name : `${path}.${name}`;
    const child = propertyOf(schema, name) ?? valuesOf(schema);
    if (child !== undefined) prune(value[name], child, child['x-kubernetes-embedded-resource'] === true, at, dropped);
    else if (schema['x-kubernetes-preserve-unknown-fields'] !== true && schema.additionalProperties !== true) {
      delete value[name];
      dropped.push(at);
    }
  }
}
