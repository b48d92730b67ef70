import { expect, test } from 'vitest';
import { mergePatchBetween, sameJson } from '../../../../manager/api/json-diff.ts';

test('documents are the same whatever the order of their fields, and whether nothing is absent or null', () => {
  expect(sameJson({ a: 1, b: null, c: [1, { d: 2 }] }, { c: [1, { d: 2 }], a: 1 })).toBe(true);
  expect(sameJson([1, 2], [2, 1])).toBe(false);
  expect(sameJson({ a: 0 }, {})).toBe(false);
  expect(sameJson({}, [])).toBe(false);
});

test('a merge patch names what changes, what goes, and nothing else', () => {
  expect(mergePatchBetween({ a: 1, b: { c: 1, d: 1 }, e: [1] }, { a: 1, b: { c: 2 }, e: [1, 2], f: 'x' })).toEqual({
    b: { c: 2, d: null },
    e: [1, 2],
    f: 'x',
  });
  expect(mergePatchBetween({ a: [1] }, { a: [1] })).toBeUndefined();
  expect(mergePatchBetween(undefined, { a: 1 })).toEqual({ a: 1 });
});
