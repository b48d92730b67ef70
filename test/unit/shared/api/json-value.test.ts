import { expect, test } from 'vitest';
import { isJsonObject } from '../../../../shared/api/json-value.ts';

test.each([
  [{}, true],
  [{ a: 1 }, true],
  [[], false],
  [null, false],
  ['{}', false],
  [undefined, false],
])('%j: a JSON object? %s', (value, expected) => {
  expect(isJsonObject(value)).toBe(expected);
});
