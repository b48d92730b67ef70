import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../../../../shared/controlplane/crd/json-schema.ts';
import { validateExtensionKeywords } from '../../../../../shared/controlplane/crd/list-keyword-validation.ts';
import { validateCrdSchema } from '../../../../../shared/controlplane/crd/schema-validation.ts';
import { validateStructural } from '../../../../../shared/controlplane/crd/structural-validation.ts';
import type { FieldError } from '../../../../../shared/controlplane/apimachinery/field-error.ts';

const told = (errors: readonly FieldError[]): string[] => errors.map(({ field, body }) => `${field}: ${body}`);
const rootOf = (a: JsonSchema, parts: JsonSchema = {}): JsonSchema => ({ type: 'object', properties: { a }, ...parts });
const A = 's.properties[a]';

describe('a structural schema', () => {
  const found = (schema: JsonSchema) => told(validateStructural(schema, 's'));
  test('may be empty objects, open fields and restrictions of values', () => {
    for (const schema of [
      { type: 'object' },
      rootOf({ 'x-kubernetes-preserve-unknown-fields': true }),
      rootOf({ type: 'integer', anyOf: [{ minimum: 1 }, { not: { maximum: 5 } }] }),
      rootOf({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }),
      rootOf({ 'x-kubernetes-int-or-string': true, allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }] }),
      rootOf({
        type: 'object',
        properties: { b: { type: 'string' } },
        oneOf: [{ required: ['b'] }, { properties: { b: { minLength: 1 } } }],
      }),
    ])
      expect(found(schema)).toEqual([]);
  });

  test.each<[JsonSchema, string[]]>([
    [{}, ['s.type: Required value: must not be empty at the root']],
    [{ type: 'array', items: { type: 'string' } }, ['s.type: Invalid value: "array": must be object at the root']],
    [{ type: 'object', additionalProperties: true }, ['s.additionalProperties: Forbidden: must not be used at the root']],
    [rootOf({ type: 'array', items: {} }), [`${A}.items.type: Required value: must not be empty for specified array items`]],
    [
      rootOf({ 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true }),
      [`${A}.x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true`],
    ],
    [
      rootOf({ 'x-kubernetes-embedded-resource': true, type: 'string' }),
      [
        `${A}.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields`,
        `${A}.type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true`,
      ],
    ],
    [{ type: 'object', properties: { kind: { type: 'integer' } } }, ['s.properties[kind].type: Invalid value: "integer": must be string']],
    [
      { type: 'object', properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } } },
      [
        's.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
      ],
    ],
    [rootOf({ type: 'integer', anyOf: [{ default: 1 }] }), [`${A}.anyOf[0].default: Forbidden: must be undefined to be structural`]],
    [rootOf({ type: 'object', not: { nullable: true } }), [`${A}.not.nullable: Forbidden: must be false to be structural`]],
    [
      rootOf({ type: 'object', allOf: [{ properties: { constructor: { minLength: 1 } } as Record<string, JsonSchema> }] }),
      [`${A}.properties[constructor]: Required value: because it is defined in ${A}.allOf[0].properties[constructor]`],
    ],
    [
      rootOf({ type: 'object', allOf: [{ items: { minLength: 1 } }] }),
      [`${A}.items: Required value: because it is defined in ${A}.allOf[0].items`],
    ],
  ])('is not %j', (schema, findings) => {
    expect(found(schema)).toEqual(findings);
  });
});

describe('keywords of lists and maps', () => {
  const found = (schema: JsonSchema) => told(validateExtensionKeywords(schema, 's'));
  const items: JsonSchema = {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string' }, deep: { type: 'object' }, soft: { type: 'string', default: 'x' } },
  };
  const keyed = (parts: JsonSchema = {}): JsonSchema => ({
    type: 'array',
    items,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    ...parts,
  });

  test('fit what they stand at', () => {
    expect(found(keyed())).toEqual([]);
    expect(found(keyed({ 'x-kubernetes-list-map-keys': ['name', 'soft'] }))).toEqual([]);
    expect(found({ type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' })).toEqual([]);
    expect(found({ type: 'object', 'x-kubernetes-map-type': 'granular' })).toEqual([]);
  });

  test.each<[JsonSchema, string[]]>([
    [
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
      ['s.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined'],
    ],
    [
      { type: 'string', 'x-kubernetes-map-type': 'atomic' },
      ['s.type: Invalid value: "string": must be object if x-kubernetes-map-type is specified'],
    ],
    [{ 'x-kubernetes-map-type': 'atomic' }, ['s.type: Required value: must be object if x-kubernetes-map-type is specified']],
    [
      { type: 'object', 'x-kubernetes-map-type': 'other' },
      ['s.x-kubernetes-map-type: Unsupported value: "other": supported values: "atomic", "granular"'],
    ],
    [
      { type: 'string', 'x-kubernetes-list-type': 'atomic' },
      ['s.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified'],
    ],
    [
      { type: 'array', items, 'x-kubernetes-list-type': 'other' },
      ['s.x-kubernetes-list-type: Unsupported value: "other": supported values: "atomic", "set", "map"'],
    ],
    [
      keyed({ 'x-kubernetes-list-map-keys': [] }),
      ['s.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map'],
    ],
    [
      keyed({ 'x-kubernetes-list-type': 'set', items: { type: 'string' } }),
      ['s.x-kubernetes-list-type: Invalid value: "set": must be map if x-kubernetes-list-map-keys is non-empty'],
    ],
    [
      keyed({ 'x-kubernetes-list-map-keys': ['constructor'] }),
      ['s.x-kubernetes-list-map-keys: Invalid value: ["constructor"]: entries must all be names of item properties'],
    ],
    [
      keyed({ 'x-kubernetes-list-map-keys': ['name', 'name'] }),
      ['s.x-kubernetes-list-map-keys: Invalid value: ["name","name"]: must not contain duplicate entries'],
    ],
    [
      keyed({ items: { type: 'string' } }),
      [`s.items.type: Invalid value: "string": must be object if parent array's x-kubernetes-list-type is map`],
    ],
    [
      keyed({ items: { ...items, required: [] } }),
      [
        's.items.properties[name].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
      ],
    ],
    [
      keyed({ items: { ...items, nullable: true } }),
      ['s.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map'],
    ],
    [
      {
        type: 'array',
        items: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        'x-kubernetes-list-type': 'set',
      },
      ['s.items.x-kubernetes-list-type: Invalid value: "set": must be atomic as item of a list with x-kubernetes-list-type=set'],
    ],
  ])('do not fit: %j', (schema, findings) => {
    expect(found(schema)).toEqual(findings);
  });
});

describe('the schema of a definition', () => {
  const found = (schema: JsonSchema, hasStatus = false) => told(validateCrdSchema(schema, hasStatus, 's'));

  test('may use what a structural schema may', () => {
    expect(found(rootOf({ type: 'string', pattern: '^a$', default: 'a' }))).toEqual([]);
    expect(found(rootOf({ type: 'object' }), true)).toEqual([]);
  });

  test.each<[JsonSchema, string[]]>([
    [{ type: 'object', nullable: true }, ['s.nullable: Forbidden: nullable cannot be true at the root']],
    [
      rootOf({ type: 'array', items: { type: 'string' }, uniqueItems: true }),
      [`${A}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`],
    ],
    [rootOf({ type: 'object', properties: {}, $ref: 'x' }), [`${A}.$ref: Forbidden: $ref is not supported`]],
    [
      rootOf({ type: 'object', properties: { b: { type: 'string' } }, additionalProperties: { type: 'string' } }),
      [`${A}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`],
    ],
    [
      rootOf({ type: 'colour' }),
      [`${A}.type: Unsupported value: "colour": supported values: "array", "boolean", "integer", "number", "object", "string"`],
    ],
    [rootOf({ type: 'integer', default: 'x' }), [`${A}.default: Invalid value: "string":  in body must be of type integer: "string"`]],
    [rootOf({ type: 'object', default: { x: 1 } }), [`${A}.default: Invalid value: {"x":1}: must not have unknown fields`]],
    [
      rootOf({ type: 'string', pattern: '(' }),
      [`${A}.pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): \`(\``],
    ],
  ])('may not be %j', (schema, findings) => {
    expect(found(schema)).toEqual(findings);
  });

  test('with a status has nothing at its root that could not be taken apart', () => {
    expect(found({ type: 'object', additionalProperties: true }, true)).toContainEqual(
      expect.stringMatching(/fields are allowed at the root of the schema if the status subresource is enabled$/),
    );
    expect(found({ type: 'array', items: { type: 'string' } }, true)[0]).toBe(
      's.type: Invalid value: "array": only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
    );
  });

  const withRule = (rule: object, parts: JsonSchema = {}) =>
    found(rootOf({ type: 'string', 'x-kubernetes-validations': [rule], ...parts }));
  const R = `${A}.x-kubernetes-validations[0]`;
  test.each<[object, string]>([
    [{}, `${R}.rule: Required value: rule is not specified`],
    [{ rule: 'true', message: ' ' }, `${R}.message: Invalid value: " ": must be non-empty if specified`],
    [{ rule: 'true', message: 'a\nb' }, `${R}.message: Invalid value: "a\\nb": must not contain line breaks`],
    [{ rule: 'true ||\nfalse' }, `${R}.message: Required value: message must be specified if rule contains line breaks`],
    [{ rule: 'true', messageExpression: ' ' }, `${R}.messageExpression: Required value: messageExpression must be non-empty if specified`],
    [
      { rule: 'true', reason: 'Because' },
      `${R}.reason: Unsupported value: "Because": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
    ],
    [{ rule: 'true', fieldPath: '.x' }, `${R}.fieldPath: Invalid value: ".x": must be a valid path`],
    [{ rule: 'true', optionalOldSelf: true }, `${R}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`],
  ])('has no rule %j', (rule, finding) => {
    expect(withRule(rule)).toEqual([finding]);
  });

  test('has rules about what was before only where that can be told', () => {
    const rule = { rule: 'self == oldSelf' };
    expect(withRule(rule)).toEqual([]);
    const inList = (type: string): JsonSchema => ({
      type: 'array',
      'x-kubernetes-list-type': type,
      maxItems: 4,
      items: { type: 'string', maxLength: 63, 'x-kubernetes-validations': [rule] },
    });
    expect(found(rootOf(inList('set')))).toEqual([
      `${A}.items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${A}`,
    ]);
  });

  test('has rules that compile', () => {
    expect(withRule({ rule: 'self +' })).toEqual([expect.stringContaining(`${R}.rule: Invalid value: {"Rule":"self +"`)]);
  });
});
