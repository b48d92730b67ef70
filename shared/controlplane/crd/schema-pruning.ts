import { itemsOf, type JsonSchema, propertyOf, valuesOf } from './json-schema.ts';
import { isRecord } from './schema-defaults.ts';

/** Fields that the metadata and type of an embedded object bring along. */
const EMBEDDED_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Drops what the schema does not specify (structural pruning), and nulls that it neither allows nor has a default for. Returns the
 * paths of what was not specified, sorted, as in `unknown field "spec.extra"`. At the root, apiVersion, kind and metadata are
 * always known. Changes `value`.
 */
export function pruneUnknownFields(value: unknown, schema: JsonSchema | undefined, isRoot: boolean): string[] {
  const dropped: string[] = [];
  prune(value, schema ?? {}, { isObject: isRoot, keepsUnknown: preserves(schema) }, '', dropped);
  return dropped.sort();
}

const preserves = (schema: JsonSchema | undefined): boolean => schema?.['x-kubernetes-preserve-unknown-fields'] === true;

/**
 * Whether a value has a type and metadata of its own, and whether what nobody specifies is kept: that goes for lists in preserved lists.
 */
type Manner = { readonly isObject: boolean; readonly keepsUnknown: boolean };

/** Without a schema nothing below is specified. */
function prune(value: unknown, schema: JsonSchema | undefined, { isObject, keepsUnknown }: Manner, path: string, dropped: string[]): void {
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    if (items === undefined && keepsUnknown) return;
    const manner = { isObject: isEmbedded(items), keepsUnknown: keepsUnknown || preserves(items) };
    for (const [i, element] of value.entries()) prune(element, items, manner, `${path}[${i}]`, dropped);
    return;
  }
  if (!isRecord(value)) return;
  for (const name of Object.keys(value)) {
    if (isObject && EMBEDDED_FIELDS.has(name)) continue;
    const at = path === '' ? name : `${path}.${name}`;
    const child = propertyOf(schema, name) ?? valuesOf(schema);
    if (child !== undefined) {
      if (value[name] === null && child.nullable !== true && child.default === undefined) delete value[name];
      else prune(value[name], child, { isObject: isEmbedded(child), keepsUnknown: preserves(child) }, at, dropped);
    } else if (schema?.additionalProperties === true) {
      prune(value[name], undefined, { isObject: false, keepsUnknown: false }, at, dropped);
    } else if (!keepsUnknown) {
      delete value[name];
      dropped.push(at);
    }
  }
}

const isEmbedded = (schema: JsonSchema | undefined): boolean => schema?.['x-kubernetes-embedded-resource'] === true;
