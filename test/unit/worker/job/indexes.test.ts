import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addIndexes,
  countShared,
  EMPTY_INDEXES,
  firstFreeIndexes,
  formatIndexes,
  hasIndex,
  type IndexSet,
  isIndexText,
  parseIndexes,
  uniteIndexes,
} from '../../../../worker/job/indexes.ts';

const setOf = (...indexes: number[]): IndexSet => addIndexes(EMPTY_INDEXES, indexes);
const members = (set: IndexSet): number[] =>
  set.intervals.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, offset) => first + offset));

describe('the text form', () => {
  test.each([
    [[], ''],
    [[5], '5'],
    [[0, 1], '0,1'],
    [[0, 1, 2], '0-2'],
    [[0, 2, 3, 5, 6, 7], '0,2,3,5-7'],
  ])('%j is written %j and reads back', (indexes, text) => {
    const set = setOf(...indexes);
    expect(formatIndexes(set)).toBe(text);
    expect(parseIndexes(text, 100)).toEqual(set);
  });

  test('what lies at or beyond the completions is dropped', () => {
    expect(formatIndexes(parseIndexes('0,2-9,20-30', 6))).toBe('0,2-5');
    expect(formatIndexes(parseIndexes('3-5', 3))).toBe('');
  });

  test('pieces that are no indexes are skipped, and the rest counts', () => {
    expect(formatIndexes(parseIndexes('a,1,-2,3-x,4-5-6,,7-6,9', 100))).toBe('1,4,5,9');
    expect(formatIndexes(parseIndexes('99999999999999999999,1', 100))).toBe('1');
  });

  test('an absurd interval costs nothing and is cut to the completions', () => {
    expect(parseIndexes('0-9007199254740990', 4)).toEqual({ intervals: [[0, 3]], size: 4 });
  });

  test('overlapping and unordered pieces count each index once', () => {
    expect(parseIndexes('4-8,2,5-6,2-4', 100)).toEqual({ intervals: [[2, 8]], size: 7 });
  });

  test('a text that a controller would not write is recognised', () => {
    expect(['', '0', '0-3,5', '0,1,2'].map(isIndexText)).toEqual([true, true, true, true]);
    expect(['x', '3,1', '1-2-3', '2-1', '1,1', ',', '-1'].map(isIndexText)).toEqual([false, false, false, false, false, false, false]);
  });
});

describe('set arithmetic', () => {
  const indexes = fc.array(fc.nat({ max: 60 }), { maxLength: 40 });

  test('agrees with plain sets of numbers', () => {
    fc.assert(
      fc.property(indexes, indexes, fc.nat({ max: 70 }), fc.nat({ max: 20 }), (left, right, completions, count) => {
        const [a, b] = [setOf(...left), setOf(...right)];
        const both = new Set([...left, ...right]);
        const union = uniteIndexes(a, b);
        expect(members(union)).toEqual([...both].toSorted((x, y) => x - y));
        expect(union.size).toBe(both.size);
        expect(countShared(a, b)).toBe([...new Set(left)].filter((index) => right.includes(index)).length);
        for (let index = 0; index < 65; index++) expect(hasIndex(union, index)).toBe(both.has(index));
        const free = Array.from({ length: completions }, (_, index) => index).filter((index) => !both.has(index));
        expect(firstFreeIndexes(union, count, completions)).toEqual(free.slice(0, count));
        expect(parseIndexes(formatIndexes(union), 1000)).toEqual(union);
      }),
    );
  });

  test('a hundred thousand indexes done in order stay one interval', () => {
    let set = EMPTY_INDEXES;
    for (let start = 0; start < 100_000; start += 500)
      set = addIndexes(
        set,
        Array.from({ length: 500 }, (_, offset) => start + offset),
      );
    expect(set).toEqual({ intervals: [[0, 99_999]], size: 100_000 });
  });
});
