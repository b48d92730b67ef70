import { expect, test } from 'vitest';
import { applyJsonPatch, type JsonPatchOperation } from '../../../../../shared/controlplane/patch/json-patch.ts';
import { applyMergePatch } from '../../../../../shared/controlplane/patch/merge-patch.ts';

const applied: readonly (readonly [string, unknown, JsonPatchOperation[], unknown])[] = [
  ['add inserts into a list', { l: ['a', 'c'] }, [{ op: 'add', path: '/l/1', value: 'b' }], { l: ['a', 'b', 'c'] }],
  ['add appends with -', { l: ['a'] }, [{ op: 'add', path: '/l/-', value: 'b' }], { l: ['a', 'b'] }],
  ['a negative index counts from the end', { l: ['a', 'b'] }, [{ op: 'remove', path: '/l/-1' }], { l: ['a'] }],
  ['replace of an absent key adds it', {}, [{ op: 'replace', path: '/a', value: 1 }], { a: 1 }],
  ['test for null holds when the key is absent', {}, [{ op: 'test', path: '/a', value: null }], {}],
  [
    'copy does not share the value',
    { a: { x: 1 } },
    [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'add', path: '/b/y', value: 2 },
    ],
    { a: { x: 1 }, b: { x: 1, y: 2 } },
  ],
  ['move', { a: 1 }, [{ op: 'move', from: '/a', path: '/b' }], { b: 1 }],
  ['escapes', { 'x/y~': 1 }, [{ op: 'replace', path: '/x~1y~0', value: 2 }], { 'x/y~': 2 }],
  ['the whole document', { a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }], { b: 2 }],
];
test.each(applied)('%s', (_name, document, operations, expected) => {
  const before = structuredClone(document);
  expect(applyJsonPatch(document, operations)).toEqual(expected);
  expect(document).toEqual(before);
});

const refused: readonly (readonly [string, unknown, JsonPatchOperation])[] = [
  ['an index past the end', { l: [] }, { op: 'add', path: '/l/1', value: 1 }],
  ['removing what is not there', {}, { op: 'remove', path: '/a' }],
  ['a parent that is not there', {}, { op: 'add', path: '/a/b', value: 1 }],
  ['a test that fails', { a: 1 }, { op: 'test', path: '/a', value: 2 }],
  ['an unknown operation', {}, { op: 'frob', path: '/a' }],
  ['no path', {}, { op: 'add', value: 1 }],
  ['what every object inherits', {}, { op: 'copy', from: '/constructor', path: '/a' }],
];
test.each(refused)('%s is refused', (_name, document, operation) => {
  expect(() => applyJsonPatch(document, [operation])).toThrow();
});

test('a merge patch merges objects, removes by null and replaces the rest', () => {
  expect(applyMergePatch({ a: { b: 1, c: 2 }, l: [1] }, { a: { b: null, d: { e: null, f: 1 } }, l: [2] })).toEqual({
    a: { c: 2, d: { f: 1 } },
    l: [2],
  });
});
