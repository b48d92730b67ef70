import { readFileSync } from 'node:fs';
import type { Field, KindName, ListSchema, ObjectSchema, PatchStrategy, ScalarSchema, Schema } from '../../schema/schema.ts';
import { omitUndefined } from '../../../runtime/omit-undefined.ts';
import { createSchemaNames, customName, forEachObject, modelNameOf } from './schema-names.ts';

/** JSON of an OpenAPI document. */
export type Json = { [key: string]: unknown };
/** `#/components/schemas/` in version 3, `#/definitions/` in version 2. */
export type RefPrefix = '#/components/schemas/' | '#/definitions/';

/** Prose of the models, by model. */
type Descriptions = Readonly<Record<string, { readonly description: string; readonly fields: Readonly<Record<string, string>> }>>;

/** By model and field: what a string may be, and the sentences on it, as a kube-apiserver v1.36 lists them. */
type Enums = Readonly<Record<string, Readonly<Record<string, { readonly values: readonly string[]; readonly about: string }>>>>;

/** Describes the types of kinds in OpenAPI's terms. */
export interface SchemaWriter {
  /** The schemas of the kinds and of everything they use, by name. */
  schemasOf(kinds: readonly ObjectSchema[], prefix: RefPrefix): Json;
  nameOf(kind: ObjectSchema): string;
}

/** Reads the prose of the built-in types, which nothing but OpenAPI needs. */
export function createSchemaWriter(): SchemaWriter {
  const names = createSchemaNames();
  const modelOf = modelNameOf();
  const descriptions = read<Descriptions>('builtin-descriptions.json');
  const enums = read<Enums>('builtin-enums.json');
  const nameOf = (schema: ObjectSchema): string =>
    schema.custom !== undefined && schema.type !== undefined ? customName(schema.type) : names.nameOf(schema);

  const writeObject = (schema: ObjectSchema, prefix: RefPrefix): Json => {
    const prose = descriptions[modelOf(schema)];
    const properties: Json = {};
    for (const [name, field] of schema.fields) {
      const choice = enums[modelOf(schema)]?.[name];
      const description = [prose?.fields[name], choice?.about].filter(Boolean).join('\n\n');
      properties[name] = described(narrowed(writeField(field, prefix, nameOf), choice?.values), description);
    }
    const required = [...schema.fields].filter(([, field]) => field.required === true).map(([name]) => name);
    return {
      ...(prose === undefined || prose.description === '' ? {} : { description: prose.description }),
      ...(required.length === 0 ? {} : { required }),
      type: 'object',
      properties,
      ...(schema.atomic === true ? { 'x-kubernetes-map-type': 'atomic' } : {}),
      ...(schema.type === undefined ? {} : { 'x-kubernetes-group-version-kind': [kindOf(schema.type)] }),
    };
  };

  return {
    nameOf,
    schemasOf: (kinds, prefix) => {
      const schemas: Json = { ...COMMON_SCHEMAS };
      for (const kind of kinds) {
        if (kind.custom !== undefined) schemas[nameOf(kind)] = customSchema(kind, kind.custom.openApi ?? {}, prefix);
        forEachObject(kind, (schema) => {
          if (kind.custom !== undefined && modelOf(schema) === '') return true;
          const name = nameOf(schema);
          if (schemas[name] !== undefined) return false;
          schemas[name] = writeObject(schema, prefix);
          return true;
        });
        schemas[`${nameOf(kind)}List`] = listSchema(kind, nameOf(kind), prefix);
      }
      return schemas;
    },
  };
}

const read = <T>(file: string): T => JSON.parse(readFileSync(new URL(`../../schema/${file}`, import.meta.url), 'utf8'));

/** Of a list it is the items that are one of `values`. */
function narrowed(schema: Json, values: readonly string[] | undefined): Json {
  if (values === undefined) return schema;
  return typeof schema.items === 'object' ? { ...schema, items: { ...schema.items, enum: values } } : { ...schema, enum: values };
}

const kindOf = ({ group, version, kind }: KindName): Json => ({ group, kind, version });

const META_V1 = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
const INT_OR_STRING = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString';

/** Types that documents use without any kind of ours having them as fields. */
const COMMON_SCHEMAS: Json = {
  [QUANTITY]: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  [INT_OR_STRING]: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  [`${META_V1}.ListMeta`]: {
    description: 'ListMeta describes metadata that synthetic resources must have, including lists and various status objects.',
    type: 'object',
    properties: {
      continue: { type: 'string' },
      remainingItemCount: { type: 'integer', format: 'int64' },
      resourceVersion: { type: 'string' },
      selfLink: { type: 'string' },
    },
  },
};

function customSchema(kind: ObjectSchema, openApi: Json, prefix: RefPrefix): Json {
  const own = typeof openApi.properties === 'object' && openApi.properties !== null ? openApi.properties : {};
  return {
    type: 'object',
    ...openApi,
    properties: {
      ...own,
      apiVersion: { description: 'APIVersion defines the versioned schema of this representation of an object.', type: 'string' },
      kind: { description: 'Kind is a string value representing the REST resource this object represents.', type: 'string' },
      metadata: described({ $ref: `${prefix}${META_V1}.ObjectMeta` }, "Standard object's metadata."),
    },
    ...(kind.type === undefined ? {} : { 'x-kubernetes-group-version-kind': [kindOf(kind.type)] }),
  };
}

const listSchema = ({ type }: ObjectSchema, name: string, prefix: RefPrefix): Json => ({
  description: `${type?.kind ?? ''}List is a list of ${type?.kind ?? ''}.`,
  required: ['items'],
  type: 'object',
  properties: {
    apiVersion: { type: 'string' },
    items: { type: 'array', items: { $ref: prefix + name } },
    kind: { type: 'string' },
    metadata: { $ref: `${prefix}${META_V1}.ListMeta` },
  },
  ...(type === undefined ? {} : { 'x-kubernetes-group-version-kind': [kindOf({ ...type, kind: `${type.kind}List` })] }),
});

/** A reference has no room for prose beside it. */
function described(schema: Json, description: string | undefined): Json {
  if (description === undefined || description === '') return schema;
  return schema.$ref === undefined ? { description, ...schema } : { description, allOf: [schema] };
}

type NameOf = (schema: ObjectSchema) => string;

function writeField({ schema, patchStrategy, patchMergeKey }: Field, prefix: RefPrefix, nameOf: NameOf): Json {
  const extensions: Json = {
    ...(schema.kind === 'list' ? listExtensions(schema) : {}),
    ...omitUndefined({ 'x-kubernetes-patch-merge-key': patchMergeKey }),
    ...(patchStrategy === undefined ? {} : { 'x-kubernetes-patch-strategy': strategyText(patchStrategy) }),
    ...(schema.kind === 'map' && schema.atomic === true ? { 'x-kubernetes-map-type': 'atomic' } : {}),
  };
  const written = writeSchema(schema, prefix, nameOf);
  // Siblings of a bare reference would be ignored.
  if (written.$ref !== undefined && Object.keys(extensions).length > 0) return { allOf: [written], ...extensions };
  return { ...written, ...extensions };
}

const listExtensions = ({ listType, keys }: ListSchema): Json => ({
  'x-kubernetes-list-type': listType,
  ...(listType === 'map' ? { 'x-kubernetes-list-map-keys': keys } : {}),
});

const strategyText = ({ merge, replace, retainKeys }: PatchStrategy): string =>
  [...(merge === true ? ['merge'] : []), ...(replace === true ? ['replace'] : []), ...(retainKeys === true ? ['retainKeys'] : [])].join(
    ',',
  );

function writeSchema(schema: Schema, prefix: RefPrefix, nameOf: NameOf): Json {
  switch (schema.kind) {
    case 'scalar':
      return scalarSchema(schema, prefix);
    case 'object':
      return { $ref: prefix + nameOf(schema) };
    case 'list':
      return { type: 'array', items: writeSchema(schema.items, prefix, nameOf) };
    case 'map':
      return { type: 'object', additionalProperties: writeSchema(schema.values, prefix, nameOf) };
    case 'any':
      return {};
  }
}

function scalarSchema({ type }: ScalarSchema, prefix: RefPrefix): Json {
  switch (type) {
    case 'int32':
    case 'int64':
      return { type: 'integer', format: type };
    case 'double':
      return { type: 'number', format: type };
    case 'time':
    case 'micro-time':
      return { type: 'string', format: 'date-time' };
    case 'bytes':
      return { type: 'string', format: 'byte' };
    case 'quantity':
      return { $ref: prefix + QUANTITY };
    case 'int-or-string':
      return { $ref: prefix + INT_OR_STRING };
    default:
      return { type };
  }
}
