import { type FieldError, invalid } from '../apimachinery/field-error.ts';
import { goFloat } from '../../cel/go-float.ts';
import type { JsonSchema } from './json-schema.ts';

/**
 * The numberValidator of kube-openapi. A whole number is compared with whole bounds: upstream cuts off what is behind the point.
 * A bound that its own type cannot hold is an error whatever the value is.
 */
export function checkNumber(value: number, schema: JsonSchema, path: string): FieldError[] {
  const { multipleOf, minimum, maximum } = schema;
  const range = rangeOf(schema);
  return [
    ...checkRange(value, range, 'Checked', path),
    ...(multipleOf === undefined ? [] : [...checkRange(multipleOf, range, 'MultipleOf', path), ...checkMultiple(value, multipleOf, path)]),
    ...(minimum === undefined
      ? []
      : [
          ...checkRange(minimum, range, 'Minimum boundary', path),
          ...checkMinimum(value, boundFor(value, minimum), schema.exclusiveMinimum === true, path),
        ]),
    ...(maximum === undefined
      ? []
      : [
          ...checkRange(maximum, range, 'Maximum boundary', path),
          ...checkMaximum(value, boundFor(value, maximum), schema.exclusiveMaximum === true, path),
        ]),
  ];
}

type Range = { readonly type: string; readonly format: string };

const FORMATS: Readonly<Record<string, readonly string[]>> = { integer: ['int32', 'int64'], number: ['float', 'double'] };

/** An integer or a string is held to no range. */
function rangeOf(schema: JsonSchema): Range {
  const type = schema['x-kubernetes-int-or-string'] === true ? '' : (schema.type ?? '');
  const { format = '' } = schema;
  return { type, format: FORMATS[type]?.includes(format) === true ? format : '' };
}

function checkRange(value: number, { type, format }: Range, what: string, path: string): FieldError[] {
  if (isInRange(value, type, format)) return [];
  const expected = format === '' ? `${type} (default format)` : `${type} with format ${format}`;
  return [invalid('<nil>', '', `${what} value must be of type ${expected} in ${path}`)];
}

function isInRange(value: number, type: string, format: string): boolean {
  if (type === 'integer') {
    const limit = format === 'int32' ? 2 ** 31 : 2 ** 63;
    return Number.isInteger(value) && value >= -limit && value < limit;
  }
  return format !== 'float' || Number.isFinite(Math.fround(value));
}

const isWhole = (value: number): boolean => Number.isInteger(value) && Math.abs(value) < 2 ** 63;
const boundFor = (value: number, bound: number): number => (isWhole(value) ? Math.trunc(bound) : bound);
const show = (value: number, bound: number): string => (isWhole(value) ? BigInt(Math.trunc(bound)).toString() : goFloat(bound));

const wrong = (path: string, value: number, sentence: string): FieldError =>
  invalid(path === '' ? '<nil>' : path.replace(/^\./, ''), value, `${path} in body ${sentence}`);

function checkMinimum(value: number, bound: number, exclusive: boolean, path: string): FieldError[] {
  if (exclusive ? value > bound : value >= bound) return [];
  return [wrong(path, value, `should be greater than${exclusive ? '' : ' or equal to'} ${show(value, bound)}`)];
}

function checkMaximum(value: number, bound: number, exclusive: boolean, path: string): FieldError[] {
  if (exclusive ? value < bound : value <= bound) return [];
  return [wrong(path, value, `should be less than${exclusive ? '' : ' or equal to'} ${show(value, bound)}`)];
}

function checkMultiple(value: number, given: number, path: string): FieldError[] {
  const factor = boundFor(value, given);
  const field = path === '' ? '<nil>' : path.replace(/^\./, '');
  if (factor <= 0) return [invalid(field, factor, `factor MultipleOf declared for ${path} must be positive: ${show(value, factor)}`)];
  const quotient = factor < 1 ? (1 / factor) * value : value / factor;
  if (isWhole(value) ? value % factor === 0 : isNearlyWhole(quotient)) return [];
  return [wrong(path, value, `should be a multiple of ${show(value, factor)}`)];
}

/** IsFloat64AJSONInteger: what JSON can hold exactly, but for an error of computation. */
const isNearlyWhole = (value: number): boolean => {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  const whole = Math.trunc(value);
  const difference = Math.abs(value - whole);
  return difference === 0 || difference / (Math.abs(value) + Math.abs(whole)) < 1e-9;
};
