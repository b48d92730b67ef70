import { expect, test } from 'vitest';
import { evaluate } from './evaluate.ts';

test.each([
  ["quantity('1Gi') == quantity('1024Mi')", true],
  ["quantity('100m').isLessThan(quantity('1'))", true],
  ["quantity('2').isGreaterThan(quantity('1500m'))", true],
  ["quantity('1').compareTo(quantity('1000m'))", 0n],
  ["sign(quantity('-1'))", -1n],
  ["sign(quantity('0'))", 0n],
  ["quantity('1').add(quantity('500m')).asApproximateFloat()", 1.5],
  ["quantity('1').add(2).asInteger()", 3n],
  ["quantity('1').sub(quantity('250m')).asApproximateFloat()", 0.75],
  ["quantity('5').sub(2).asInteger()", 3n],
  ["quantity('1500m').isInteger()", false],
  ["isQuantity('1.5Gi')", true],
  ["isQuantity('much')", false],
])('%s is %s', (expression, value) => {
  expect(evaluate(expression)).toEqual(value);
});

test('a quantity with a fraction is no integer', () => {
  expect(evaluate("quantity('100m').asInteger() == 0")).toBe('error: cannot convert value to integer');
});
