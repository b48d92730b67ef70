import { corruptAt } from './base64-text.ts';
import { formatQuantity, parseQuantity, QuantityError } from '../../kube/quantity.ts';
import { isJsonObject, type JsonObject } from '../apimachinery/json.ts';
import { pathText } from './path-text.ts';
import type { Fractions } from './json-text.ts';
import type { Field, ObjectSchema, ScalarSchema, Schema } from './schema.ts';
import { canonicalMicroTime, canonicalTime, TimeError } from './time-text.ts';

/** A value that its type cannot hold. The message is a JSON decoder's, in Go's words. */
export class TypeMismatch extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TypeMismatch';
  }
}

/** How to word a mismatch: as encoding/json does, or as the converter of strategic merge patches does. */
export type MismatchWording = (value: unknown, schema: Schema, where: { readonly owner: string; readonly path: string }) => string;

export type ConformOptions = {
  /** Told of every field that the schema does not have, by its path; such fields are dropped. */
  readonly onUnknown?: (path: string) => void;
  /** Default: encoding/json's. */
  readonly wording?: MismatchWording;
  /** Numbers that were not written as integers. */
  readonly fractions?: Fractions | undefined;
};

/**
 * Brings an object to the form in which the server stores and answers it: checks types, drops unknown fields and nulls,
 * writes times and quantities canonically, leaves out empty fields and adds those that always appear. Changes the object.
 * Throws TypeMismatch.
 */
export function conformObject(object: JsonObject, schema: ObjectSchema, options: ConformOptions = {}): void {
  conformFields(object, schema, { options, path: [], owner: schema.name });
}

/** One value that stands at `field` of an object, such as the metadata of a custom resource. */
export function conformValue(value: unknown, schema: Schema, field: string, options: ConformOptions = {}): unknown {
  return conform(value, schema, { options, path: [field], owner: '' });
}

type Walk = { readonly options: ConformOptions; readonly path: (string | number)[]; owner: string };

function conformFields(object: JsonObject, schema: ObjectSchema, walk: Walk): void {
  const outer = walk.owner;
  walk.owner = schema.name;
  for (const key in object) {
    const field = schema.fields.get(key);
    if (field === undefined) {
      if (schema.open !== true) dropUnknown(object, key, walk);
      continue;
    }
    const value = object[key];
    if (value === null || value === undefined) {
      delete object[key];
      continue;
    }
    walk.path.push(key);
    if (walk.options.fractions !== undefined) refuseFraction(object, key, field.schema, walk);
    const conforming = conform(value, field.schema, walk);
    walk.path.pop();
    if (field.emit === 'omit-empty' && isEmpty(conforming)) delete object[key];
    else if (conforming !== value) object[key] = conforming;
  }
  if (schema.alwaysEmitted !== undefined) addAbsent(object, schema, schema.alwaysEmitted);
  walk.owner = outer;
}

function dropUnknown(object: JsonObject, key: string, walk: Walk): void {
  delete object[key];
  walk.options.onUnknown?.(pathText([...walk.path, key]));
}

function addAbsent(object: JsonObject, schema: ObjectSchema, names: readonly string[]): void {
  for (const name of names) {
    if (object[name] !== undefined) continue;
    const field = schema.fields.get(name);
    if (field !== undefined) object[name] = zeroOf(field);
  }
}

/** Go's zero value of a field, as JSON shows it. */
export function zeroOf({ schema, nullable }: Field): unknown {
  if (nullable === true) return null;
  if (schema.kind === 'object') {
    const empty: JsonObject = {};
    if (schema.alwaysEmitted !== undefined) addAbsent(empty, schema, schema.alwaysEmitted);
    return empty;
  }
  return schema.kind === 'scalar' ? ZERO_SCALARS[schema.type] : null;
}

const ZERO_SCALARS: Readonly<Record<ScalarSchema['type'], unknown>> = {
  string: '',
  boolean: false,
  int32: 0,
  int64: 0,
  double: 0,
  bytes: null,
  time: null,
  'micro-time': null,
  quantity: '0',
  'int-or-string': 0,
};

function isEmpty(value: unknown): boolean {
  if (value === '' || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== 'object' || value === null) return false;
  for (const _ in value) return false;
  return true;
}

function conform(value: unknown, schema: Schema, walk: Walk): unknown {
  switch (schema.kind) {
    case 'scalar':
      return conformScalar(value, schema, walk);
    case 'object':
      if (!isJsonObject(value)) throw mismatch(value, schema, walk);
      conformFields(value, schema, walk);
      return value;
    case 'list':
      if (!Array.isArray(value)) throw mismatch(value, schema, walk);
      return conformItems(value, { schema: schema.items, emit: 'always' }, walk);
    case 'map':
      if (!isJsonObject(value)) throw mismatch(value, schema, walk);
      conformEntries(value, { schema: schema.values, emit: 'always' }, walk);
      return value;
    case 'any':
      return schema.objects === undefined ? value : conformForms(value, schema.objects, walk);
  }
}

/** JSONSchemaPropsOrBool and its like: their own decoders read objects by the schema, and say nothing of unknown fields. */
function conformForms(value: unknown, schema: ObjectSchema, walk: Walk): unknown {
  const silent: Walk = { ...walk, options: {} };
  if (Array.isArray(value)) return conformItems(value, { schema, emit: 'always' }, silent);
  if (isJsonObject(value)) conformFields(value, schema, silent);
  else if (typeof value !== 'boolean' && typeof value !== 'string') throw new TypeMismatch('boolean or JSON schema expected');
  return value;
}

function conformItems(list: unknown[], items: Field, walk: Walk): unknown[] {
  for (let index = 0; index < list.length; index++) {
    walk.path.push(index);
    const value = list[index];
    if (walk.options.fractions !== undefined) refuseFraction(list, String(index), items.schema, walk);
    list[index] = value === null ? zeroOf(items) : conform(value, items.schema, walk);
    walk.path.pop();
  }
  return list;
}

function conformEntries(map: JsonObject, values: Field, walk: Walk): void {
  for (const key of Object.keys(map)) {
    walk.path.push(key);
    const value = map[key];
    if (walk.options.fractions !== undefined) refuseFraction(map, key, values.schema, walk);
    const conforming = value === null ? zeroOf(values) : conform(value, values.schema, walk);
    walk.path.pop();
    if (conforming !== value) map[key] = conforming;
  }
}

const INTEGERS: readonly string[] = ['int32', 'int64', 'int-or-string'];

function refuseFraction(holder: object, key: string, schema: Schema, walk: Walk): void {
  if (schema.kind !== 'scalar' || !INTEGERS.includes(schema.type)) return;
  if (walk.options.fractions?.get(holder)?.has(key) === true) throw mismatch(Reflect.get(holder, key), schema, walk);
}

const INT32_MAX = 2 ** 31 - 1;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function conformScalar(value: unknown, schema: ScalarSchema, walk: Walk): unknown {
  switch (schema.type) {
    case 'string':
      if (typeof value === 'string') return value;
      break;
    case 'boolean':
      if (typeof value === 'boolean') return value;
      break;
    case 'int32':
      if (Number.isInteger(value) && Math.abs(Number(value)) <= INT32_MAX) return value;
      if (value === -INT32_MAX - 1) return value;
      break;
    case 'int64':
      if (Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 63) return value;
      break;
    case 'double':
      if (typeof value === 'number') return value;
      break;
    case 'bytes':
      if (typeof value === 'string') return conformBytes(value);
      break;
    case 'time':
    case 'micro-time':
      if (typeof value === 'string') return conformTime(value, schema.type);
      break;
    case 'quantity':
      if (typeof value === 'string' || typeof value === 'number') return conformQuantity(value);
      break;
    case 'int-or-string':
      if (typeof value === 'string' || (Number.isInteger(value) && Math.abs(Number(value)) <= INT32_MAX)) return value;
      break;
  }
  throw mismatch(value, schema, walk);
}

function conformBytes(text: string): string {
  const joined = text.includes('\n') || text.includes('\r') ? text.replaceAll(/[\r\n]/g, '') : text;
  if (BASE64.test(joined)) return joined;
  throw new TypeMismatch(`illegal base64 data at input byte ${corruptAt(text)}`);
}

function conformTime(text: string, type: 'time' | 'micro-time'): string | null {
  try {
    return type === 'time' ? canonicalTime(text) : canonicalMicroTime(text);
  } catch (error) {
    if (error instanceof TimeError) throw new TypeMismatch(error.message);
    throw error;
  }
}

/** Most quantities are canonical already. */
const CANONICAL_QUANTITY = /^(?:[1-9][0-9]{0,2}(?:m|k|M|G|Ki|Mi|Gi)?|0)$/;

function conformQuantity(value: string | number): string {
  if (typeof value === 'string' && CANONICAL_QUANTITY.test(value)) return value;
  try {
    return formatQuantity(parseQuantity(value));
  } catch (error) {
    if (error instanceof QuantityError) throw new TypeMismatch(error.message);
    throw error;
  }
}

function mismatch(value: unknown, schema: Schema, { options, path, owner }: Walk): TypeMismatch {
  const wording = options.wording ?? encodingJsonWording;
  return new TypeMismatch(wording(value, schema, { owner, path: path.filter((step) => typeof step === 'string').join('.') }));
}

/** encoding/json: `json: cannot unmarshal string into Go struct field JobSpec.spec.parallelism of type int32`. */
const encodingJsonWording: MismatchWording = (value, schema, { owner, path }) =>
  `json: cannot unmarshal ${jsonTypeName(value, schema)} into Go struct field ${owner}.${path} of type ${goTypeName(schema)}`;

function jsonTypeName(value: unknown, schema: Schema): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value !== 'number') return typeof value;
  const isNumeric = schema.kind === 'scalar' && ['int32', 'int64', 'int-or-string'].includes(schema.type);
  return isNumeric ? `number ${value}` : 'number';
}

/** The Go type that holds a value of a schema. */
export function goTypeName(schema: Schema): string {
  switch (schema.kind) {
    case 'scalar':
      return GO_SCALARS[schema.type];
    case 'object':
      return `v1.${schema.name}`;
    case 'list':
      return `[]${goTypeName(schema.items)}`;
    case 'map':
      return `map[string]${goTypeName(schema.values)}`;
    case 'any':
      return 'interface {}';
  }
}

const GO_SCALARS: Readonly<Record<ScalarSchema['type'], string>> = {
  string: 'string',
  boolean: 'bool',
  int32: 'int32',
  int64: 'int64',
  double: 'float64',
  bytes: '[]uint8',
  time: 'string',
  'micro-time': 'string',
  quantity: 'resource.Quantity',
  'int-or-string': 'int32',
};
