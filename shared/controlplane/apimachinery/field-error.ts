import { goFloat } from '../../cel/go-float.ts';

/** One finding of a validation, as it appears among the causes of a 422 (field.Error in apimachinery). */
export type FieldError = {
  /** `reason` of the cause. */
  readonly type:
    | 'FieldValueRequired'
    | 'FieldValueInvalid'
    | 'FieldValueNotSupported'
    | 'FieldValueDuplicate'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'FieldValueForbidden'
    | 'FieldValueNotFound'
    | 'FieldValueTypeInvalid'
    | 'InternalError';
  /** Path such as `spec.template.spec.containers[0].name`. */
  readonly field: string;
  /** `message` of the cause: everything after the path, e.g. `Invalid value: -1: must be greater than or equal to 0`. */
  readonly body: string;
};

/** Marks an Invalid error whose value is left out of the message. */
export const OMIT_VALUE: unique symbol = Symbol('omit value');

const withDetail = (head: string, detail: string): string => (detail === '' ? head : `${head}: ${detail}`);
/** Numbers and booleans plain, strings quoted, anything else as JSON of Go, which escapes what HTML gives a meaning. */
const render = (value: unknown): string => {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : goFloat(value);
  if (typeof value === 'boolean') return String(value);
  const json = JSON.stringify(value);
  return typeof value === 'string'
    ? json
    : json.replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
};

export const required = (field: string, detail = ''): FieldError => ({
  type: 'FieldValueRequired',
  field,
  body: withDetail('Required value', detail),
});
export const invalid = (field: string, value: unknown, detail: string): FieldError => ({
  type: 'FieldValueInvalid',
  field,
  body: value === OMIT_VALUE ? `Invalid value: ${detail}` : withDetail(`Invalid value: ${render(value)}`, detail),
});
export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  type: 'FieldValueNotSupported',
  field,
  body: withDetail(
    `Unsupported value: ${render(value)}`,
    supported.length === 0 ? '' : `supported values: ${supported.map((each) => JSON.stringify(each)).join(', ')}`,
  ),
});
export const duplicate = (field: string, value: unknown): FieldError => ({
  type: 'FieldValueDuplicate',
  field,
  body: `Duplicate value: ${render(value)}`,
});
export const tooLong = (field: string, maxBytes: number): FieldError => ({
  type: 'FieldValueTooLong',
  field,
  body: `Too long: may not be more than ${maxBytes} bytes`,
});
export const tooMany = (field: string, actual: number, max: number): FieldError => ({
  type: 'FieldValueTooMany',
  field,
  body: `Too many: ${actual}: must have at most ${max} items`,
});
export const forbidden = (field: string, detail: string): FieldError => ({
  type: 'FieldValueForbidden',
  field,
  body: withDetail('Forbidden', detail),
});
export const fieldNotFound = (field: string, value: unknown): FieldError => ({
  type: 'FieldValueNotFound',
  field,
  body: `Not found: ${render(value)}`,
});
export const internalError = (field: string, detail: string): FieldError => ({
  type: 'InternalError',
  field,
  body: withDetail('Internal error', detail),
});
