import { expect, test } from 'vitest';
import { goFloat } from '../../../../shared/cel/go-float.ts';

test.each([
  [0, '0'],
  [1, '1'],
  [-1.5, '-1.5'],
  [0.1, '0.1'],
  [0.0001, '0.0001'],
  [0.00001, '1e-05'],
  [999_999, '999999'],
  [1_000_000, '1e+06'],
  [1_234_567.5, '1.2345675e+06'],
  [-2e21, '-2e+21'],
  [1e-100, '1e-100'],
])('%f is written %s, as Go writes it', (value, text) => {
  expect(goFloat(value)).toBe(text);
});
