import { describe, expect, test } from 'vitest';
import { conformEmbedded } from '../../../../../shared/controlplane/crd/embedded-metadata.ts';
import { readFieldPath } from '../../../../../shared/controlplane/crd/field-path.ts';
import { patternProblem } from '../../../../../shared/cel/go-pattern-problem.ts';
import type { JsonSchema } from '../../../../../shared/controlplane/crd/json-schema.ts';
import { checkNumber } from '../../../../../shared/controlplane/crd/number-validation.ts';
import { TypeMismatch } from '../../../../../shared/controlplane/schema/conform.ts';

describe('a number', () => {
  const judged = (value: number, schema: JsonSchema) => checkNumber(value, schema, 'v').map(({ field, body }) => `${field}: ${body}`);
  const integer = (parts: JsonSchema = {}): JsonSchema => ({ type: 'integer', ...parts });
  test.each<[number, JsonSchema, string[]]>([
    [5, integer({ minimum: 5, maximum: 5 }), []],
    [5, integer({ minimum: 5, exclusiveMinimum: true }), ['v: Invalid value: 5: v in body should be greater than 5']],
    [5, integer({ maximum: 5, exclusiveMaximum: true }), ['v: Invalid value: 5: v in body should be less than 5']],
    [4, integer({ minimum: 5 }), ['v: Invalid value: 4: v in body should be greater than or equal to 5']],
    [6, integer({ maximum: 5 }), ['v: Invalid value: 6: v in body should be less than or equal to 5']],
    // Whole numbers are compared with whole bounds.
    [5, integer({ minimum: 5.5 }), ['<nil>: Invalid value: "": Minimum boundary value must be of type integer (default format) in v']],
    [5, { type: 'number', minimum: 5.5 }, []],
    [5.2, { type: 'number', minimum: 5.5 }, ['v: Invalid value: 5.2: v in body should be greater than or equal to 5.5']],
    [6, integer({ multipleOf: 3 }), []],
    [7, integer({ multipleOf: 3 }), ['v: Invalid value: 7: v in body should be a multiple of 3']],
    [0.3, { type: 'number', multipleOf: 0.1 }, []],
    [0.35, { type: 'number', multipleOf: 0.1 }, ['v: Invalid value: 0.35: v in body should be a multiple of 0.1']],
    [1, { type: 'number', multipleOf: -1 }, ['v: Invalid value: -1: factor MultipleOf declared for v must be positive: -1']],
    [2 ** 31, integer({ format: 'int32' }), ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in v']],
    [-(2 ** 31), integer({ format: 'int32' }), []],
    [2 ** 63, integer(), ['<nil>: Invalid value: "": Checked value must be of type integer (default format) in v']],
    [1e39, { type: 'number', format: 'float' }, ['<nil>: Invalid value: "": Checked value must be of type number with format float in v']],
    [1e39, { type: 'number', format: 'double' }, []],
    [2 ** 31, { 'x-kubernetes-int-or-string': true, format: 'int32' }, []],
  ])('%f for %j', (value, schema, findings) => {
    expect(judged(value, schema)).toEqual(findings);
  });
});

describe('a pattern that Go cannot compile', () => {
  test.each([
    ['a(b', 'missing closing ): `a(b`'],
    ['a)b', 'unexpected ): `a)b`'],
    ['[a', 'missing closing ]: `[a`'],
    ['[z-a]', 'invalid character class range: `z-a`'],
    ['*a', 'missing argument to repetition operator: `*`'],
    ['a|+', 'missing argument to repetition operator: `+`'],
    ['a**', 'invalid nested repetition operator: `**`'],
    ['a{1001}', 'invalid repeat count: `{1001}`'],
    ['a\\', 'trailing backslash at end of expression: ``'],
    ['\\1', 'invalid escape sequence: `\\1`'],
    ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
    ['(?<!a)', 'invalid or unsupported Perl syntax: `(?<!`'],
  ])('%s: %s', (pattern, problem) => {
    expect(patternProblem(pattern)).toBe(`error parsing regexp: ${problem}`);
  });
  test.each(['', '^a+$', 'a+?', '(?i)a', '(?P<n>a)', '(?:a|b){2,3}', '[[:alpha:]]', '\\d\\.\\p{L}', 'a{1000}', '\\Aa\\z'])(
    'is not %j',
    (pattern) => {
      expect(patternProblem(pattern)).toBeUndefined();
    },
  );
});

describe('a path into a schema', () => {
  const root: JsonSchema = {
    type: 'object',
    properties: {
      a: { type: 'object', properties: { "it's": { type: 'string' }, b: { type: 'string' } } },
      m: { type: 'object', additionalProperties: { type: 'integer' } },
      l: { type: 'array', items: { type: 'object', properties: { x: { type: 'string' } } } },
    },
  };
  const read = (text: string, brackets = true) => readFieldPath(text, root, { brackets });
  test.each<[string, string, JsonSchema]>([
    ['.a.b', 'a.b', { type: 'string' }],
    [".a['b']", 'a.b', { type: 'string' }],
    [".a['it\\'s']", "a.it's", { type: 'string' }],
    ['.m.key', 'm[key]', { type: 'integer' }],
    [".m['a.b']", 'm[a.b]', { type: 'integer' }],
  ])('%s leads to %s', (text, path, schema) => {
    expect(read(text)).toEqual({ path, schema });
  });
  test.each([
    ['a.b', 'expected [ or . but got: a'],
    ['.', 'unexpected end of JSON path'],
    ['.a.', 'unexpected end of JSON path'],
    ['.a.gone', 'does not refer to a valid field'],
    ['.constructor', 'does not refer to a valid field'],
    ['.l.x', 'does not refer to a valid field'],
    ['.a[b]', 'expected single quoted string but got b'],
    [".a['b'", 'unexpected end of JSON path'],
    [".a['b'.c", 'expected ] but got .'],
  ])('%s leads nowhere: %s', (text, problem) => {
    expect(read(text)).toEqual({ problem });
  });
  test('has brackets where these are allowed', () => {
    expect(read(".a['b']", false)).toEqual({ problem: 'array notation is not allowed' });
  });
});

describe('the metadata of an embedded object', () => {
  const embedded: JsonSchema = { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true };
  const schema: JsonSchema = {
    type: 'object',
    properties: { one: embedded, many: { type: 'array', items: embedded }, byName: { type: 'object', additionalProperties: embedded } },
  };
  const conformed = (value: object) => ({ unknown: conformEmbedded(value, schema), value });

  test('is brought to the form that metadata has', () => {
    expect(
      conformed({
        one: { metadata: { name: 'a', creationTimestamp: '2026-01-01T01:00:00+01:00', labels: null } },
        many: [{ metadata: null }],
      }).value,
    ).toEqual({
      one: { metadata: { name: 'a', creationTimestamp: '2026-01-01T00:00:00Z' } },
      many: [{ metadata: {} }],
    });
  });
  test('loses what metadata does not have, and tells of it in order', () => {
    const { unknown, value } = conformed({
      one: { metadata: { nme: 'a' }, other: 1 },
      byName: { k: { metadata: { z: 1, a: 2 } } },
      many: [{ metadata: { x: 1 } }],
    });
    expect(unknown).toEqual(['byName[k].metadata.a', 'byName[k].metadata.z', 'many[0].metadata.x', 'one.metadata.nme']);
    expect(value).toEqual({ one: { metadata: {}, other: 1 }, byName: { k: { metadata: {} } }, many: [{ metadata: {} }] });
  });
  test.each<[object, string]>([
    [{ one: { kind: 5 } }, 'one.kind: Invalid value: 5: must be a string'],
    [{ many: [{}, { apiVersion: null }] }, 'many[1].apiVersion: Invalid value: null: must be a string'],
    [{ one: { metadata: 'x' } }, 'one.metadata: Invalid value: "x": json: cannot unmarshal string into Go value of type v1.ObjectMeta'],
    [
      { one: { metadata: { labels: [] } } },
      'one.metadata: Invalid value: {"labels":[]}: json: cannot unmarshal array into Go struct field ObjectMeta.labels of type map[string]string',
    ],
  ])('is none: %j', (value, problem) => {
    expect(() => conformed(value)).toThrow(new TypeMismatch(problem));
  });
  test('is looked for nowhere else', () => {
    const value = { metadata: { x: 1 }, plain: { metadata: 5 } };
    expect([conformEmbedded(structuredClone(value), schema), conformEmbedded(value, undefined)]).toEqual([[], []]);
  });
});
