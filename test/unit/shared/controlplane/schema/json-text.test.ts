import { describe, expect, test } from 'vitest';
import { hasDuplicateKeys, isTooDeep, keysInOrder, parseJson } from '../../../../../shared/controlplane/schema/json-text.ts';

test('a text that ends too early says so', () => {
  expect(() => parseJson('{"a":')).toThrow('unexpected end of JSON input');
});

describe('depth', () => {
  test('of a thousand levels is walked, and of more is not', () => {
    expect(isTooDeep('['.repeat(1_000) + ']'.repeat(1_000))).toBe(false);
    expect(isTooDeep('['.repeat(1_001) + ']'.repeat(1_001))).toBe(true);
    expect(() => parseJson('['.repeat(1_001) + ']'.repeat(1_001))).toThrow('exceeded max depth');
  });

  test('is not made of brackets within a string, or beside one another', () => {
    expect(isTooDeep(JSON.stringify({ a: `\\"${'['.repeat(3_000)}` }))).toBe(false);
    expect(isTooDeep(`[${'[],'.repeat(3_000)}[]]`)).toBe(false);
  });
});

test.each([
  ['{"a":1,"a":2}', true],
  ['{"a":{"b":1,"b":2}}', true],
  ['[{"a":1},{"a":2}]', false],
  ['{"a":"x:y","b:c":1}', false],
  ['{"a":"\\\\\\":"}', false],
])('%s has a key twice: %s', (text, twice) => {
  expect(hasDuplicateKeys(text, JSON.parse(text))).toBe(twice);
});

test('keys come in the order of the text with their paths', () => {
  expect(
    keysInOrder('{"spec":{"a":1,"a":2},"list":[{"b":1},{"b":2}]}').map(({ path, duplicate }) => `${path}${duplicate ? ' twice' : ''}`),
  ).toEqual(['spec', 'spec.a', 'spec.a twice', 'list', 'list[0].b', 'list[1].b']);
});
