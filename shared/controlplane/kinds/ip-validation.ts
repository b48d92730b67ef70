import { isIP } from 'node:net';
import { invalid, type FieldError } from '../apimachinery/field-error.ts';

/** IsValidIPForLegacyField. */
export const validateIp = (value: string, path: string): FieldError[] =>
  isIP(value) === 0 ? [invalid(path, value, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')] : [];
