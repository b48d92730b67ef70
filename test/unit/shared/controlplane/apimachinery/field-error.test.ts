import { expect, test } from 'vitest';
import {
  duplicate,
  fieldNotFound,
  forbidden,
  invalid,
  notSupported,
  OMIT_VALUE,
  required,
  tooLong,
  tooMany,
} from '../../../../../shared/controlplane/apimachinery/field-error.ts';

test.each([
  [required('spec'), 'FieldValueRequired', 'Required value'],
  [required('spec', 'say something'), 'FieldValueRequired', 'Required value: say something'],
  [invalid('n', -1, 'must be positive'), 'FieldValueInvalid', 'Invalid value: -1: must be positive'],
  [invalid('n', 'a"b', 'no quotes'), 'FieldValueInvalid', 'Invalid value: "a\\"b": no quotes'],
  [invalid('n', { a: [1] }, 'no'), 'FieldValueInvalid', 'Invalid value: {"a":[1]}: no'],
  [invalid('n', undefined, 'no'), 'FieldValueInvalid', 'Invalid value: null: no'],
  [invalid('n', OMIT_VALUE, 'no'), 'FieldValueInvalid', 'Invalid value: no'],
  [notSupported('n', 'x', ['a', 'b']), 'FieldValueNotSupported', 'Unsupported value: "x": supported values: "a", "b"'],
  [notSupported('n', 'x', []), 'FieldValueNotSupported', 'Unsupported value: "x"'],
  [duplicate('n', 'x'), 'FieldValueDuplicate', 'Duplicate value: "x"'],
  [tooLong('n', 63), 'FieldValueTooLong', 'Too long: may not be more than 63 bytes'],
  [tooMany('n', 3, 2), 'FieldValueTooMany', 'Too many: 3: must have at most 2 items'],
  [forbidden('n', 'is immutable'), 'FieldValueForbidden', 'Forbidden: is immutable'],
  [fieldNotFound('n', 'x'), 'FieldValueNotFound', 'Not found: "x"'],
])('finding %#: %s', (error, type, body) => {
  expect(error).toMatchObject({ type, body });
});
