import { type FieldError, invalid } from '../apimachinery/field-error.ts';
import { validateNonNegative } from './number-validation.ts';

/** A number of pods, or a percentage (ValidatePositiveIntOrPercent). */
export function validateIntOrPercent(amount: unknown, path: string): FieldError[] {
  if (typeof amount === 'number') return validateNonNegative(amount, path);
  if (typeof amount !== 'string' || PERCENT.test(amount)) return [];
  const rule = "a valid percent string must be a numeric string followed by an ending '%'";
  return [invalid(path, amount, `${rule} (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`)];
}

/** A percentage is of all pods at most (IsNotMoreThan100Percent). */
export const validateAtMostAll = (amount: unknown, path: string): FieldError[] =>
  typeof amount === 'string' && PERCENT.test(amount) && Number.parseInt(amount, 10) > 100
    ? [invalid(path, amount, 'must not be greater than 100%')]
    : [];

const PERCENT = /^\d+%$/;
