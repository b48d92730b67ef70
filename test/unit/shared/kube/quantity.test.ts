import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityOfUnits,
  subtractQuantities,
  toMilliUnits,
  toUnits,
} from '../../../../shared/kube/quantity.ts';

const canonical = (text: string): string => formatQuantity(parseQuantity(text));

describe('the canonical form', () => {
  test.each([
    ['0', '0'],
    ['0Gi', '0'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['1.5', '1500m'],
    ['0.1', '100m'],
    ['1024Mi', '1Gi'],
    ['1.5Gi', '1536Mi'],
    ['1000Mi', '1000Mi'],
    ['512', '512'],
    ['512Ki', '512Ki'],
    ['1Ki', '1Ki'],
    ['0.5Ki', '512'],
    ['1.5Ki', '1536'],
    ['0.1Ki', '102400m'],
    ['1e3', '1e3'],
    ['1000e0', '1e3'],
    ['1E', '1E'],
    ['12345k', '12345k'],
    ['100000k', '100M'],
    ['-1.5', '-1500m'],
    ['1u', '1u'],
    ['0.0000000001', '1n'],
    ['+5', '5'],
    ['05', '5'],
    ['.5', '500m'],
    ['5.', '5'],
    ['99999999999999999999', '9223372036854775807'],
  ])('of %s is %s', (text, expected) => {
    expect(canonical(text)).toBe(expected);
  });

  test('is a fixed point, and keeps the value', () => {
    const suffix = fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e2', 'E-3');
    fc.assert(
      fc.property(fc.integer({ min: -999_999, max: 999_999 }), fc.integer({ min: 0, max: 999 }), suffix, (whole, fraction, unit) => {
        const parsed = parseQuantity(`${whole}.${fraction}${unit}`);
        const once = formatQuantity(parsed);
        expect(formatQuantity(parseQuantity(once))).toBe(once);
        expect(compareQuantities(parseQuantity(once), parsed)).toBe(0);
      }),
      { seed: 1 },
    );
  });
});

describe('what is no quantity', () => {
  test.each(['', ' ', 'aoeu', '1 Gi', '--1', '.', '1.1.1', '1mx'])('%j breaks the pattern', (text) => {
    expect(() => parseQuantity(text)).toThrow('quantities must match the regular expression');
  });
  test.each(['1+1', '1i', '1mi', '1Em', '1e', '1e3m'])('%j has an unknown suffix', (text) => {
    expect(() => parseQuantity(text)).toThrow(/suffix|regular expression/);
  });
});

describe('arithmetic', () => {
  test('is exact across suffixes', () => {
    expect(formatQuantity(addQuantities(parseQuantity('1Gi'), parseQuantity('512Mi')))).toBe('1536Mi');
    expect(formatQuantity(subtractQuantities(parseQuantity('1'), parseQuantity('1m')))).toBe('999m');
    expect(formatQuantity(addQuantities(parseQuantity('0'), parseQuantity('2Gi')))).toBe('2Gi');
    expect(compareQuantities(parseQuantity('1Gi'), parseQuantity('1G'))).toBeGreaterThan(0);
  });

  test('rounds to whole units and thousandths away from zero, as the scheduler counts', () => {
    expect(toUnits(parseQuantity('1500m'))).toBe(2n);
    expect(toMilliUnits(parseQuantity('1500u'))).toBe(2n);
    expect(toUnits(parseQuantity('-1500m'))).toBe(-2n);
    expect(formatQuantity(quantityOfUnits(2048n, 'BinarySI'))).toBe('2Ki');
  });
});
