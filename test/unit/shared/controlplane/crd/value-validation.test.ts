import { describe, expect, test } from 'vitest';
import type { FieldError } from '../../../../../shared/controlplane/apimachinery/field-error.ts';
import { celTypeOf } from '../../../../../shared/controlplane/crd/cel-types.ts';
import { correlatedField, correlatedItem, isUnchanged } from '../../../../../shared/controlplane/crd/correlation.ts';
import { customSchema } from '../../../../../shared/controlplane/crd/custom-schema.ts';
import { hasEmbeddedResources, validateEmbedded } from '../../../../../shared/controlplane/crd/embedded-validation.ts';
import { checkedFormat, hasFormat } from '../../../../../shared/controlplane/crd/formats.ts';
import {
  itemsOf,
  type JsonSchema,
  propertyOf,
  someSchema,
  sortedProperties,
  valuesOf,
} from '../../../../../shared/controlplane/crd/json-schema.ts';
import { validateListTypes } from '../../../../../shared/controlplane/crd/list-type-validation.ts';
import { applySchemaDefaults } from '../../../../../shared/controlplane/crd/schema-defaults.ts';
import { validateValue } from '../../../../../shared/controlplane/crd/value-validation.ts';
import { compileCel, kubernetesEnvironment } from '../../../../../shared/cel/environment.ts';

const text: JsonSchema = { type: 'string' };
const number: JsonSchema = { type: 'integer' };
const objectOf = (properties: Record<string, JsonSchema>, parts: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...parts });
const listOf = (items: JsonSchema, parts: JsonSchema = {}): JsonSchema => ({ type: 'array', items, ...parts });
const keyed = (key: string, parts: JsonSchema = {}): JsonSchema =>
  listOf(objectOf({ [key]: text, value: number }), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key], ...parts });
const told = (errors: readonly FieldError[]): string[] => errors.map(({ field, body }) => `${field}: ${body}`);
/** Names that every object inherits, as fields of their own. */
const hostile = (json: string): Record<string, JsonSchema> => JSON.parse(json) as Record<string, JsonSchema>;

test.each<[string, JsonSchema, boolean]>([
  ['a list of type map is unchanged', keyed('name'), true],
  ['an atomic list has changed', listOf(objectOf({ name: text })), false],
  ['and so has one that the schema does not describe', { type: 'array' }, false],
])('in another order %s', (_sentence, schema, expected) => {
  const before = [{ name: 'a', value: 1 }, { name: 'b' }];
  expect(isUnchanged(before.toReversed(), { value: before, schema })).toBe(expected);
  expect(isUnchanged(structuredClone(before), { value: before, schema })).toBe(true);
  expect(isUnchanged([...before, { name: 'c' }], { value: before, schema })).toBe(false);
});

describe('a schema', () => {
  test('has items and values where these are schemas, and its own properties in order of their names', () => {
    expect([itemsOf(listOf(text)), itemsOf({ items: [text] }), itemsOf(undefined)]).toEqual([text, undefined, undefined]);
    expect([valuesOf({ additionalProperties: text }), valuesOf({ additionalProperties: true })]).toEqual([text, undefined]);
    expect(propertyOf(objectOf({ a: text }), 'a')).toBe(text);
    expect(propertyOf(objectOf({ a: text }), 'constructor')).toBeUndefined();
    expect(sortedProperties(objectOf({ b: text, a: number, B: text })).map(([name]) => name)).toEqual(['B', 'a', 'b']);
  });
  test.each<JsonSchema>([
    { format: 'x' },
    objectOf({ a: { format: 'x' } }),
    listOf({ format: 'x' }),
    { additionalProperties: { format: 'x' } },
    { not: { format: 'x' } },
    { anyOf: [text, { oneOf: [{ allOf: [{ format: 'x' }] }] }] },
  ])('is searched to its depth: %j', (schema) => {
    expect(someSchema(schema, ({ format }) => format === 'x')).toBe(true);
    expect(someSchema(schema, ({ format }) => format === 'y')).toBe(false);
  });
});

describe('defaults', () => {
  const defaulted = (value: unknown, schema: JsonSchema | undefined): unknown => {
    applySchemaDefaults(value, schema);
    return value;
  };
  const size: JsonSchema = { type: 'integer', default: 7 };

  test('take the place of what is absent, and of nulls that may not be', () => {
    expect(defaulted({}, objectOf({ size }))).toEqual({ size: 7 });
    expect(defaulted({ size: null }, objectOf({ size }))).toEqual({ size: 7 });
    expect(defaulted({ size: null }, objectOf({ size: { ...size, nullable: true } }))).toEqual({ size: null });
    expect(defaulted({ size: 0 }, objectOf({ size }))).toEqual({ size: 0 });
  });
  test('let nulls without default go', () => {
    expect(defaulted({ a: null, b: null }, objectOf({ a: text }))).toEqual({ b: null });
  });
  test('reach into defaults, lists and maps, but make no object', () => {
    expect(defaulted({}, objectOf({ a: { ...objectOf({ size }), default: {} } }))).toEqual({ a: { size: 7 } });
    expect(defaulted({}, objectOf({ a: objectOf({ size }) }))).toEqual({});
    expect(defaulted([{}, null], listOf(objectOf({ size })))).toEqual([{ size: 7 }, null]);
    expect(defaulted([null], listOf({ ...objectOf({ size }), default: {} }))).toEqual([{ size: 7 }]);
    expect(defaulted({ k: {}, gone: null }, { type: 'object', additionalProperties: objectOf({ size }) })).toEqual({ k: { size: 7 } });
  });
  test('are copies of their own', () => {
    const schema = objectOf({ a: { ...objectOf({}), default: { list: [] } } });
    const [one, other] = [defaulted({}, schema), defaulted({}, schema)] as { a: { list: unknown[] } }[];
    one?.a.list.push(1);
    expect(other).toEqual({ a: { list: [] } });
  });
  test('stand under names that every object inherits like under others', () => {
    const value = defaulted(
      {},
      objectOf(hostile('{"__proto__": {"type": "object", "default": {"a": 1}}, "constructor": {"type": "string", "default": "c"}}')),
    ) as object;
    expect(Object.entries(value)).toEqual([
      ['__proto__', { a: 1 }],
      ['constructor', 'c'],
    ]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });
  test('are none without a schema', () => {
    expect([defaulted({ a: null }, undefined), defaulted(5, size)]).toEqual([{ a: null }, 5]);
  });
});

describe('what it was before', () => {
  const open = objectOf({}, { additionalProperties: number });
  test('is known of fields by their name, with their schema', () => {
    expect(correlatedField({ value: { a: 1 }, schema: objectOf({ a: text }) }, 'a')).toEqual({ value: 1, schema: text });
    expect(correlatedField({ value: { a: 1 }, schema: open }, 'a')).toEqual({ value: 1, schema: number });
    expect(correlatedField({ value: { a: 1 }, schema: open }, 'b')).toBeUndefined();
    expect(correlatedField({ value: {}, schema: open }, 'constructor')).toBeUndefined();
    expect(correlatedField({ value: [1], schema: open }, '0')).toBeUndefined();
    expect(correlatedField({ value: { a: 1 }, schema: objectOf({}) }, 'a')).toBeUndefined();
    expect(correlatedField(undefined, 'a')).toBeUndefined();
  });
  test('is known of elements by their keys, and of no others', () => {
    const schema = keyed('name');
    const before = { value: [{ name: 'a', value: 1 }, { name: 'b' }], schema };
    expect(correlatedItem(before, { name: 'a', value: 2 })).toEqual({ value: { name: 'a', value: 1 }, schema: itemsOf(schema) });
    expect(correlatedItem(before, { name: 'c' })).toBeUndefined();
    expect(correlatedItem({ value: ['a'], schema: listOf(text, { 'x-kubernetes-list-type': 'set' }) }, 'a')).toBeUndefined();
    expect(correlatedItem({ value: 'a', schema }, { name: 'a' })).toBeUndefined();
  });
});

describe('a list that merges does not repeat itself', () => {
  test.each<[string, JsonSchema, unknown, string[]]>([
    ['a set', listOf(text, { 'x-kubernetes-list-type': 'set' }), ['a', 'b', 'a'], ['[2]: Duplicate value: "a"']],
    ['a list with keys', keyed('name'), [{ name: 'a', value: 1 }, { name: 'a' }], ['[1]: Duplicate value: {"name":"a"}']],
    ['elements without key', keyed('name'), [{ value: 1 }, { value: 2 }], ['[1]: Duplicate value: {}']],
    ['elements without a key that every object inherits', keyed('constructor'), [{ value: 1 }, { value: 2 }], ['[1]: Duplicate value: {}']],
    ['an atomic list', listOf(text), ['a', 'a'], []],
    [
      'lists below',
      objectOf({ s: { additionalProperties: listOf(text, { 'x-kubernetes-list-type': 'set' }) } }),
      { s: { k: ['a', 'a'] } },
      ['s[k][1]: Duplicate value: "a"'],
    ],
    ['what has no schema', {}, { a: ['x', 'x'] }, []],
    ['what is no list', listOf(text, { 'x-kubernetes-list-type': 'set' }), 'aa', []],
  ])('%s', (_what, schema, value, findings) => {
    expect(told(validateListTypes(value, schema))).toEqual(findings);
  });
});

describe('an object inside an object', () => {
  const embedded: JsonSchema = { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true };
  const schema = objectOf({ one: embedded, many: listOf(embedded), byName: { type: 'object', additionalProperties: embedded } });
  const pod = { apiVersion: 'v1', kind: 'Pod' };
  test('is looked for', () => {
    expect([hasEmbeddedResources(schema), hasEmbeddedResources(objectOf({ a: text }))]).toEqual([true, false]);
  });
  test.each<[object, string[]]>([
    [{ one: pod, many: [pod], byName: { a: pod } }, []],
    [{ one: {} }, ['one.apiVersion: Required value', 'one.kind: Required value']],
    [{ many: [pod, { ...pod, kind: '' }] }, ['many[1].kind: Invalid value: "": must not be empty']],
    [{ byName: { a: { ...pod, apiVersion: 5 } } }, ['byName[a].apiVersion: Invalid value: 5: must be a string']],
    [{ one: { ...pod, metadata: { namespace: 'a.b' } } }, ['one.metadata.namespace: Invalid value: "a.b": must not contain dots']],
    [{ one: { ...pod, metadata: { name: 'a/b' } } }, [`one.metadata.name: Invalid value: "a/b": may not contain '/'`]],
    [
      { one: { ...pod, metadata: { labels: { 'a b': '' } } } },
      [expect.stringMatching(/^one\.metadata\.labels: Invalid value: "a b": name part must consist/) as string],
    ],
    [{ one: 'x' }, []],
  ])('names its kind, and its metadata is valid: %j', (value, findings) => {
    expect(told(validateEmbedded(value, schema))).toEqual(findings);
  });
  test('has a kind that is a label but for its case', () => {
    expect(told(validateEmbedded({ one: { ...pod, kind: 'My Pod' } }, schema))).toEqual([
      expect.stringMatching(/^one\.kind: Invalid value: "My Pod": may have mixed case, but should otherwise match: /),
    ]);
  });
});

describe('a value', () => {
  const judged = (value: unknown, schema: JsonSchema, ...old: unknown[]) =>
    told(validateValue({ v: value }, objectOf({ v: schema }), old.length === 0 ? undefined : { value: { v: old[0] } }));
  test.each<[JsonSchema, unknown, string[]]>([
    [{ type: 'integer', multipleOf: 3 }, 7, ['v: Invalid value: 7: v in body should be a multiple of 3']],
    [{ type: 'number', minimum: 1e21 }, 5, ['v: Invalid value: 5: v in body should be greater than or equal to 1000000000000000000000']],
    [{ type: 'number' }, 5, []],
    [{ type: 'integer', format: 'int32' }, 2 ** 31, ['<nil>: Invalid value: Checked value must be of type integer with format int32']],
    [{ type: 'string', minLength: 2 }, '💡', ['v: Invalid value: "💡": v in body should be at least 2 chars long']],
    [{ type: 'string', maxLength: 1 }, '💡', []],
    [{ type: 'array', items: text, minItems: 1 }, [], ['v: Invalid value: 0: v in body should have at least 1 items']],
    [{ type: 'object', maxProperties: 1 }, { a: 1, b: 2 }, ['v: Too many: 2: must have at most 1 items']],
    [{ type: 'object', minProperties: 1 }, {}, ['v: Invalid value: 0: v in body should have at least 1 properties']],
    [{ type: 'object', additionalProperties: false }, { a: 1 }, ['v: Invalid value: "a": v.a in body is a forbidden property']],
    [
      { type: 'object', additionalProperties: number },
      { a: 'x' },
      ['v.a: Invalid value: "string": v.a in body must be of type integer: "string"'],
    ],
    [{ type: 'object', required: ['constructor'] }, {}, ['v.constructor: Required value']],
    [{ type: 'string', nullable: true }, null, []],
    [text, null, ['v: Invalid value: "null": v in body must be of type string: "null"']],
    [{ 'x-kubernetes-int-or-string': true }, true, ['v: Invalid value: "boolean": v in body must be of type integer,string: "boolean"']],
    [{ type: 'string', enum: ['a'] }, 'b', ['v: Unsupported value: "b": supported values: "a"']],
    [{ type: 'object', enum: [{ a: 1, b: 2 }] }, { b: 2, a: 1 }, []],
    [{ type: 'string', format: 'ipv4' }, '::1', ['v: Invalid value: "::1": v in body must be of type ipv4: "::1"']],
    [{ type: 'string', format: 'unheard-of' }, 'x', []],
    [{ type: 'integer', not: { enum: [3] } }, 3, ['<nil>: Invalid value: "": "v" must not validate the schema (not)']],
  ])('of %j: %j', (schema, value, findings) => {
    const found = judged(value, schema);
    if (findings.length === 1 && findings[0]?.startsWith('<nil>: '))
      expect(found.join()).toContain(findings[0].replace(/^<nil>: Invalid value: ("": )?/, ''));
    else expect(found).toEqual(findings);
  });

  const even: JsonSchema = { multipleOf: 2 };
  const small: JsonSchema = { maximum: 5 };
  test.each<[JsonSchema, number, string | undefined]>([
    [{ anyOf: [even, small] }, 6, undefined],
    [{ anyOf: [even, small] }, 7, '"v" must validate at least one schema (anyOf)'],
    [{ oneOf: [even, small] }, 6, undefined],
    [{ oneOf: [even, small] }, 4, '"v" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    [{ oneOf: [even, small] }, 7, '"v" must validate one and only one schema (oneOf). Found none valid'],
    [{ allOf: [even, small] }, 4, undefined],
    [{ allOf: [even, small] }, 6, '"v" must validate all the schemas (allOf)'],
    [{ allOf: [even, small] }, 7, '"v" must validate all the schemas (allOf). None validated'],
  ])('of combined schemas %j: %j', (schema, value, sentence) => {
    const found = judged(value, { type: 'integer', ...schema });
    if (sentence === undefined) expect(found).toEqual([]);
    else expect(found.some((each) => each.endsWith(sentence))).toBe(true);
  });

  test('that is wrong but has not changed is tolerated', () => {
    expect(judged(9, { type: 'integer', maximum: 5 }, 9)).toEqual([]);
    expect(judged(9, { type: 'integer', maximum: 5 }, 8)).toHaveLength(1);
    const items = keyed('name', { items: objectOf({ name: text, value: { type: 'integer', maximum: 5 } }) });
    expect(
      judged(
        [
          { name: 'new', value: 1 },
          { name: 'a', value: 9 },
        ],
        items,
        [{ name: 'a', value: 9 }],
      ),
    ).toEqual([]);
    expect(judged([9, 1], listOf({ type: 'integer', maximum: 5 }), [9])).toHaveLength(1);
  });
});

describe('a format', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['ipv4', ['10.0.0.1'], ['10.0.0', '::1', '']],
    ['ipv6', ['::1'], ['10.0.0.1', 'x']],
    ['cidr', ['10.0.0.0/8', '::/0'], ['10.0.0.0', '10.0.0.0/33', 'x/8']],
    ['mac', ['00:00:5e:00:53:01', '0000.5e00.5301'], ['00:00', 'zz:00:5e:00:53:01']],
    ['uuid', ['123e4567-e89b-12d3-a456-426614174000'], ['123', '']],
    ['uuid4', ['123e4567-e89b-42d3-a456-426614174000'], ['123e4567-e89b-12d3-a456-426614174000']],
    ['date', ['2026-02-28'], ['2026-02', 'soon', '2026-13-01']],
    ['date-time', ['2026-01-01T00:00:00Z', '2026-01-01t00:00:00.5+01:00'], ['2026-01-01', '2026-01-01T25:00:00Z', '2026-01-01T00:00:00']],
    ['duration', ['5s', '1h30m', '0'], ['5', 's', '']],
    ['email', ['a@b.c'], ['a', '@', 'a b@c']],
    ['hostname', ['a.example.com'], ['-a', '', 'a b']],
    ['uri', ['https://a/b', '/a'], ['a b', '']],
    ['byte', ['aGk='], ['a', '', 'a$==']],
    ['hexcolor', ['#fff', '00ff00'], ['#ff', 'red']],
    ['k8s-short-name', ['a-1'], ['a.b', 'A']],
    ['k8s-long-name', ['a.b'], ['A', '']],
    ['password', ['', 'x'], []],
  ])('%s takes %j and refuses %j', (format, right, wrong) => {
    const schema = { type: 'string', format };
    expect(right.filter((value) => !hasFormat(schema, value))).toEqual([]);
    expect(wrong.filter((value) => hasFormat(schema, value))).toEqual([]);
  });
  test('means something for its type, with or without dashes, or nothing at all', () => {
    const checked = (type: string, format: string) => checkedFormat({ type, format });
    expect([
      checked('string', 'date'),
      checked('string', 'datetime'),
      checked('', 'ipv4'),
      checked('integer', 'int32'),
      checked('number', 'double'),
    ]).toEqual(['date', 'datetime', 'ipv4', 'int32', 'double']);
    expect([
      checked('integer', 'date'),
      checked('string', 'int32'),
      checked('string', 'colour'),
      checked('string', 'constructor'),
      checked('number', 'int32'),
    ]).toEqual(['', '', '', '', '']);
    expect([
      hasFormat({ type: 'string', format: 'date' }),
      hasFormat({ type: 'integer', format: 'int32' }),
      hasFormat({ type: 'string' }),
    ]).toEqual([true, false, false]);
  });
});

describe('the shape of a custom resource', () => {
  const type = { group: 'e.com', version: 'v1', kind: 'Gear' };
  const fieldOf = (property: JsonSchema) => customSchema(type, objectOf({ a: property }, { required: ['a'] })).fields.get('a');

  test('is of its kind, and has apiVersion, kind and metadata, whatever its schema says', () => {
    const schema = customSchema(type, objectOf({ metadata: text, spec: text }));
    expect(schema).toMatchObject({ name: 'Gear', type });
    expect([...schema.fields.keys()]).toEqual(['metadata', 'spec', 'apiVersion', 'kind']);
    expect(schema.fields.get('metadata')?.schema).toMatchObject({ kind: 'object', name: 'ObjectMeta' });
  });

  test.each<[JsonSchema, object]>([
    [text, { kind: 'scalar', type: 'string' }],
    [{ type: 'boolean' }, { kind: 'scalar', type: 'boolean' }],
    [number, { kind: 'scalar', type: 'int64' }],
    [
      { type: 'integer', format: 'int32' },
      { kind: 'scalar', type: 'int32' },
    ],
    [{ type: 'number' }, { kind: 'scalar', type: 'double' }],
    [{ 'x-kubernetes-int-or-string': true }, { kind: 'scalar', type: 'int-or-string' }],
    [listOf(text), { kind: 'list', listType: 'atomic' }],
    [listOf(text, { 'x-kubernetes-list-type': 'set' }), { kind: 'list', listType: 'set' }],
    [
      { type: 'object', additionalProperties: number },
      { kind: 'map', values: { type: 'int64' } },
    ],
    [objectOf({}, { 'x-kubernetes-map-type': 'atomic' }), { kind: 'object', atomic: true }],
    [
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      { kind: 'any', deduced: true },
    ],
    [objectOf({ x: text }, { 'x-kubernetes-preserve-unknown-fields': true }), { kind: 'object', open: true }],
    [{}, { kind: 'any' }],
  ])('of %j', (property, shape) => {
    expect(fieldOf(property)).toMatchObject({ required: true, schema: shape });
  });

  test('of a list with keys has their defaults, under any name', () => {
    const ports = listOf(objectOf({ port: number, protocol: { type: 'string', default: 'TCP' } }), {
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
    });
    expect(fieldOf(ports)?.schema).toMatchObject({ listType: 'map', keys: ['port', 'protocol'], keyDefaults: { protocol: 'TCP' } });
  });

  test('of an embedded object has what every object has', () => {
    const { schema } = fieldOf({ type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: text } }) ?? {};
    expect(schema?.kind === 'object' ? [...schema.fields.keys()] : []).toEqual(['spec', 'apiVersion', 'kind', 'metadata']);
  });
});

describe('how rules see a value', () => {
  const seen = (schema: JsonSchema, value: unknown, expression: string): unknown => {
    const environment = kubernetesEnvironment.clone();
    const type = celTypeOf(environment, schema, 'Root', true);
    environment.registerVariable('self', type.name);
    const { value: result, error } = compileCel(environment, expression).run({ self: type.toValue(value) });
    return error ?? result;
  };
  test.each<[JsonSchema, unknown, string, unknown]>([
    [objectOf({ n: number }), { n: 5 }, 'self.n + 1 == 6', true],
    [objectOf({ n: number }), {}, 'has(self.n)', false],
    [objectOf({ d: { type: 'number' } }), { d: 1.5 }, 'self.d < 2.0', true],
    [objectOf({ s: listOf(text) }), { s: ['a'] }, 'self.s[0] == "a"', true],
    [objectOf({ m: { type: 'object', additionalProperties: number } }), { m: { a: 1 } }, 'self.m["a"] == 1', true],
    [objectOf({ t: { type: 'string', format: 'date-time' } }), { t: '2026-01-01T00:00:00Z' }, 'self.t.getFullYear() == 2026', true],
    [objectOf({ d: { type: 'string', format: 'duration' } }), { d: '90s' }, 'self.d == duration("1m30s")', true],
    [objectOf({ b: { type: 'string', format: 'byte' } }), { b: 'aGk=' }, 'self.b == b"hi"', true],
    [objectOf({ 'a-b.c/d__e': text }), { 'a-b.c/d__e': 'x' }, 'self.a__dash__b__dot__c__slash__d__underscores__e == "x"', true],
    [objectOf({ if: text }), { if: 'x' }, 'self.__if__ == "x"', true],
    [objectOf({ n: { type: 'integer', nullable: true } }), { n: null }, 'self.n == null', true],
    [objectOf({ p: { 'x-kubernetes-int-or-string': true } }), { p: '5%' }, 'self.p == "5%"', true],
    [objectOf({}), { metadata: { name: 'x' }, kind: 'Gear' }, 'self.metadata.name == "x" && self.kind == "Gear"', true],
  ])('of %j %j: %s', (schema, value, expression, result) => {
    expect(seen(schema, value, expression)).toBe(result);
  });
});
