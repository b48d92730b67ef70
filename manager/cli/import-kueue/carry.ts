import { isJsonObject } from '../../api/json-value.ts';

/** What of a value a schema takes, and what it leaves behind. */
export type Carried = { readonly value: unknown; readonly left: readonly LeftBehind[] };
/** `NoField`: the schema has no such field; `NoChoice`: it has the field, but not this word for it. */
export type LeftBehind = { readonly path: string; readonly value: unknown; readonly why: 'NoField' | 'NoChoice' };

/** The parts of a structural schema that say which fields there are. */
export type FieldSchema = {
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly items?: FieldSchema;
  readonly enum?: readonly unknown[];
  readonly minLength?: number;
};

/**
 * Carries a value over, field by field, as far as `schema` has the fields: whatever a schema learns is carried from then on. Absent, null
 * and, where a name is wanted, empty are the same. `path` is that of the value.
 */
export function carry(schema: FieldSchema, value: unknown, path: string): Carried {
  if (value === null || value === undefined || (value === '' && (schema.minLength ?? 0) > 0)) return { value: undefined, left: [] };
  if (schema.enum !== undefined && !schema.enum.includes(value)) return { value: undefined, left: [{ path, value, why: 'NoChoice' }] };
  const { items, properties } = schema;
  if (items !== undefined && Array.isArray(value)) {
    const carried = value.map((each, index) => carry(items, each, `${path}[${index}]`));
    return { value: carried.map((each) => each.value), left: carried.flatMap((each) => each.left) };
  }
  if (properties !== undefined && isJsonObject(value)) return carryFields(properties, value, path);
  // The quantity 0.5 is written as text: in a schema numbers are whole.
  return { value: typeof value === 'number' && !Number.isInteger(value) ? String(value) : value, left: [] };
}

function carryFields(properties: Readonly<Record<string, FieldSchema>>, value: Readonly<Record<string, unknown>>, path: string): Carried {
  const carried: [string, unknown][] = [];
  const left: LeftBehind[] = [];
  for (const [name, each] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`;
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (schema === undefined) {
      if (each !== null) left.push({ path: at, value: each, why: 'NoField' });
      continue;
    }
    const inside = carry(schema, each, at);
    if (inside.value !== undefined) carried.push([name, inside.value]);
    left.push(...inside.left);
  }
  return { value: Object.fromEntries(carried), left };
}
