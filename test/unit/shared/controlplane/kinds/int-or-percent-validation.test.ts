import { expect, test } from 'vitest';
import { validateAtMostAll, validateIntOrPercent } from '../../../../../shared/controlplane/kinds/int-or-percent-validation.ts';

test('an amount is a number or a percentage, of all at most', () => {
  expect([1, '50%', '120%'].flatMap((amount) => validateIntOrPercent(amount, 'spec.a'))).toEqual([]);
  expect(validateIntOrPercent('half', 'spec.a')).toMatchObject([{ field: 'spec.a', type: 'FieldValueInvalid' }]);
  expect(validateAtMostAll('120%', 'spec.a')).toMatchObject([{ body: 'Invalid value: "120%": must not be greater than 100%' }]);
});
