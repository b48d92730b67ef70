import type { SizedType } from '../../cel/cost/sized-type.ts';
import { fieldNamesOf } from '../../cel/field-names.ts';
import { itemsOf, type JsonSchema, valuesOf } from './json-schema.ts';

/** The body of a request has at most that many bytes; what has no limit of its own has this one. */
export const REQUEST_BYTES_MAX = 3 * 1024 * 1024;
/** A text between its quotes. */
const TEXT_MAX = REQUEST_BYTES_MAX - 2;
/** A character of `maxLength` has up to four bytes. */
const BYTES_OF_CHARACTER = 4;

const TEXT_SIZE = 2;
const simple = (minSerializedSize: number, maxElements = 0): SizedType => ({ minSerializedSize, maxElements });
const ANY_TEXT = simple(TEXT_SIZE);
const OBJECT_META: JsonSchema = { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } };

/**
 * How expressions see the values of a structural schema (SchemaDeclType of k8s.io/apiserver/pkg/cel/common); undefined for what they do not
 * see.
 */
export function sizedTypeOf(schema: JsonSchema, isObjectRoot: boolean): SizedType | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) return simple(1, textLength(schema) ?? TEXT_MAX);
  switch (schema.type) {
    case 'array':
      return listType(schema);
    case 'object':
      return valuesOf(schema) === undefined ? objectType(schema, isObjectRoot) : mapType(schema);
    case 'string':
      return textType(schema);
    case 'boolean':
      return simple(4);
    case 'number':
      return simple(1);
    case 'integer':
      return simple(1);
    default:
      return undefined;
  }
}

const partType = (schema: JsonSchema | undefined): SizedType | undefined =>
  schema === undefined ? undefined : sizedTypeOf(schema, schema['x-kubernetes-embedded-resource'] === true);

const bounded = (limit: number | undefined): number | undefined => (limit === undefined ? undefined : Math.max(0, limit));
const textLength = ({ maxLength }: JsonSchema): number | undefined =>
  maxLength === undefined ? undefined : Math.max(0, maxLength) * BYTES_OF_CHARACTER;

function listType(schema: JsonSchema): SizedType | undefined {
  const element = partType(itemsOf(schema));
  if (element === undefined) return undefined;
  const most = Math.floor((REQUEST_BYTES_MAX - 2) / (element.minSerializedSize + 1));
  return { minSerializedSize: 2, maxElements: bounded(schema.maxItems) ?? most, element };
}

function mapType(schema: JsonSchema): SizedType | undefined {
  const element = partType(valuesOf(schema));
  if (element === undefined) return undefined;
  // An entry has a key of two characters at least, quotes, a colon and a comma.
  const most = Math.floor((REQUEST_BYTES_MAX - 2) / (element.minSerializedSize + 6));
  const maxElements = bounded(schema.maxProperties) ?? most;
  return { minSerializedSize: 2, maxElements, key: ANY_TEXT, element };
}

function objectType(schema: JsonSchema, isObjectRoot: boolean): SizedType {
  const properties = isObjectRoot ? withObjectFields(schema) : (schema.properties ?? {});
  const fields = new Map<string, SizedType>();
  let minSerializedSize = 2;
  for (const [property, child] of Object.entries(properties)) {
    const field = partType(child);
    if (field === undefined) continue;
    for (const name of fieldNamesOf(property)) fields.set(name, field);
    const isAlwaysSent = schema.required?.includes(property) === true && child.default === undefined;
    if (isAlwaysSent) minSerializedSize += Buffer.byteLength(property) + field.minSerializedSize + 4;
  }
  return { minSerializedSize, maxElements: 0, fields };
}

/** What an object at a root has whatever its schema says: nothing else of its metadata. */
function withObjectFields({ properties = {} }: JsonSchema): Readonly<Record<string, JsonSchema>> {
  const { kind, apiVersion, metadata } = properties;
  const { name, generateName } = metadata?.properties ?? {};
  const texts = [kind, apiVersion, name, generateName];
  if (metadata?.type === 'object' && texts.every((each) => each?.type === 'string')) return properties;
  return { ...properties, kind: { type: 'string' }, apiVersion: { type: 'string' }, metadata: OBJECT_META };
}

/** In JSON with quotes; without a length of its own a time is as long as the longest there is. */
const TIME_LENGTH = 32;
const DATE_LENGTH = 12;

function textType(schema: JsonSchema): SizedType {
  switch (schema.format) {
    case 'byte':
      return simple(TEXT_SIZE, bounded(schema.maxLength) ?? TEXT_MAX);
    case 'duration':
      return simple(3, TIME_LENGTH);
    case 'date':
      return simple(DATE_LENGTH, DATE_LENGTH);
    case 'date-time':
      return simple(21, TIME_LENGTH);
    default:
      return simple(TEXT_SIZE, textLength(schema) ?? longestOf(schema.enum) ?? TEXT_MAX);
  }
}

function longestOf(values: readonly unknown[] | undefined): number | undefined {
  if (values === undefined || values.length === 0) return undefined;
  return Math.max(0, ...values.map((each) => (typeof each === 'string' ? Buffer.byteLength(each) : 0)));
}
