import { type FieldError, forbidden, invalid, notSupported, required } from '../apimachinery/field-error.ts';
import { itemsOf, type JsonSchema, propertyOf } from './json-schema.ts';

const LIST_TYPE = 'x-kubernetes-list-type';
const MAP_TYPE = 'x-kubernetes-map-type';
const LIST_KEYS = 'x-kubernetes-list-map-keys';

/** How lists and maps are merged must fit what they are (ValidateCustomResourceDefinitionOpenAPISchema of apiextensions). */
export function validateExtensionKeywords(schema: JsonSchema, path: string): FieldError[] {
  const preserve = schema['x-kubernetes-preserve-unknown-fields'];
  return [
    ...(preserve === false ? [invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined')] : []),
    ...requireType(schema, MAP_TYPE, 'object', path),
    ...oneOf(schema[MAP_TYPE], ['atomic', 'granular'], `${path}.${MAP_TYPE}`),
    ...validateListType(schema, path),
    ...oneOf(schema[LIST_TYPE], ['atomic', 'set', 'map'], `${path}.${LIST_TYPE}`),
    ...validateListKeys(schema, path),
    ...validateKeyProperties(schema, path),
  ];
}

const oneOf = (value: string | undefined, supported: readonly string[], path: string): FieldError[] =>
  value === undefined || supported.includes(value) ? [] : [notSupported(path, value, supported)];

function requireType(schema: JsonSchema, keyword: typeof LIST_TYPE | typeof MAP_TYPE, type: string, path: string): FieldError[] {
  if (schema[keyword] === undefined || schema.type === type) return [];
  const detail = `must be ${type} if ${keyword} is specified`;
  return [(schema.type ?? '') === '' ? required(`${path}.type`, detail) : invalid(`${path}.type`, schema.type, detail)];
}

function validateListType(schema: JsonSchema, path: string): FieldError[] {
  const wrongType = requireType(schema, LIST_TYPE, 'array', path);
  const items = itemsOf(schema);
  if (wrongType.length > 0 || schema[LIST_TYPE] !== 'set' || items === undefined) return wrongType;
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  if (items.type === 'array' && items[LIST_TYPE] !== undefined && items[LIST_TYPE] !== 'atomic') {
    return [invalid(`${path}.items.${LIST_TYPE}`, items[LIST_TYPE], detail)];
  }
  // Upstream shows the list type of the items here, whatever the path says.
  return items.type === 'object' && items[MAP_TYPE] !== 'atomic'
    ? [invalid(`${path}.items.${MAP_TYPE}`, items[LIST_TYPE] ?? null, detail)]
    : [];
}

function validateListKeys(schema: JsonSchema, path: string): FieldError[] {
  const keys = schema[LIST_KEYS] ?? [];
  const type = schema[LIST_TYPE];
  const errors: FieldError[] = [];
  const mustBeMap = `must be map if ${LIST_KEYS} is non-empty`;
  if (keys.length > 0 && type === undefined) errors.push(required(`${path}.${LIST_TYPE}`, mustBeMap));
  else if (keys.length > 0 && type !== 'map') errors.push(invalid(`${path}.${LIST_TYPE}`, type, mustBeMap));
  if (type !== 'map') return errors;
  if (keys.length === 0) errors.push(required(`${path}.${LIST_KEYS}`, `must not be empty if ${LIST_TYPE} is map`));
  const items = itemsOf(schema);
  if (items === undefined) return [...errors, required(`${path}.items`, `must have a schema if ${LIST_TYPE} is map`)];
  if (items.type !== 'object') {
    return [...errors, invalid(`${path}.items.type`, items.type ?? '', `must be object if parent array's ${LIST_TYPE} is map`)];
  }
  const seen = new Set<string>();
  for (const key of keys) {
    const property = propertyOf(items, key);
    if (property === undefined) errors.push(invalid(`${path}.${LIST_KEYS}`, keys, 'entries must all be names of item properties'));
    else if (property.type === 'array' || property.type === 'object') {
      const detail = `must be a scalar type if parent array's ${LIST_TYPE} is map`;
      errors.push(invalid(`${path}.items.properties[${key}].type`, items.type, detail));
    }
    if (seen.has(key)) errors.push(invalid(`${path}.${LIST_KEYS}`, keys, 'must not contain duplicate entries'));
    seen.add(key);
  }
  return errors;
}

/** Elements need their keys always: by requirement or by default, and never null. */
function validateKeyProperties(schema: JsonSchema, path: string): FieldError[] {
  const items = itemsOf(schema);
  const type = schema[LIST_TYPE];
  if (items === undefined || (type !== 'set' && type !== 'map')) return [];
  const errors = items.nullable === true ? [forbidden(`${path}.items.nullable`, `cannot be nullable when ${LIST_TYPE} is ${type}`)] : [];
  if (type === 'set') return errors;
  for (const key of schema[LIST_KEYS] ?? []) {
    const property = propertyOf(items, key);
    if (property === undefined) continue;
    const at = `${path}.items.properties[${key}]`;
    if (items.required?.includes(key) !== true && property.default === undefined) {
      const detail = `this property is in ${LIST_KEYS}, so it must have a default or be a required property`;
      errors.push(required(`${at}.default`, detail));
    }
    if (property.nullable === true) {
      errors.push(forbidden(`${at}.nullable`, `this property is in ${LIST_KEYS}, so it cannot be nullable`));
    }
  }
  return errors;
}
