import { isJsonObject, type JsonObject } from '../apimachinery/json.ts';
import type { Field, ObjectSchema, Schema } from './schema.ts';

/**
 * Built-in kinds are stored in a form that does not keep an empty list apart from none, so a list that is always there reads null
 * once it has been stored. Until then validation still sees what was sent. Changes the object.
 */
export function forgetEmptyLists(object: JsonObject, schema: ObjectSchema): void {
  for (const name of schema.alwaysListsBelow ?? []) {
    const field = schema.fields.get(name);
    const value = object[name];
    if (field !== undefined && value !== undefined && value !== null) object[name] = withoutEmpty(value, field);
  }
}

function withoutEmpty(value: unknown, { schema, emit }: Field): unknown {
  if (emit === 'always' && Array.isArray(value) && value.length === 0) return null;
  const items = schema.kind === 'list' ? schema.items : schema.kind === 'map' ? schema.values : undefined;
  if (items === undefined) {
    if (schema.kind === 'object' && isJsonObject(value)) forgetEmptyLists(value, schema);
  } else if (items.kind === 'object' && typeof value === 'object' && value !== null) {
    for (const item of Object.values(value)) if (isJsonObject(item)) forgetEmptyLists(item, items);
  }
  return value;
}

/** For each of these types the names of the fields that are, or contain, lists which are always there. Types may contain each other. */
export function alwaysListsBelow<S extends ObjectSchema>(schemas: Iterable<S>): Map<S, string[]> {
  const found = new Map<S, string[]>([...schemas].map((schema) => [schema, []]));
  for (let grew = true; grew; ) {
    grew = false;
    for (const [schema, names] of found) {
      for (const [name, field] of schema.fields) {
        if (names.includes(name) || !(isAlwaysList(field) || leadsToOne(field.schema, found as ReadonlyMap<Schema, string[]>))) continue;
        names.push(name);
        grew = true;
      }
    }
  }
  return found;
}

const isAlwaysList = ({ emit, schema }: Field): boolean => emit === 'always' && schema.kind === 'list';

const leadsToOne = (schema: Schema, found: ReadonlyMap<Schema, readonly string[]>): boolean => {
  if (schema.kind === 'list') return leadsToOne(schema.items, found);
  if (schema.kind === 'map') return leadsToOne(schema.values, found);
  return (found.get(schema)?.length ?? 0) > 0;
};
