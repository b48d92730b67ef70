import { DYN, listOf, mapOf, objectOf, readType, STRING, type StaticType } from '../../cel/checker/static-type.ts';
import { fieldNamesOf } from '../../cel/field-names.ts';
import { itemsOf, type JsonSchema, valuesOf } from './json-schema.ts';

const NAMES: StaticType = objectOf(
  'Object.metadata',
  new Map([
    ['name', STRING],
    ['generateName', STRING],
  ]),
);

/**
 * The type that rules see for a schema (SchemaDeclType of apiserver); undefined where it does not say enough for rules. Fields of an object
 * that it does not describe are not there for rules, whether they are kept or not.
 */
export function declaredType(schema: JsonSchema, isObjectRoot: boolean, name = 'Object'): StaticType | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) return DYN;
  switch (schema.type) {
    case 'array': {
      const items = itemsOf(schema);
      const type = items === undefined ? undefined : declaredType(items, isEmbedded(items), `${name}.@idx`);
      return type === undefined ? undefined : listOf(type);
    }
    case 'object':
      return objectType(schema, isObjectRoot, name);
    case 'string':
      return stringType(schema.format);
    case 'boolean':
      return readType('bool');
    case 'number':
      return readType('double');
    case 'integer':
      return readType('int');
    default:
      return undefined;
  }
}

function objectType(schema: JsonSchema, isObjectRoot: boolean, name: string): StaticType | undefined {
  const values = valuesOf(schema);
  if (values !== undefined) {
    const type = declaredType(values, isEmbedded(values), `${name}.@elem`);
    return type === undefined ? undefined : mapOf(STRING, type);
  }
  const fields = new Map<string, StaticType>();
  for (const [property, child] of Object.entries(schema.properties ?? {})) {
    const names = fieldNamesOf(property);
    const [field] = names;
    const type = field === undefined ? undefined : declaredType(child, isEmbedded(child), `${name}.${field}`);
    if (type !== undefined) for (const each of names) fields.set(each, type);
  }
  if (isObjectRoot) fields.set('apiVersion', STRING).set('kind', STRING).set('metadata', NAMES);
  return objectOf(name, fields);
}

function stringType(format: string | undefined): StaticType {
  switch (format) {
    case 'byte':
      return readType('bytes');
    case 'duration':
      return readType('duration');
    case 'date':
    case 'date-time':
      return readType('timestamp');
    default:
      return STRING;
  }
}

const isEmbedded = (schema: JsonSchema): boolean => schema['x-kubernetes-embedded-resource'] === true;
