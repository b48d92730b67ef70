import { describe, expect, test } from 'vitest';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import { StatusError } from '../../../../../shared/controlplane/apimachinery/status-error.ts';
import {
  JSON_PATCH,
  MERGE_PATCH,
  type PatchType,
  readPatch,
  STRATEGIC_MERGE_PATCH,
} from '../../../../../shared/controlplane/patch/patch-object.ts';
import { builtInSchema } from '../../../../../shared/controlplane/schema/builtin.ts';
import type { FieldValidation } from '../../../../../shared/controlplane/schema/schema.ts';

const schema = builtInSchema('', 'v1', 'ConfigMap');
if (schema === undefined) throw new Error('no schema of ConfigMap');
const live: AnyObject = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'x', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  data: { a: '1', b: '2' },
};

const patched = (type: PatchType, patch: unknown, validation: FieldValidation = 'Warn') =>
  readPatch(type, typeof patch === 'string' ? patch : JSON.stringify(patch), validation).applyTo(live, schema);
const refusal = (...patch: Parameters<typeof patched>): string => {
  try {
    patched(...patch);
  } catch (error) {
    if (error instanceof StatusError) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'accepted';
};

describe.each<[PatchType, unknown]>([
  [
    JSON_PATCH,
    [
      { op: 'replace', path: '/data/a', value: '9' },
      { op: 'remove', path: '/data/b' },
    ],
  ],
  [MERGE_PATCH, { data: { a: '9', b: null } }],
  [STRATEGIC_MERGE_PATCH, { data: { a: '9', b: null } }],
])('a patch of type %s', (type, patch) => {
  test('changes a copy, again and again', () => {
    const read = readPatch(type, JSON.stringify(patch), 'Warn');
    for (let turn = 0; turn < 2; turn++) {
      const { object, warnings } = read.applyTo(live, schema);
      expect(object).toEqual({ ...live, data: { a: '9' } });
      expect(warnings).toEqual([]);
    }
    expect(live['data']).toEqual({ a: '1', b: '2' });
  });

  const withUnknown = type === JSON_PATCH ? [{ op: 'add', path: '/dta', value: {} }] : { dta: {} };
  test('that brings unknown fields warns, is refused, or neither, as it is asked', () => {
    expect(patched(type, withUnknown)).toEqual({ object: live, warnings: ['unknown field "dta"'] });
    expect(patched(type, withUnknown, 'Ignore')).toEqual({ object: live, warnings: [] });
    expect(refusal(type, withUnknown, 'Strict')).toMatch(/^422 .*strict decoding error: unknown field "dta"$/s);
  });

  test('that makes something else of a field is refused', () => {
    const wrong = type === JSON_PATCH ? [{ op: 'replace', path: '/data', value: 'x' }] : { data: 'x' };
    expect(refusal(type, wrong)).toMatch(/^(422|400|500) /);
  });

  test('that is no JSON is refused', () => {
    expect(refusal(type, '{')).toMatch(/^400 /);
  });
});

describe('a JSON patch', () => {
  test('of null or of nothing changes nothing', () => {
    expect(patched(JSON_PATCH, []).object).toEqual(live);
    expect(patched(JSON_PATCH, null).object).toEqual(live);
  });
  test('is a list of operations', () => {
    expect(refusal(JSON_PATCH, {})).toBe('400 error decoding patch: json: cannot unmarshal object into Go value of type jsonpatch.Patch');
    expect(refusal(JSON_PATCH, {}, 'Ignore')).toBe('400 json: cannot unmarshal object into Go value of type jsonpatch.Patch');
    expect(refusal(JSON_PATCH, [1])).toBe(
      '400 error decoding patch: json: cannot unmarshal number into Go value of type jsonpatch.Operation',
    );
    expect(refusal(JSON_PATCH, [{ op: 1 }])).toMatch(/cannot unmarshal number into Go struct field jsonPatchOp\.op of type string$/);
  });
  test('has at most ten thousand operations', () => {
    const operations = (count: number) => Array.from({ length: count }, () => ({ op: 'test', path: '/data/a', value: '1' }));
    expect(patched(JSON_PATCH, operations(10_000)).object).toEqual(live);
    expect(refusal(JSON_PATCH, operations(10_001))).toMatch(/^413 .*maximum operations in a JSON patch is 10000, got 10001$/);
  });
  test('tells of fields of an operation that mean nothing', () => {
    expect(patched(JSON_PATCH, [{ op: 'test', path: '/data/a', value: '1', why: 'x' }]).warnings).toEqual([
      'json patch unknown field "[0].why"',
    ]);
  });
  test('that does not fit the object is refused', () => {
    expect(refusal(JSON_PATCH, [{ op: 'remove', path: '/data/none' }])).toMatch(/^422 /);
    expect(refusal(JSON_PATCH, [{ op: 'test', path: '/data/a', value: '2' }])).toMatch(/^422 /);
    expect(refusal(JSON_PATCH, [{ op: 'replace', path: '', value: [] }])).toMatch(
      /^422 .*cannot unmarshal array into Go value of type struct$/s,
    );
  });
});

describe('a merge patch', () => {
  test('is an object', () => {
    expect(refusal(MERGE_PATCH, 5)).toBe(
      '400 error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}',
    );
    expect(refusal(MERGE_PATCH, null)).toBe('400 Invalid JSON Patch');
  });
  test('makes no other kind of the object', () => {
    expect(refusal(MERGE_PATCH, { kind: 'Secret' })).toMatch(/^(400|422) /);
    expect(refusal(MERGE_PATCH, { apiVersion: 5 })).toMatch(
      /^422 .*cannot unmarshal number into Go struct field \.apiVersion of type string$/s,
    );
  });
  test('under a name that every object inherits is a field like others', () => {
    const { object, warnings } = patched(MERGE_PATCH, '{"__proto__": {"data": {"a": "9"}}, "data": {"__proto__": "3"}}');
    expect(warnings).toEqual(['unknown field "__proto__"']);
    expect(Object.entries(object['data'] as object)).toEqual([
      ['a', '1'],
      ['b', '2'],
      ['__proto__', '3'],
    ]);
  });
  test('that says a field twice is warned of', () => {
    expect(patched(MERGE_PATCH, '{"data": {"a": "8"}, "data": {"a": "9"}}')).toMatchObject({
      object: { data: { a: '9' } },
      warnings: [expect.stringContaining('duplicate field "data"')],
    });
  });
});

test('a strategic merge patch of null changes nothing, and its directives are followed', () => {
  expect(patched(STRATEGIC_MERGE_PATCH, null).object).toEqual(live);
  expect(patched(STRATEGIC_MERGE_PATCH, { data: { $patch: 'replace', c: '3' } }).object['data']).toEqual({ c: '3' });
});
