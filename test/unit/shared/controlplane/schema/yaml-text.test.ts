import { expect, test } from 'vitest';
import { parseYaml } from '../../../../../shared/controlplane/schema/yaml-text.ts';

test.each([
  ['a: yes', { a: true }],
  ['a: 012', { a: 10 }],
  ['a: 2026-01-01', { a: '2026-01-01' }],
  ['a: 12:30:45', { a: '12:30:45' }],
  ['1: a\ntrue: b', { 1: 'a', true: 'b' }],
  ['a: &x [1]\nb: *x', { a: [1], b: [1] }],
  ['{"a": 1}', { a: 1 }],
  ['{a: 1}', { a: 1 }],
  ['', null],
])('%j is %j', (text, value) => {
  expect(parseYaml(text)).toEqual(value);
});

test('a key called __proto__ is a key like any other', () => {
  expect(Object.keys(parseYaml('__proto__: 1') as object)).toEqual(['__proto__']);
});

test('what is no YAML is refused in one line', () => {
  expect(() => parseYaml('a: [')).toThrow(/^error converting YAML to JSON: yaml: [^\n]*$/);
  expect(() => parseYaml(`{${'"a":{'.repeat(2_000)}`)).toThrow('exceeded max depth');
});
