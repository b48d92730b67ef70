import { describe, expect, test } from 'vitest';
import { customResourceStrategy } from '../../../../../shared/controlplane/crd/custom-resource-strategy.ts';
import type { JsonSchema } from '../../../../../shared/controlplane/crd/json-schema.ts';
import { pruneUnknownFields } from '../../../../../shared/controlplane/crd/schema-pruning.ts';
import type { FieldError } from '../../../../../shared/controlplane/apimachinery/field-error.ts';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';

const schema: JsonSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1, maximum: 10 },
        color: { type: 'string', enum: ['red', 'blue'], default: 'red' },
        name: { type: 'string', pattern: '^[a-z]+$', minLength: 2, maxLength: 5 },
        ratio: { type: 'number', minimum: 0, exclusiveMinimum: true },
        tags: { type: 'array', items: { type: 'string' }, maxItems: 2, 'x-kubernetes-list-type': 'set' },
        when: { type: 'string', format: 'date-time' },
        maybe: { type: 'string', nullable: true },
        port: { 'x-kubernetes-int-or-string': true },
        any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        nested: { type: 'object', properties: { a: { type: 'string', default: 'A' } } },
        opts: { type: 'object', additionalProperties: { type: 'string' } },
        choice: {
          type: 'object',
          properties: { a: { type: 'integer' }, b: { type: 'integer' } },
          oneOf: [{ required: ['a'] }, { required: ['b'] }],
        },
      },
    },
    status: { type: 'object', properties: { ready: { type: 'boolean' } } },
  },
};
const strategy = customResourceStrategy({ name: 'v1', schema: { openAPIV3Schema: schema }, subresources: { status: {} } }, true);

const widget = (spec: object, more: object = {}): AnyObject => ({
  metadata: { name: 'a', namespace: 'ns', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', generation: 1 },
  spec,
  ...more,
});
const lines = (errors: FieldError[] = []): string[] => errors.map(({ field, body }) => `${field}: ${body}`);
const problems = (spec: object): string[] => lines(strategy.validateCreate?.(widget(spec)));
const update = (next: AnyObject, previous: AnyObject): string[] => lines(strategy.validateUpdate?.(next, previous));

describe('a value that its schema does not allow is refused in the words of kube-openapi', () => {
  test.each<[string, object, string]>([
    ['a missing field', {}, 'spec.size: Required value'],
    ['a number too large', { size: 11 }, 'spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10'],
    ['a number on an excluded bound', { size: 1, ratio: 0 }, 'spec.ratio: Invalid value: 0: spec.ratio in body should be greater than 0'],
    ['a wrong type', { size: 'x' }, 'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"'],
    ['a value outside an enum', { size: 1, color: 'green' }, 'spec.color: Unsupported value: "green": supported values: "red", "blue"'],
    ['a text too long', { size: 1, name: 'abcdef' }, 'spec.name: Too long: may not be more than 5 bytes'],
    ['a text too short', { size: 1, name: 'a' }, 'spec.name: Invalid value: "a": spec.name in body should be at least 2 chars long'],
    ['a text off its pattern', { size: 1, name: 'A1' }, `spec.name: Invalid value: "A1": spec.name in body should match '^[a-z]+$'`],
    ['a list too long', { size: 1, tags: ['a', 'b', 'c'] }, 'spec.tags: Too many: 3: must have at most 2 items'],
    ['a repetition in a set', { size: 1, tags: ['a', 'a'] }, 'spec.tags[1]: Duplicate value: "a"'],
    [
      'an element of the wrong type',
      { size: 1, tags: [1] },
      'spec.tags[0]: Invalid value: "integer": spec.tags[0] in body must be of type string: "integer"',
    ],
    [
      'a text off its format',
      { size: 1, when: 'soon' },
      'spec.when: Invalid value: "soon": spec.when in body must be of type date-time: "soon"',
    ],
    [
      'neither a number nor a text',
      { size: 1, port: true },
      'spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"',
    ],
    [
      'a value of a map',
      { size: 1, opts: { k: 1 } },
      'spec.opts.k: Invalid value: "integer": spec.opts.k in body must be of type string: "integer"',
    ],
    [
      'two alternatives at once',
      { size: 1, choice: { a: 1, b: 1 } },
      '<nil>: Invalid value: "": "spec.choice" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
  ])('%s', (_what, spec, expected) => {
    expect(problems(spec)).toEqual([expected]);
  });

  test('a fraction for an integer is refused for its type and for its range', () => {
    expect(problems({ size: 1.5 })).toEqual([
      'spec.size: Invalid value: "number": spec.size in body must be of type integer: "number"',
      '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.size',
    ]);
  });

  test('what the schema allows passes', () => {
    expect(problems({ size: 1, port: '80%', maybe: null, any: { x: [1] }, when: '2026-01-01T00:00:00Z', choice: { a: 1 } })).toEqual([]);
  });
});

describe('a schema', () => {
  const findings = (property: JsonSchema, value: unknown): string[] => {
    const openAPIV3Schema: JsonSchema = { type: 'object', properties: { spec: { type: 'object', properties: { v: property } } } };
    return lines(customResourceStrategy({ name: 'v1', schema: { openAPIV3Schema } }, true).validateCreate?.(widget({ v: value })));
  };
  test.each<[string, JsonSchema, unknown, string[]]>([
    ['compares whole numbers with whole bounds', { type: 'number', minimum: 0.5, maximum: 2.5 }, 0, []],
    [
      'compares fractions with the bounds as they are',
      { type: 'number', minimum: 0.5 },
      0.25,
      ['spec.v: Invalid value: 0.25: spec.v in body should be greater than or equal to 0.5'],
    ],
    [
      'writes large bounds of fractions as Go does',
      { type: 'number', maximum: 1000000 },
      1000000.5,
      ['spec.v: Invalid value: 1.0000005e+06: spec.v in body should be less than or equal to 1e+06'],
    ],
    [
      'holds numbers to the range of their format',
      { type: 'integer', format: 'int32' },
      3e9,
      ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.v'],
    ],
    [
      'has a factor that a whole number can have',
      { type: 'number', multipleOf: 0.5 },
      1,
      ['spec.v: Invalid value: 0: factor MultipleOf declared for spec.v must be positive: 0'],
    ],
    ['ignores formats that do not belong to the type', { type: 'integer', format: 'date-time' }, 1, []],
    ['finds formats with and without dashes', { type: 'string', format: 'datetime' }, '2026-01-01T00:00:00Z', []],
    [
      'does not take null for what an enum lists',
      { type: 'string', nullable: true, enum: ['a', null] },
      null,
      ['spec.v: Unsupported value: null: supported values: "a", "null"'],
    ],
    [
      'counts too many and too few properties, and goes on',
      { type: 'object', minProperties: 2, additionalProperties: { type: 'string' } },
      { a: 1 },
      [
        'spec.v: Invalid value: 1: spec.v in body should have at least 2 properties',
        'spec.v.a: Invalid value: "integer": spec.v.a in body must be of type string: "integer"',
      ],
    ],
    [
      'explains a failed choice by the alternative that fits best',
      {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'string' } },
        anyOf: [{ required: ['z'] }, { properties: { a: { enum: ['x'] }, b: { pattern: '^b$' } } }],
      },
      { a: 'y', b: 'b' },
      [
        '<nil>: Invalid value: "": "spec.v" must validate at least one schema (anyOf)',
        'spec.v.a: Unsupported value: "y": supported values: "x"',
      ],
    ],
  ])('%s', (_what, property, value, expected) => {
    expect(findings(property, value)).toEqual(expected);
  });
});

describe('a write of the status', () => {
  test('is judged by the schema of the status alone, and says where below it something is wrong', () => {
    const previous = widget({ size: 99 }, { status: {} });
    const errors = lines(strategy.status?.validateUpdate(widget({ size: 99 }, { status: { ready: 'yes' } }), previous));
    expect(errors).toEqual(['status.ready: Invalid value: "string": ready in body must be of type boolean: "string"']);
    expect(lines(strategy.status?.validateUpdate(widget({ size: 99 }, { status: 'on' }), previous))).toEqual([
      'status: Invalid value: "string":  in body must be of type object: "string"',
    ]);
  });
});

describe('decoding', () => {
  test('absent fields get their defaults, at every depth that is there', () => {
    const object = widget({ size: 1, nested: {} });
    strategy.applyDefaults?.(object);
    expect(object['spec']).toEqual({ size: 1, color: 'red', nested: { a: 'A' } });
  });

  test('null becomes the default where there is one, goes where it is not allowed, and stays where it is', () => {
    const object = widget({ size: 1, color: null, name: null, maybe: null });
    strategy.applyDefaults?.(object);
    expect(object['spec']).toEqual({ size: 1, color: 'red', maybe: null });
  });

  test('unknown fields go and are named; preserved parts stay', () => {
    const object = {
      kind: 'Widget',
      apiVersion: 'e.com/v1',
      metadata: {},
      extra: 1,
      spec: { size: 1, more: 2, nested: { c: 3 }, any: { x: { y: 1 } } },
    };
    expect(pruneUnknownFields(object, schema, true).toSorted()).toEqual(['extra', 'spec.more', 'spec.nested.c']);
    expect(object).toEqual({ kind: 'Widget', apiVersion: 'e.com/v1', metadata: {}, spec: { size: 1, nested: {}, any: { x: { y: 1 } } } });
  });
});

describe('an update', () => {
  test('tolerates an old value that no longer fits while it is unchanged, and no other', () => {
    expect(update(widget({ size: 99, color: 'blue' }), widget({ size: 99, color: 'red' }))).toEqual([]);
    expect(update(widget({ size: 98 }), widget({ size: 99 }))).toHaveLength(1);
  });

  test('raises the generation for the spec alone, and keeps the status', () => {
    const previous = widget({ size: 1 }, { status: { ready: true } });
    const relabelled = widget({ size: 1 }, { status: { ready: false } });
    strategy.prepareForUpdate?.(relabelled, previous);
    expect([relabelled.metadata.generation, relabelled['status']]).toEqual([1, { ready: true }]);
    const resized = widget({ size: 2 });
    strategy.prepareForUpdate?.(resized, previous);
    expect(resized.metadata.generation).toBe(2);
  });

  test('of the status changes neither spec nor labels', () => {
    const previous = widget({ size: 1 });
    const next = widget({ size: 5 }, { status: { ready: true } });
    next.metadata.labels = { a: 'b' };
    strategy.status?.prepareForUpdate(next, previous);
    expect([next['spec'], next['status'], next.metadata.labels, next.metadata.generation]).toEqual([
      { size: 1 },
      { ready: true },
      undefined,
      1,
    ]);
  });
});
