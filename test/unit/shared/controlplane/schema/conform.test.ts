import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../shared/controlplane/apimachinery/json.ts';
import {
  conformObject,
  conformValue,
  type ConformOptions,
  goTypeName,
  TypeMismatch,
  zeroOf,
} from '../../../../../shared/controlplane/schema/conform.ts';
import { converterWording } from '../../../../../shared/controlplane/schema/converter-wording.ts';
import { pathText } from '../../../../../shared/controlplane/schema/path-text.ts';
import {
  anySchema,
  type Emit,
  type Field,
  type ObjectSchema,
  type ScalarType,
  type Schema,
  stringSchema,
} from '../../../../../shared/controlplane/schema/schema.ts';

const scalar = (type: ScalarType): Schema => ({ kind: 'scalar', type });
const field = (schema: Schema, emit: Emit = 'pointer'): Field => ({ schema, emit });
const objectOf = (fields: Readonly<Record<string, Field>>, parts: Partial<ObjectSchema> = {}): ObjectSchema => ({
  kind: 'object',
  name: 'Thing',
  fields: new Map(Object.entries(fields)),
  ...parts,
});
const listOf = (items: Schema): Schema => ({ kind: 'list', items, listType: 'atomic', keys: [] });
const mapOf = (values: Schema): Schema => ({ kind: 'map', values });

const conformed = (object: JsonObject, schema: ObjectSchema, options: ConformOptions = {}): JsonObject => {
  conformObject(object, schema, options);
  return object;
};
const value = (given: unknown, type: ScalarType): unknown => conformed({ a: given }, objectOf({ a: field(scalar(type)) }))['a'];
const refusal = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof TypeMismatch) return error.message;
    throw error;
  }
  return 'accepted';
};

describe('a scalar', () => {
  test.each<[ScalarType, unknown, unknown]>([
    ['string', '', ''],
    ['boolean', false, false],
    ['int32', 2_147_483_647, 2_147_483_647],
    ['int32', -2_147_483_648, -2_147_483_648],
    ['int64', 2 ** 53, 2 ** 53],
    ['double', 0.5, 0.5],
    ['bytes', 'aGk=', 'aGk='],
    ['bytes', 'aG\r\nk=', 'aGk='],
    ['time', '2026-01-01T01:00:00.9+01:00', '2026-01-01T00:00:00Z'],
    ['micro-time', '2026-01-01T01:00:00.500000+01:00', '2026-01-01T00:00:00.500000Z'],
    ['quantity', '1000m', '1'],
    ['quantity', 0.5, '500m'],
    ['quantity', '0', '0'],
    ['int-or-string', 5, 5],
    ['int-or-string', '50%', '50%'],
  ])('of type %s takes %j', (type, given, stored) => {
    expect(value(given, type)).toEqual(stored);
  });

  test.each<[ScalarType, unknown, string]>([
    ['string', 1, 'cannot unmarshal number into Go struct field Thing.a of type string'],
    ['string', ['x'], 'cannot unmarshal array into Go struct field Thing.a of type string'],
    ['string', {}, 'cannot unmarshal object into Go struct field Thing.a of type string'],
    ['boolean', 'true', 'cannot unmarshal string into Go struct field Thing.a of type bool'],
    ['int32', 2_147_483_648, 'cannot unmarshal number 2147483648 into Go struct field Thing.a of type int32'],
    ['int32', 1.5, 'cannot unmarshal number 1.5 into Go struct field Thing.a of type int32'],
    ['int64', 2 ** 63, 'cannot unmarshal number 9223372036854776000 into Go struct field Thing.a of type int64'],
    ['double', '1', 'cannot unmarshal string into Go struct field Thing.a of type float64'],
    ['int-or-string', true, 'cannot unmarshal bool into Go struct field Thing.a of type int32'],
    ['int-or-string', 2_147_483_648, 'cannot unmarshal number 2147483648 into Go struct field Thing.a of type int32'],
  ])('of type %s refuses %j', (type, given, why) => {
    expect(refusal(() => value(given, type))).toBe(`json: ${why}`);
  });

  test('that is to be bytes, a time or a quantity and is none is refused in the words of its own decoder', () => {
    expect(refusal(() => value('a$', 'bytes'))).toBe('illegal base64 data at input byte 1');
    expect(refusal(() => value('soon', 'time'))).toMatch(/^parsing time "soon"/);
    expect(refusal(() => value('much', 'quantity'))).toMatch(/^quantities must match the regular expression/);
  });
});

describe('fields', () => {
  test('that the schema does not have are dropped and told of, by their path', () => {
    const inner = objectOf({ known: field(stringSchema) });
    const schema = objectOf({ list: field(listOf(inner)), map: field(mapOf(inner)) });
    const unknown: string[] = [];
    const object = { list: [{ known: 'a', x: 1 }], map: { key: { y: 1 } }, z: null };
    expect(conformed(object, schema, { onUnknown: (path) => unknown.push(path) })).toEqual({ list: [{ known: 'a' }], map: { key: {} } });
    expect(unknown).toEqual(['list[0].x', 'map.key.y', 'z']);
  });

  test('that the schema does not have are kept where it is open', () => {
    expect(conformed({ x: 1 }, objectOf({}, { open: true }))).toEqual({ x: 1 });
  });

  test('called like what every object inherits are unknown like others', () => {
    const unknown: string[] = [];
    const hostile = JSON.parse('{"__proto__": {"a": 1}, "constructor": 1, "toString": 2}') as JsonObject;
    const object = conformed(hostile, objectOf({ a: field(stringSchema) }), { onUnknown: (path) => unknown.push(path) });
    expect(Object.keys(object)).toEqual([]);
    expect(unknown).toEqual(['__proto__', 'constructor', 'toString']);
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
  });

  test.each<[Emit, unknown[]]>([
    ['pointer', ['', 0, false, [], {}]],
    ['omit-empty', []],
    ['always', ['', 0, false, [], {}]],
  ])('that are empty stay or go as Go writes them: %s', (emit, kept) => {
    const schema = objectOf({
      a: field(stringSchema, emit),
      b: field(scalar('int32'), emit),
      c: field(scalar('boolean'), emit),
      d: field(listOf(stringSchema), emit),
      e: field(objectOf({}), emit),
    });
    expect(Object.values(conformed({ a: '', b: 0, c: false, d: [], e: {} }, schema))).toEqual(kept);
  });

  test('that are null are absent', () => {
    expect(conformed({ a: null }, objectOf({ a: field(stringSchema) }))).toEqual({});
  });

  test('that always appear are added with the zero value of their type', () => {
    const inner = objectOf({ n: field(scalar('int32'), 'always') }, { alwaysEmitted: ['n'] });
    const schema = objectOf(
      {
        inner: field(inner, 'always'),
        list: field(listOf(stringSchema), 'always'),
        when: field(scalar('time'), 'always'),
        nothing: { ...field(inner, 'always'), nullable: true },
      },
      { alwaysEmitted: ['inner', 'list', 'when', 'nothing'] },
    );
    expect(conformed({}, schema)).toEqual({ inner: { n: 0 }, list: null, when: null, nothing: null });
    expect(conformed({ inner: {}, list: ['a'] }, schema)).toMatchObject({ inner: { n: 0 }, list: ['a'] });
  });
});

describe('the values of lists and maps', () => {
  test('that are null are zero', () => {
    expect(conformed({ a: [null, 'x'] }, objectOf({ a: field(listOf(stringSchema)) }))).toEqual({ a: ['', 'x'] });
    expect(conformed({ a: { k: null } }, objectOf({ a: field(mapOf(scalar('quantity'))) }))).toEqual({ a: { k: '0' } });
  });

  test('are brought to their form, whatever the key', () => {
    const map = JSON.parse('{"__proto__": "1000m", "cpu": "2000m"}') as JsonObject;
    const { a } = conformed({ a: map }, objectOf({ a: field(mapOf(scalar('quantity'))) }));
    expect(Object.entries(a as object)).toEqual([
      ['__proto__', '1'],
      ['cpu', '2'],
    ]);
  });

  test.each<[Schema, unknown, string]>([
    [listOf(stringSchema), {}, 'json: cannot unmarshal object into Go struct field Thing.a of type []string'],
    [mapOf(stringSchema), [], 'json: cannot unmarshal array into Go struct field Thing.a of type map[string]string'],
    [objectOf({}, { name: 'Inner' }), 'x', 'json: cannot unmarshal string into Go struct field Thing.a of type v1.Inner'],
    [
      listOf(objectOf({ n: field(scalar('int32')) }, { name: 'Inner' })),
      [{}, { n: 'x' }],
      'json: cannot unmarshal string into Go struct field Inner.a.n of type int32',
    ],
  ])('of %j refuse %j', (schema, given, why) => {
    expect(refusal(() => conformed({ a: given }, objectOf({ a: field(schema) })))).toBe(why);
  });
});

test('a whole number that was written with a fraction is no integer', () => {
  const schema = objectOf({ a: field(scalar('int32')), b: field(scalar('double')), c: field(listOf(scalar('int64'))) });
  const fractions = (object: JsonObject, ...fields: string[]) => new Map<object, Set<string>>([[object, new Set(fields)]]);
  const whole = { a: 1, b: 1 };
  expect(conformed(whole, schema, { fractions: fractions(whole, 'b') })).toEqual({ a: 1, b: 1 });
  expect(refusal(() => conformed(whole, schema, { fractions: fractions(whole, 'a') }))).toMatch(/of type int32$/);
});

test('one value is brought to its form under the name of its field', () => {
  expect(conformValue({ n: null, m: 'x' }, objectOf({ m: field(stringSchema) }), 'metadata')).toEqual({ m: 'x' });
  expect(refusal(() => conformValue([], objectOf({}, { name: 'ObjectMeta' }), 'metadata'))).toBe(
    'json: cannot unmarshal array into Go struct field .metadata of type v1.ObjectMeta',
  );
});

test('what may have several forms is read by the schema where it is an object, and says nothing of unknown fields', () => {
  const forms: Schema = { ...anySchema, objects: objectOf({ type: field(stringSchema) }) };
  const unknown: string[] = [];
  const read = (given: unknown) => conformed({ a: given }, objectOf({ a: field(forms) }), { onUnknown: (path) => unknown.push(path) })['a'];
  expect([read(true), read({ type: 'string', x: 1 }), read([{ type: 'a', x: 1 }])]).toEqual([true, { type: 'string' }, [{ type: 'a' }]]);
  expect(unknown).toEqual([]);
  expect(refusal(() => read(5))).toBe('boolean or JSON schema expected');
});

test.each<[Schema, string, unknown]>([
  [stringSchema, 'string', ''],
  [scalar('bytes'), '[]uint8', null],
  [scalar('quantity'), 'resource.Quantity', '0'],
  [listOf(mapOf(scalar('int64'))), '[]map[string]int64', null],
  [objectOf({}), 'v1.Thing', {}],
  [anySchema, 'interface {}', null],
])('of %j the Go type is %s, and its zero value %j', (schema, name, zero) => {
  expect(goTypeName(schema)).toBe(name);
  expect(zeroOf(field(schema))).toEqual(zero);
});

describe('the words of the converter for a value that does not fit', () => {
  const worded = (given: unknown, schema: Schema): string =>
    refusal(() => conformed({ a: given }, objectOf({ a: field(schema) }), { wording: converterWording }));
  test.each<[unknown, Schema, string]>([
    ['x', objectOf({}), 'cannot restore struct from: string'],
    [{}, listOf(stringSchema), 'cannot restore slice from map'],
    [[], mapOf(stringSchema), 'cannot restore map from slice'],
    [1, stringSchema, 'cannot convert int64 to string'],
    [1.5, scalar('int32'), 'cannot convert float64 to int32'],
    [1.5, stringSchema, 'unrecognized type: string'],
    [true, stringSchema, 'unrecognized type: string'],
    ['x', scalar('boolean'), 'unrecognized type: bool'],
  ])('%j for %j: %s', (given, schema, words) => {
    expect(worded(given, schema)).toBe(words);
  });
});

test.each<[(string | number)[], string]>([
  [[], ''],
  [['spec'], 'spec'],
  [['spec', 'containers', 0, 'image'], 'spec.containers[0].image'],
  [[0, 1, 'a'], '[0][1].a'],
])('the path %j is written %s', (path, text) => {
  expect(pathText(path)).toBe(text);
});
