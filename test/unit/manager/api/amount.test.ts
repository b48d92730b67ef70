import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAmount } from '../../../../manager/api/amount.ts';
import { parseQuantity, QuantityError, toMilliUnits, toUnits } from '../../../../shared/kube/quantity.ts';

test.each([
  ['cpu', '12', 12_000],
  ['cpu', 3, 3_000],
  ['cpu', 0.5, 500],
  ['cpu', '100m', 100],
  ['memory', '000010', 10],
  ['memory', '1999999', 1_999_999],
  ['memory', '1Ki', 1_024],
  ['memory', '1m', 1],
  ['pods', 0, 0],
  ['pods', -0, 0],
  ['pods', -2, -2],
])('%s of %o counts as %d', (resource, quantity, amount) => expect(parseAmount(resource, quantity)).toBe(amount));

test.each(['', ' ', '1 2', '١', 'NaN', Number.NaN])('%o is no amount', (text) => {
  expect(() => parseAmount('cpu', text)).toThrow(QuantityError);
});

test('whole numbers are read as every quantity is', () => {
  fc.assert(
    fc.property(fc.oneof(fc.nat(), fc.stringMatching(/^[0-9]{1,8}$/)), (quantity) => {
      expect(parseAmount('cpu', quantity)).toBe(Number(toMilliUnits(parseQuantity(quantity))));
      expect(parseAmount('memory', quantity)).toBe(Number(toUnits(parseQuantity(quantity))));
    }),
  );
});
