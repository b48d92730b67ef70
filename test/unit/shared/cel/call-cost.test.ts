/** Beside what runtime-costs.json records of whole expressions: sizes that no JSON has. */
import { Optional } from '@marcbachmann/cel-js';
import { describe, expect, test } from 'vitest';
import { callCost, comparisonCost, concatenationCost, sizeOf } from '../../../../shared/cel/call-cost.ts';

test.each([
  ['a string, in characters', 'naïve 🚂', 7],
  ['a list', [1n, 2n], 2],
  ['bytes', new Uint8Array(5), 5],
  ['a map', { a: 1n, b: 2n }, 2],
  ['a map of other keys', new Map([[1n, 2n]]), 1],
  ['what an optional holds', Optional.of('four'), 4],
  ['an optional that holds nothing', Optional.none(), 1],
  ['a number', 12_345n, 1],
  ['null', null, 1],
  ['an object of a library', new Date(0), 1],
  ['an object of a library that says so itself', { costSize: 16 }, 16],
])('the size of %s', (_what, value, size) => {
  expect(sizeOf(value)).toBe(size);
});

describe('a call', () => {
  test('costs a tenth of the text that it goes through, and one if it goes through none', () => {
    expect(callCost('startsWith', true, ['x'.repeat(41), 'x'], false)).toBe(5);
    expect(callCost('bytes(string)', false, ['x'.repeat(41)], new Uint8Array(41))).toBe(5);
    expect(callCost('bytes', false, ['x'.repeat(41)], new Uint8Array(41))).toBe(1);
    expect(callCost('unheard-of', true, ['x'.repeat(41)], 1n)).toBe(1);
    expect(callCost('orValue', true, [Optional.none()], 1n)).toBe(0);
  });

  test('of the authorizer is dear, and of its selectors by their length', () => {
    expect(callCost('check', true, [{}, 'get'], {})).toBe(350_000);
    expect(callCost('labelSelector', true, [{}, 'a=b,c=d'], {})).toBe(10 + 1 + 200);
  });

  test('with a regular expression costs text times pattern', () => {
    expect(callCost('matches', true, ['x'.repeat(19), 'y'.repeat(9)], true)).toBe(2 * 3);
    expect(callCost('matches', false, ['x'.repeat(19), 'y'.repeat(9)], true)).toBe(1);
    expect(callCost('validate', true, [{ regexSize: 60 }, 'x'.repeat(19)], true)).toBe(2 * 15);
  });

  test('that looks at every element costs each, and a tenth of each text', () => {
    expect(callCost('sum', true, [[1n, 2n, 3n]], 6n)).toBe(3);
    expect(callCost('isSorted', true, [['x'.repeat(39), new Uint8Array(25)]], true)).toBe(3 + 2);
    expect(callCost('indexOf', true, [[{ ['k'.repeat(10)]: 1n }]], 0n)).toBe(2);
  });
});

test('comparing goes through the shorter side, joining through both', () => {
  expect(comparisonCost('x'.repeat(50), 'x'.repeat(21))).toBe(3);
  expect(comparisonCost('', 'x')).toBe(0);
  expect(comparisonCost(1n, 2n)).toBe(1);
  expect(comparisonCost({ costSize: 0 }, { costSize: 0 })).toBe(1);
  expect(concatenationCost('x'.repeat(50), 'x'.repeat(21))).toBe(8);
});
