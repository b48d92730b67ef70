import type { CelEnvironment } from '../../cel/cel-environment.ts';
import { toCelValue } from '../../cel/values.ts';
import { kubernetesEnvironment } from '../../cel/environment.ts';
import { fieldNamesOf } from '../../cel/field-names.ts';
import { same } from '../../cel/list-library.ts';
import { itemsOf, type JsonSchema, valuesOf } from './json-schema.ts';
import { isRecord } from './schema-defaults.ts';

/** How CEL sees the values of one schema. */
export type CelType = {
  /** A type of the environment: `int`, `list<string>`, or the name of a registered object type. */
  readonly name: string;
  toValue(json: unknown): unknown;
};

const DYN: CelType = { name: 'dyn', toValue: toCelValue };

/** Properties that metadata has in rules, whatever its schema says. */
const METADATA: JsonSchema = { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } };

/** The CEL type of a schema. Object types are registered in `environment` under names that begin with `name`. */
export function celTypeOf(environment: CelEnvironment, schema: JsonSchema, name: string, isObjectRoot: boolean): CelType {
  const type = nonNullType(environment, schema, name, isObjectRoot);
  // CEL has no union with null: such values are typed dynamically.
  return schema.nullable === true && type !== DYN ? { name: 'dyn', toValue: (json) => (json === null ? null : type.toValue(json)) } : type;
}

function nonNullType(environment: CelEnvironment, schema: JsonSchema, name: string, isObjectRoot: boolean): CelType {
  if (schema['x-kubernetes-int-or-string'] === true) return DYN;
  switch (schema.type) {
    case 'boolean':
      return { name: 'bool', toValue: (json) => json };
    case 'integer':
      return { name: 'int', toValue: (json) => (typeof json === 'number' ? BigInt(Math.trunc(json)) : json) };
    case 'number':
      return { name: 'double', toValue: (json) => json };
    case 'string':
      return stringType(schema.format);
    case 'array':
      return listType(environment, schema, name);
    case 'object':
      return objectType(environment, schema, name, isObjectRoot || schema['x-kubernetes-embedded-resource'] === true);
    default:
      return DYN;
  }
}

function stringType(format: string | undefined): CelType {
  switch (format) {
    case 'byte':
      return { name: 'bytes', toValue: (json) => (typeof json === 'string' ? new Uint8Array(Buffer.from(json, 'base64')) : json) };
    case 'date':
    case 'date-time':
      return { name: 'google.protobuf.Timestamp', toValue: (json) => (typeof json === 'string' ? new Date(json) : json) };
    case 'duration':
      return {
        name: 'google.protobuf.Duration',
        toValue: (json) => kubernetesEnvironment.interpreter.evaluate(`duration(${JSON.stringify(json)})`),
      };
    default:
      return { name: 'string', toValue: (json) => json };
  }
}

function listType(environment: CelEnvironment, schema: JsonSchema, name: string): CelType {
  const items = itemsOf(schema);
  const element = items === undefined ? DYN : celTypeOf(environment, items, `${name}.items`, false);
  return { name: `list<${element.name}>`, toValue: (json) => (Array.isArray(json) ? json.map(element.toValue) : json) };
}

function objectType(environment: CelEnvironment, schema: JsonSchema, name: string, hasMetadata: boolean): CelType {
  const values = valuesOf(schema);
  if (values !== undefined) return mapType(celTypeOf(environment, values, `${name}.values`, false));
  const properties: Record<string, JsonSchema> = {
    ...(hasMetadata ? { apiVersion: { type: 'string' }, kind: { type: 'string' } } : {}),
    ...schema.properties,
    ...(hasMetadata ? { metadata: METADATA } : {}),
  };
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true;
  if (Object.keys(properties).length === 0) return isOpen ? DYN : mapType(DYN);
  const fields = Object.entries(properties).flatMap(([property, child]) => {
    const names = fieldNamesOf(property);
    const [first = property] = names;
    const type = celTypeOf(environment, child, `${name}.${first}`, false);
    return (names.length === 0 ? [property] : names).map((field) => ({ property, field, type }));
  });
  // One class for each object type: the library tells types apart by constructor.
  const ctor = class {};
  environment.registerType(name, { ctor, fields: Object.fromEntries(fields.map(({ field, type }) => [field, type.name])) });
  environment.registerOperator(`${name} == ${name}`, same);
  return {
    name,
    toValue: (json) => {
      if (!isRecord(json)) return json;
      const value: Record<string, unknown> = Object.assign(new ctor());
      for (const { property, field, type } of fields) if (Object.hasOwn(json, property)) value[field] = type.toValue(json[property]);
      return value;
    },
  };
}

const mapType = (element: CelType): CelType => ({
  name: `map<string, ${element.name}>`,
  toValue: (json) => (isRecord(json) ? Object.fromEntries(Object.entries(json).map(([key, each]) => [key, element.toValue(each)])) : json),
});
