import { expect, test } from 'vitest';
import { applyJsonPatch, JsonPatchError, type JsonPatchOperation } from '../../../../../shared/controlplane/patch/json-patch.ts';
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
  ['copy of what is not there, nor inherited, adds null', {}, [{ op: 'copy', from: '/constructor', path: '/a' }], { a: null }],
  ['a missing value is null', { a: 1 }, [{ op: 'add', path: '/a' }], { a: null }],
  ['what stands before the first slash does not count', { a: { b: 1 } }, [{ op: 'remove', path: 'ignored/a' }], {}],
  ['an index may have leading zeros', { l: ['a', 'b'] }, [{ op: 'test', path: '/l/01', value: 'b' }], { l: ['a', 'b'] }],
  ['~01 is a tilde and a one', { '~1': 1 }, [{ op: 'remove', path: '/~01' }], {}],
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
];
test.each(refused)('%s is refused', (_name, document, operation) => {
  expect(() => applyJsonPatch(document, [operation])).toThrow();
});

const inTheLibrarysWords: readonly (readonly [JsonPatchOperation, string])[] = [
  [{ op: 'add', path: '/none/x', value: 1 }, 'add operation does not apply: doc is missing path: "/none/x": missing value'],
  [{ op: 'add', path: '/l/9', value: 1 }, "error in add for path: '/l/9': Unable to access invalid index: 9: invalid index referenced"],
  [
    { op: 'add', path: '/l/x', value: 1 },
    `error in add for path: '/l/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax`,
  ],
  [{ op: 'add', value: 1 }, 'add operation failed to decode path: missing value'],
  [{ op: 'remove', path: '/none' }, "error in remove for path: '/none': Unable to remove nonexistent key: none: missing value"],
  [{ op: 'replace', path: '/l/2', value: 1 }, 'replace operation does not apply: doc is missing key: /l/2: missing value'],
  [{ op: 'replace', path: '/none/x', value: 1 }, 'replace operation does not apply: doc is missing path: /none/x: missing value'],
  [{ op: 'move', path: '/b' }, 'move operation failed to decode from: operation, missing from field: missing value'],
  [{ op: 'move', from: '/none', path: '/b' }, "error in move for path: 'none': Unable to remove nonexistent key: none: missing value"],
  [{ op: 'copy', from: '/a', path: '/x/y' }, 'copy operation does not apply: doc is missing destination path: /x/y: missing value'],
  [{ op: 'test', path: '/a', value: 2 }, 'testing value /a failed: test failed'],
  [{ op: 'test', path: '/l/9', value: 2 }, "error in test for path: '/l/9': Unable to access invalid index: 9: invalid index referenced"],
  [{ op: 'frob' }, 'Unexpected kind: frob'],
  [{ path: '/a' }, 'Unexpected kind: unknown'],
];
test.each(inTheLibrarysWords)('%j is refused as evanphx/json-patch does', (operation, message) => {
  expect(() => applyJsonPatch({ a: 1, l: ['x'] }, [operation])).toThrow(new JsonPatchError(message));
});

test('a merge patch merges objects, removes by null and replaces the rest', () => {
  expect(applyMergePatch({ a: { b: 1, c: 2 }, l: [1] }, { a: { b: null, d: { e: null, f: 1 } }, l: [2] })).toEqual({
    a: { c: 2, d: { f: 1 } },
    l: [2],
  });
});

test('what a merge patch adds has no nulls, but for those that are elements of a list', () => {
  expect(applyMergePatch({ l: [1] }, { l: [{ a: null, b: 1 }, null], o: { x: [{ y: null }] } })).toEqual({
    l: [{ b: 1 }, null],
    o: { x: [{}] },
  });
});
