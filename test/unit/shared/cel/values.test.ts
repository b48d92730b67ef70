import { expect, test } from 'vitest';
import { toCelValue } from '../../../../shared/cel/values.ts';

test('whole numbers become ints and others doubles, however deep they lie', () => {
  expect(toCelValue({ a: 1, b: [1.5, { c: -2 }], d: 'text', e: null, f: true })).toEqual({
    a: 1n,
    b: [1.5, { c: -2n }],
    d: 'text',
    e: null,
    f: true,
  });
});

test('a number that a double does not hold exactly stays a double', () => {
  expect(toCelValue(2 ** 60)).toBe(2 ** 60);
});
