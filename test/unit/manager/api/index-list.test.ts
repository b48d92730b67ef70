import fc from 'fast-check';
import { expect, test } from 'vitest';
import { areIndexLists, indexesBelow, isSubset, sizeOf, textOf, unionOf, without } from '../../../../manager/api/index-list.ts';

test.each([
  ['', ''],
  ['0-9', ''],
  ['0,2-4,9', '1,5-8'],
  ['0,1,2', ''],
  ['0-1,2', '3'],
])('%j and %j are lists of a Job of ten', (completed, failed) => {
  expect(areIndexLists(completed, failed, 10)).toBe(true);
});

test.each([
  ['0-10', 'an index beyond the end'],
  ['3,1', 'a smaller one after a larger one'],
  ['1,1', 'one twice'],
  ['4-2', 'an interval that ends before it begins'],
  ['4-4', 'an interval of one'],
  ['1-2-3', 'three parts'],
  ['1,', 'an empty part'],
  ['-1', 'a negative index'],
  ['99999999999', 'too many digits'],
  ['a', 'no digit'],
])('%j has %s', (text) => {
  expect(areIndexLists(text, '', 10)).toBe(false);
  expect(areIndexLists('', text, 10)).toBe(false);
});

test.each([
  ['0-4', '4'],
  ['4', '0-4'],
  ['0,9', '1-9'],
])('%j and %j have an index in common', (completed, failed) => {
  expect(areIndexLists(completed, failed, 10)).toBe(false);
});

test('sets of indexes add up, differ and contain one another as sets of numbers do, and their texts are lists', () => {
  const numbers = fc.uniqueArray(fc.nat({ max: 24 })).map((list) => list.toSorted((a, b) => a - b));
  const listed = (list: readonly number[]) => indexesBelow(list.join(','), 25);
  fc.assert(
    fc.property(numbers, numbers, fc.nat({ max: 25 }), (a, b, end) => {
      const [x, y] = [unionOf(listed(a), []), unionOf(listed(b), [])];
      const both = [...new Set([...a, ...b])].toSorted((p, q) => p - q);
      const left = a.filter((index) => !b.includes(index));
      expect(unionOf(x, y)).toEqual(unionOf(listed(both), []));
      expect(unionOf(without(x, y), [])).toEqual(unionOf(listed(left), []));
      expect(isSubset(x, y)).toBe(left.length === 0);
      expect(sizeOf(x)).toBe(a.length);
      expect(areIndexLists(textOf(x), textOf(without(y, x)), 25)).toBe(true);
      expect(indexesBelow(textOf(x), end)).toEqual(indexesBelow(textOf(unionOf(listed(a.filter((index) => index < end)), [])), end));
    }),
  );
});

test('a text that is no list has no indexes', () => {
  expect(indexesBelow('2,1', 10)).toEqual([]);
  expect(indexesBelow('0-', 10)).toEqual([]);
});
