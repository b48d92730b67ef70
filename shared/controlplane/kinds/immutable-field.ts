import { invalid, type FieldError } from '../apimachinery/field-error.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';

/** ValidateImmutableField of apimachinery. */
export const validateImmutable = (next: unknown, previous: unknown, path: string): FieldError[] =>
  semanticEqual(next, previous) ? [] : [invalid(path, next ?? null, 'field is immutable')];
