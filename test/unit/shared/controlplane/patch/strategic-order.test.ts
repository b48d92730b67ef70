import { describe, expect, test } from 'vitest';
import { goValue } from '../../../../../shared/controlplane/patch/go-value.ts';
import { mergeScalars, orderElements, sameKey } from '../../../../../shared/controlplane/patch/strategic-order.ts';

const elements = (names: string) => names.split('').map((name) => ({ name }));
const ordered = (merged: string, order: string, live: string): string =>
  orderElements(elements(merged), elements(order), elements(live), 'name')
    .map((item) => (item as { name: string }).name)
    .join('');

describe('the elements of a merged list', () => {
  test.each<[merged: string, order: string, live: string, expected: string]>([
    ['abc', 'cba', 'abc', 'cba'],
    ['abc', '', 'abc', 'abc'],
    ['abcx', 'x', 'abc', 'xabc'],
    ['abcd', 'db', 'abcd', 'acdb'],
    ['abcd', 'bd', 'abcd', 'abcd'],
    ['', 'a', 'b', ''],
    ['ba', 'zab', 'ba', 'ab'],
  ])('%s, in the order %s of the patch and %s of the live list, are %s', (merged, order, live, expected) => {
    expect(ordered(merged, order, live)).toBe(expected);
  });

  test('of scalars are told apart by value', () => {
    expect(orderElements(['a', 'b', 'c'], ['c', 'a'], ['a', 'b', 'c'], undefined)).toEqual(['b', 'c', 'a']);
  });
});

test('scalars are united without repetitions', () => {
  expect(mergeScalars(['a', 'b'], ['b', 'c', 'c'])).toEqual(['a', 'b', 'c']);
  expect(mergeScalars([], [])).toEqual([]);
});

describe('two elements are the same', () => {
  test('by the merge key, whatever else they have', () => {
    expect(sameKey({ name: 'a', x: 1 }, { name: 'a', x: 2 }, 'name')).toBe(true);
    expect(sameKey({ port: 80 }, { port: '80' }, 'port')).toBe(false);
  });
  test('not where they have no key, although every object inherits one', () => {
    expect(sameKey({}, {}, 'name')).toBe(false);
    expect(sameKey({}, {}, 'constructor')).toBe(false);
    expect(sameKey('a', 'a', 'name')).toBe(false);
  });
  test('by value where there is no key', () => {
    expect(sameKey('a', 'a', undefined)).toBe(true);
    expect(sameKey({ a: 1 }, { a: 1 }, undefined)).toBe(true);
    expect(sameKey('1', 1, undefined)).toBe(false);
  });
});

test.each<[unknown, string]>([
  [null, '<nil>'],
  ['x y', 'x y'],
  [1.5, '1.5'],
  [true, 'true'],
  [[1, 'a', null], '[1 a <nil>]'],
  [{}, 'map[]'],
  [{ b: [80], a: { c: 'x' } }, 'map[a:map[c:x] b:[80]]'],
])('%j is printed as Go prints it: %s', (value, text) => {
  expect(goValue(value)).toBe(text);
});
