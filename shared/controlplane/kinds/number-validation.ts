import { invalid, type FieldError } from '../apimachinery/field-error.ts';

/** Nothing for an absent number: unset is not negative. */
export const validateNonNegative = (value: number | undefined, path: string): FieldError[] =>
  value !== undefined && value < 0 ? [invalid(path, value, 'must be greater than or equal to 0')] : [];

/** InclusiveRangeError of apimachinery. */
export const validateRange = (value: number, min: number, max: number, path: string): FieldError[] =>
  value < min || value > max ? [invalid(path, value, `must be between ${min} and ${max}, inclusive`)] : [];
