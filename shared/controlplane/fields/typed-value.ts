import { fieldOf, isJsonObject, type JsonObject, setField } from '../apimachinery/json.ts';
import { zeroOf } from '../schema/conform.ts';
import { deducedSchema, type ListSchema, type Schema } from '../schema/schema.ts';

/** How server-side apply sees a value: as one leaf, or as a container whose parts have owners of their own. */
export type Shape =
  | { readonly kind: 'leaf' }
  | { readonly kind: 'map'; readonly fieldSchema: (name: string) => Schema; readonly isNamed: (name: string) => boolean }
  | { readonly kind: 'list'; readonly list: ListSchema };

const LEAF: Shape = { kind: 'leaf' };
const DEDUCED_MAP: Shape = { kind: 'map', fieldSchema: () => deducedSchema, isNamed: () => false };

/** `value` matters only where the schema leaves the shape open. */
export function shapeOf(schema: Schema, value: unknown): Shape {
  switch (schema.kind) {
    case 'scalar':
      return LEAF;
    case 'any':
      return schema.deduced === true && isJsonObject(value) ? DEDUCED_MAP : LEAF;
    case 'list':
      return schema.listType === 'atomic' ? LEAF : { kind: 'list', list: schema };
    case 'map':
      return schema.atomic === true ? LEAF : { kind: 'map', fieldSchema: () => schema.values, isNamed: () => false };
    case 'object':
      if (schema.atomic === true) return LEAF;
      return {
        kind: 'map',
        fieldSchema: (name) => schema.fields.get(name)?.schema ?? deducedSchema,
        isNamed: (name) => schema.fields.has(name),
      };
  }
}

/** An element of a list that merges: `k:{"name":"c"}` or `v:"x"`; undefined if it has none of the keys, nor a default for any. */
export function itemElement(list: ListSchema, item: unknown): string | undefined {
  if (list.listType === 'set') return `v:${JSON.stringify(item)}`;
  if (!isJsonObject(item)) return undefined;
  const keys = keyValues(list, item);
  return keys === undefined ? undefined : `k:${JSON.stringify(keys)}`;
}

/** A key that is absent and has no default is left out: that names another element than one with the key. */
function keyValues(list: ListSchema, item: JsonObject): JsonObject | undefined {
  const values: JsonObject = {};
  let found = false;
  for (const key of list.keys.length > 1 ? [...list.keys].sort() : list.keys) {
    const value = fieldOf(item, key) ?? defaultOfKey(list, key);
    if (value === undefined) continue;
    setField(values, key, value);
    found = true;
  }
  return found ? values : undefined;
}

/** A field of a built-in kind that JSON always shows has its zero value as default. */
function defaultOfKey({ keyDefaults, items }: ListSchema, key: string): unknown {
  const declared = fieldOf(keyDefaults ?? {}, key);
  if (declared !== undefined || items.kind !== 'object') return declared;
  const field = items.fields.get(key);
  return field?.emit === 'always' && field.schema.kind === 'scalar' ? zeroOf(field) : undefined;
}

/** Items of a list by path element, in order. Of equal elements the last counts; elements without key are left out. */
export function indexItems(list: ListSchema, items: readonly unknown[]): Map<string, unknown> {
  const index = new Map<string, unknown>();
  for (const item of items) {
    const element = itemElement(list, item);
    if (element !== undefined) index.set(element, item);
  }
  return index;
}

export const isEmptyContainer = (value: unknown): boolean => {
  if (value === null || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
};

export const asMap = (value: unknown): JsonObject | undefined => (isJsonObject(value) ? value : undefined);
export const asList = (value: unknown): readonly unknown[] | undefined => (Array.isArray(value) ? value : undefined);
