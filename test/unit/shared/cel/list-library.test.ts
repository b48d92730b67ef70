import { describe, expect, test } from 'vitest';
import { same } from '../../../../shared/cel/list-library.ts';
import { evaluate } from './evaluate.ts';

describe('lists', () => {
  test.each([
    ['[1, 2, 3].sum()', 6n],
    ['[0.5, 0.25].sum()', 0.75],
    ['[3, 1, 2].min()', 1n],
    ["['b', 'c', 'a'].max()", 'c'],
    ['[].isSorted()', true],
    ['[1, 1, 2].isSorted()', true],
    ['[2, 1].isSorted()', false],
    ["['a', 'b', 'a'].indexOf('a')", 0n],
    ["['a', 'b', 'a'].lastIndexOf('a')", 2n],
    ["['a'].indexOf('z')", -1n],
    ['sets.contains([1, 2, 3], [3, 1])', true],
    ['sets.contains([1], [1, 2])', false],
    ['sets.equivalent([1, 2, 2], [2, 1])', true],
    ['sets.equivalent([1], [1, 2])', false],
    ['sets.intersects([1, 2], [2, 9])', true],
    ['sets.intersects([1], [])', false],
  ])('%s is %s', (expression, value) => {
    expect(evaluate(expression)).toEqual(value);
  });

  test('the least of nothing is an error', () => {
    expect(evaluate('[].min() == 1')).toBe('error: min called on empty list');
  });
});

describe('equality of values', () => {
  test.each([
    [1n, 1, true],
    [1n, 1.5, false],
    [1n, '1', false],
    [[1n, ['a']], [1, ['a']], true],
    [[1n], [1n, 2n], false],
    [{ a: 1n }, { a: 1 }, true],
    [{ a: 1n }, { b: 1n }, false],
    [{ a: undefined }, { b: undefined }, false],
    [new Date(5), new Date(5), true],
    [new Date(5), new Date(6), false],
    [[], {}, false],
    [null, {}, false],
  ])('pair %#', (left, right, equal) => {
    expect(same(left, right)).toBe(equal);
    expect(same(right, left)).toBe(equal);
  });
});
