import { objectMetaSchema } from '../schema/builtin.ts';
import { anySchema, deducedSchema, type Field, type KindName, type ObjectSchema, type Schema, stringSchema } from '../schema/schema.ts';
import { conformEmbedded } from './embedded-metadata.ts';
import { hasEmbeddedResources } from './embedded-validation.ts';
import { itemsOf, type JsonSchema, propertyOf, sortedProperties, valuesOf } from './json-schema.ts';
import { pruneUnknownFields } from './schema-pruning.ts';

/** The server's description of a custom resource: what decoding, server-side apply and OpenAPI need of its schema. */
export function customSchema(type: KindName, schema: JsonSchema, hasStatusSubresource = true): ObjectSchema {
  const { fields } = objectSchema(schema);
  const hasEmbedded = hasEmbeddedResources(schema);
  return {
    kind: 'object',
    name: type.kind,
    type,
    fields: new Map<string, Field>([
      ...fields,
      ['apiVersion', given(stringSchema)],
      ['kind', given(stringSchema)],
      ['metadata', given(objectMetaSchema())],
    ]),
    ...(isOpen(schema) ? { open: true } : {}),
    custom: {
      prune: (object) => [...pruneUnknownFields(object, schema, true), ...(hasEmbedded ? conformEmbedded(object, schema) : [])],
      openApi: schema,
      hasStatusSubresource,
    },
  };
}

const given = (schema: Schema, required = false): Field => ({ schema, emit: 'pointer', ...(required ? { required } : {}) });
const isOpen = (schema: JsonSchema): boolean =>
  schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true;

function convert(schema: JsonSchema): Schema {
  if (schema['x-kubernetes-int-or-string'] === true) return { kind: 'scalar', type: 'int-or-string' };
  switch (schema.type) {
    case 'string':
      return stringSchema;
    case 'boolean':
      return { kind: 'scalar', type: 'boolean' };
    case 'integer':
      return { kind: 'scalar', type: schema.format === 'int32' ? 'int32' : 'int64' };
    case 'number':
      return { kind: 'scalar', type: 'double' };
    case 'array':
      return listSchema(schema);
    case 'object':
      return mapOrObject(schema);
    default:
      return anySchema;
  }
}

function listSchema(schema: JsonSchema): Schema {
  const items = itemsOf(schema);
  const type = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const defaults = keys.flatMap((key) => {
    const value = propertyOf(items, key)?.default;
    return value === undefined ? [] : [[key, value] as const];
  });
  return {
    kind: 'list',
    items: items === undefined ? anySchema : convert(items),
    listType: type === 'map' || type === 'set' ? type : 'atomic',
    keys,
    ...(defaults.length === 0 ? {} : { keyDefaults: Object.fromEntries(defaults) }),
  };
}

function mapOrObject(schema: JsonSchema): Schema {
  const values = valuesOf(schema);
  const atomic = schema['x-kubernetes-map-type'] === 'atomic' ? { atomic: true } : {};
  if (values !== undefined) return { kind: 'map', values: convert(values), ...atomic };
  if (schema.properties === undefined && isOpen(schema)) return deducedSchema;
  return { ...objectSchema(schema), ...atomic };
}

function objectSchema(schema: JsonSchema): ObjectSchema {
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  return {
    kind: 'object',
    name: '',
    fields: new Map<string, Field>([
      ...sortedProperties(schema).map(([name, property]): [string, Field] => [
        name,
        given(convert(property), schema.required?.includes(name) === true),
      ]),
      ...(embedded ? EMBEDDED_FIELDS : []),
    ]),
    ...(isOpen(schema) ? { open: true } : {}),
  };
}

const EMBEDDED_FIELDS: readonly [string, Field][] = [
  ['apiVersion', given(stringSchema)],
  ['kind', given(stringSchema)],
  ['metadata', given(anySchema)],
];
