import { expect, test } from 'vitest';
import { isJsonObject, parseJson } from '../../../../manager/api/json-value.ts';

test('an object is one, and nothing else is', () => {
  expect(isJsonObject({})).toBe(true);
  for (const other of [null, undefined, [], 'text', 1, true]) expect(isJsonObject(other)).toBe(false);
});

test('a text that is no JSON is told from one that is', () => {
  expect(parseJson('{"a": [1]}')).toEqual({ a: [1] });
  expect(parseJson('null')).toBeNull();
  expect(parseJson('{')).toBeUndefined();
  expect(parseJson('')).toBeUndefined();
});
