import { expect, test } from 'vitest';
import {
  cloneJson,
  fieldOf,
  isJsonObject,
  jsonEquals,
  setField,
  withoutNulls,
} from '../../../../../shared/controlplane/apimachinery/json.ts';

test.each([
  [{ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }, true],
  [{ a: 1 }, { a: 1, b: undefined }, false],
  [[1, 2], [2, 1], false],
  [[], {}, false],
  [null, {}, false],
  ['1', 1, false],
])('%j equals %j: %s', (left, right, equal) => {
  expect(jsonEquals(left, right)).toBe(equal);
  expect(jsonEquals(right, left)).toBe(equal);
});

test('lists and null are no objects', () => {
  expect([{}, [], null, 'x', undefined].map(isJsonObject)).toEqual([true, false, false, false, false]);
});

test('a clone shares nothing with its original, and a key called __proto__ is a key like any other', () => {
  const original: unknown = JSON.parse('{"a": [{"b": 1}], "__proto__": {"polluted": true}}');
  const copy = cloneJson(original);
  expect(JSON.stringify(copy)).toBe(JSON.stringify(original));
  expect(copy).not.toBe(original);
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
});

test('what every object inherits is no field of it', () => {
  const target = {};
  expect(fieldOf(target, 'toString')).toBeUndefined();
  setField(target, '__proto__', 1);
  expect(fieldOf(target, '__proto__')).toBe(1);
});

test('nulls go from objects, however deep, and stay in lists', () => {
  expect(withoutNulls({ a: null, b: [null, { c: null, d: 1 }] })).toEqual({ b: [null, { d: 1 }] });
});
