import { invalid, type FieldError } from '../apimachinery/field-error.ts';

/** A path that stays below where it starts (validateLocalDescendingPath). */
export const validateDescendingPath = (target: string, path: string): FieldError[] => [
  ...(target.startsWith('/') ? [invalid(path, target, 'must be a relative path')] : []),
  ...validateNoBacksteps(target, path),
];

/** The same, and it takes no name that is reserved (ValidateLocalNonReservedPath). */
export const validateNonReservedPath = (target: string, path: string): FieldError[] => [
  ...validateDescendingPath(target, path),
  ...(target.startsWith('..') && !target.startsWith('../') ? [invalid(path, target, "must not start with '..'")] : []),
];

export const validateNoBacksteps = (target: string, path: string): FieldError[] =>
  target.split('/').includes('..') ? [invalid(path, target, "must not contain '..'")] : [];
