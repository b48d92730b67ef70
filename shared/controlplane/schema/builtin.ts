import { readFileSync } from 'node:fs';
import { omitUndefined } from '../../runtime/omit-undefined.ts';
import { alwaysListsBelow } from './empty-lists.ts';
import type { BuiltInField, BuiltInTable } from './builtin-table.ts';
import {
  anySchema,
  type Field,
  type ListSchema,
  type MapSchema,
  type ObjectSchema,
  type PatchStrategy,
  type ScalarType,
  type Schema,
} from './schema.ts';

/** The schema of a built-in kind; undefined if the server has never heard of it. */
export const builtInSchema = (group: string, version: string, kind: string): ObjectSchema | undefined =>
  BUILT_IN_KINDS.get(kindKey(group, version, kind));

const kindKey = (group: string, version: string, kind: string): string => `${group}/${version}/${kind}`;

/** Metadata of every object, also of custom resources. */
export const objectMetaSchema = (): ObjectSchema => modelSchema('V1ObjectMeta');

/** The type that a model of the client library describes, such as `V1PodSpec`. */
export function modelSchema(model: string): ObjectSchema {
  const found = MODELS.get(model);
  if (found === undefined) throw new Error(`no schema for model ${model}`);
  return found;
}

/** Every built-in kind that has a schema. */
export const builtInKinds = (): IterableIterator<ObjectSchema> => BUILT_IN_KINDS.values();
/** Names of all models. */
export const modelNames = (): readonly string[] => Object.keys(TABLE.types);

type Building = { readonly schema: ObjectSchema & { alwaysListsBelow?: readonly string[] }; readonly fields: Map<string, Field> };

/** Two passes, since types refer to each other in circles: first the objects, then their fields. */
function buildModels(table: BuiltInTable): Map<string, ObjectSchema> {
  const models = new Map<string, Building>();
  for (const [model, { name, atomic, fields: described }] of Object.entries(table.types)) {
    const fields = new Map<string, Field>();
    const alwaysEmitted = Object.keys(described).filter((field) => described[field]?.emit === 'always');
    models.set(model, { fields, schema: { kind: 'object', name, fields, alwaysEmitted, ...(atomic === true ? { atomic } : {}) } });
  }
  for (const [model, { fields }] of Object.entries(table.types)) {
    for (const [name, described] of Object.entries(fields)) models.get(model)?.fields.set(name, buildField(described, models));
  }
  const schemas = new Map([...models].map(([model, { schema }]) => [model, schema]));
  for (const [schema, names] of alwaysListsBelow(schemas.values())) if (names.length > 0) schema.alwaysListsBelow = names;
  return schemas;
}

function buildField(described: BuiltInField, models: ReadonlyMap<string, Building>): Field {
  const patchStrategy = patchStrategyOf(described.patch);
  return {
    schema: buildSchema(described.type, described, models),
    emit: described.emit,
    ...(described.required === true ? { required: true } : {}),
    ...(described.nullable === true ? { nullable: true } : {}),
    ...omitUndefined({ patchStrategy, patchMergeKey: described.mergeKey }),
  };
}

const patchStrategyOf = (text: BuiltInField['patch']): PatchStrategy | undefined =>
  text === undefined
    ? undefined
    : { merge: text.startsWith('merge'), retainKeys: text.endsWith('retainKeys'), replace: text === 'replace' };

function buildSchema(type: string, described: BuiltInField, models: ReadonlyMap<string, Building>): Schema {
  if (type.startsWith('[]')) return buildList(type.slice(2), described, models);
  if (type.startsWith('map[]')) {
    const map: MapSchema = { kind: 'map', values: buildSchema(type.slice(5), described, models) };
    return described.atomic === true ? { ...map, atomic: true } : map;
  }
  if (type === 'any') return anySchema;
  if (type.startsWith('any:')) {
    const objects = models.get(type.slice(4))?.schema;
    if (objects === undefined) throw new Error(`unknown type ${type} in builtin.json`);
    return { kind: 'any', objects };
  }
  return models.get(type)?.schema ?? { kind: 'scalar', type: scalarType(type) };
}

const buildList = (items: string, described: BuiltInField, models: ReadonlyMap<string, Building>): ListSchema => ({
  kind: 'list',
  items: buildSchema(items, described, models),
  listType: described.listType ?? 'atomic',
  keys: described.keys ?? [],
  ...omitUndefined({ keyDefaults: described.keyDefaults }),
});

const SCALAR_TYPES: readonly ScalarType[] = [
  'string',
  'boolean',
  'int32',
  'int64',
  'double',
  'bytes',
  'time',
  'micro-time',
  'quantity',
  'int-or-string',
];

function scalarType(type: string): ScalarType {
  const found = SCALAR_TYPES.find((each) => each === type);
  if (found === undefined) throw new Error(`unknown type ${type} in builtin.json`);
  return found;
}

const TABLE: BuiltInTable = JSON.parse(readFileSync(new URL('builtin.json', import.meta.url), 'utf8'));
const MODELS: ReadonlyMap<string, ObjectSchema> = buildModels(TABLE);
const BUILT_IN_KINDS: ReadonlyMap<string, ObjectSchema> = new Map(
  TABLE.kinds.map(([model = '', group = '', version = '', kind = '']) => [
    kindKey(group, version, kind),
    { ...modelSchema(model), type: { group, version, kind } },
  ]),
);
