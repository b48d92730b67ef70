import { type FieldError, invalid, notSupported, required, tooLong, tooMany } from '../apimachinery/field-error.ts';
import { jsonEquals } from '../apimachinery/json.ts';
import { correlatedItem, correlatedField } from './correlation.ts';
import { formatProblem, isKnownFormat } from './formats.ts';
import { itemsOf, type JsonSchema, propertyOf, sortedProperties, valuesOf } from './json-schema.ts';
import { isRecord } from './schema-defaults.ts';
import { compilePattern } from './go-pattern.ts';

/**
 * Validates a custom resource against its schema, with the words and the order of kube-openapi. With `old`, what is
 * wrong but unchanged is tolerated (CRDValidationRatcheting): a schema may have become stricter since.
 */
export function validateValue(value: unknown, schema: JsonSchema, old?: { readonly value: unknown }): FieldError[] {
  return validateAt(value, schema, '', old);
}

type Old = { readonly value: unknown } | undefined;

function validateAt(value: unknown, schema: JsonSchema, path: string, old: Old): FieldError[] {
  const errors =
    value === null
      ? [...checkType(value, schema, path), ...checkEnum(value, schema, path)]
      : [
          ...checkType(value, schema, path),
          ...checkCombinations(value, schema, path, old),
          ...(typeof value === 'string' ? [...checkString(value, schema, path), ...checkFormat(value, schema, path)] : []),
          ...(typeof value === 'number' ? checkNumber(value, schema, path) : []),
          ...(Array.isArray(value) ? checkArray(value, schema, path, old) : []),
          ...checkEnum(value, schema, path),
          ...(isRecord(value) ? checkObject(value, schema, path, old) : []),
        ];
  return errors.length > 0 && old !== undefined && jsonEquals(value, old.value) ? [] : errors;
}

/** Field paths have no leading dot, although a missing field of the root is called `.name`. */
const fieldOf = (path: string): string => (path.startsWith('.') ? path.slice(1) : path);
const about = (path: string): string => `${path} in body`;
const wrong = (path: string, value: unknown, sentence: string): FieldError => invalid(fieldOf(path), value, `${about(path)} ${sentence}`);
const wrongType = (path: string, expected: string, got: string): FieldError => ({
  ...wrong(path, got, `must be of type ${expected}: ${JSON.stringify(got)}`),
  type: 'FieldValueTypeInvalid',
});
/** Findings about several schemas at once carry neither path nor value. */
const composite = (sentence: string): FieldError => invalid('<nil>', '', sentence);

const typesOf = (schema: JsonSchema): readonly string[] => {
  if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string'];
  return schema.type === undefined || schema.type === '' ? [] : [schema.type];
};

function jsonTypeOf(value: unknown): { type: string; format: string } {
  switch (typeof value) {
    case 'boolean':
      return { type: 'boolean', format: '' };
    case 'string':
      return { type: 'string', format: '' };
    case 'number':
      return Number.isInteger(value) ? { type: 'integer', format: 'int64' } : { type: 'number', format: 'double' };
    default:
      return Array.isArray(value) ? { type: 'array', format: '' } : { type: 'object', format: '' };
  }
}

function checkType(value: unknown, schema: JsonSchema, path: string): FieldError[] {
  const types = typesOf(schema);
  const format = schema.format ?? '';
  if (types.length === 0 && format === '') return [];
  if (value === null) return types.length > 0 && schema.nullable !== true ? [wrongType(path, types.join(','), 'null')] : [];
  const actual = jsonTypeOf(value);
  const fits = types.includes(actual.type) || (actual.type === 'integer' && types.includes('number'));
  const sized = typeof value === 'string' || Array.isArray(value);
  if (!sized && format !== '' && !fits && actual.format !== format) return [wrongType(path, format, actual.format)];
  // A format narrows strings only; the format check itself follows.
  if (sized && format !== '' && !types.includes('number') && !types.includes('integer')) return [];
  return fits ? [] : [wrongType(path, types.join(','), actual.type)];
}

function checkCombinations(value: unknown, schema: JsonSchema, path: string, old: Old): FieldError[] {
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  const quoted = JSON.stringify(path);
  const outcomes = (schemas: readonly JsonSchema[]): FieldError[][] => schemas.map((each) => validateAt(value, each, path, old));
  const best = (failures: readonly FieldError[][]): readonly FieldError[] => failures.toSorted((a, b) => a.length - b.length)[0] ?? [];
  const errors: FieldError[] = [];
  const any = outcomes(anyOf);
  if (any.length > 0 && any.every((each) => each.length > 0)) {
    errors.push(composite(`${quoted} must validate at least one schema (anyOf)`), ...best(any));
  }
  const one = outcomes(oneOf);
  const valid = one.filter((each) => each.length === 0).length;
  if (one.length > 0 && valid !== 1) {
    const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
    errors.push(composite(`${quoted} must validate one and only one schema (oneOf). ${found}`), ...(valid === 0 ? best(one) : []));
  }
  const all = outcomes(allOf);
  const failed = all.filter((each) => each.length > 0);
  errors.push(...failed.flat());
  if (failed.length > 0) {
    errors.push(composite(`${quoted} must validate all the schemas (allOf)${failed.length === all.length ? '. None validated' : ''}`));
  }
  if (not !== undefined && validateAt(value, not, path, undefined).length === 0) {
    errors.push(composite(`${quoted} must not validate the schema (not)`));
  }
  return errors;
}

function checkString(value: string, { maxLength, minLength, pattern }: JsonSchema, path: string): FieldError[] {
  const length = maxLength === undefined && minLength === undefined ? 0 : Array.from(value).length;
  if (maxLength !== undefined && length > maxLength) return [tooLong(fieldOf(path), maxLength)];
  if (minLength !== undefined && length < minLength) return [wrong(path, value, `should be at least ${minLength} chars long`)];
  if (pattern !== undefined && pattern !== '' && !compilePattern(pattern).test(value)) {
    return [wrong(path, value, `should match '${pattern}'`)];
  }
  return [];
}

function checkFormat(value: string, { format = '' }: JsonSchema, path: string): FieldError[] {
  if (!isKnownFormat(format) || !formatProblem(format, value)) return [];
  return [{ ...wrong(path, value, `must be of type ${format}: ${JSON.stringify(value)}`), type: 'FieldValueTypeInvalid' }];
}

function checkNumber(value: number, schema: JsonSchema, path: string): FieldError[] {
  const { type = '', format = '', multipleOf, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const errors: FieldError[] = [];
  if (type === 'integer' && format === 'int32' && (value > 2 ** 31 - 1 || value < -(2 ** 31))) {
    errors.push(composite('Checked value must be of type integer with format int32'));
  }
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) {
    errors.push(wrong(path, value, `should be a multiple of ${goNumber(multipleOf)}`));
  }
  if (minimum !== undefined && (exclusiveMinimum === true ? value <= minimum : value < minimum)) {
    errors.push(wrong(path, value, `should be greater than${exclusiveMinimum === true ? '' : ' or equal to'} ${goNumber(minimum)}`));
  }
  if (maximum !== undefined && (exclusiveMaximum === true ? value >= maximum : value > maximum)) {
    errors.push(wrong(path, value, `should be less than${exclusiveMaximum === true ? '' : ' or equal to'} ${goNumber(maximum)}`));
  }
  return errors;
}

/** Go prints floats with a padded exponent, from 1e+21 on. */
const goNumber = (value: number): string => String(value).replace(/e([+-])(\d)$/, 'e$10$2');

function checkArray(value: readonly unknown[], schema: JsonSchema, path: string, old: Old): FieldError[] {
  const items = itemsOf(schema);
  const errors =
    items === undefined ? [] : value.flatMap((each, i) => validateAt(each, items, `${path}[${i}]`, correlatedItem(old, schema, each)));
  const { minItems, maxItems } = schema;
  if (minItems !== undefined && value.length < minItems) errors.push(wrong(path, value.length, `should have at least ${minItems} items`));
  if (maxItems !== undefined && value.length > maxItems) errors.push(tooMany(fieldOf(path), value.length, maxItems));
  return errors;
}

function checkEnum(value: unknown, { enum: allowed }: JsonSchema, path: string): FieldError[] {
  if (allowed === undefined || allowed.length === 0 || allowed.some((each) => jsonEquals(each, value))) return [];
  const words = allowed.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
  return [notSupported(fieldOf(path), value, words)];
}

function checkObject(value: Record<string, unknown>, schema: JsonSchema, path: string, old: Old): FieldError[] {
  const { minProperties, maxProperties } = schema;
  const size = Object.keys(value).length;
  if (minProperties !== undefined && size < minProperties) return [wrong(path, size, `should have at least ${minProperties} properties`)];
  if (maxProperties !== undefined && size > maxProperties) return [tooMany(fieldOf(path), size, maxProperties)];
  const errors: FieldError[] = [];
  const values = valuesOf(schema);
  for (const key of Object.keys(value)) {
    if (propertyOf(schema, key) !== undefined) continue;
    if (values !== undefined) errors.push(...validateAt(value[key], values, `${path}.${key}`, correlatedField(old, schema, key)));
    else if (schema.additionalProperties === false)
      errors.push(invalid(fieldOf(path), key, `${path}.${key} in body is a forbidden property`));
  }
  for (const [name, property] of sortedProperties(schema)) {
    if (!Object.hasOwn(value, name)) continue;
    errors.push(...validateAt(value[name], property, path === '' ? name : `${path}.${name}`, correlatedField(old, schema, name)));
  }
  for (const name of schema.required ?? []) if (!Object.hasOwn(value, name)) errors.push(required(fieldOf(`${path}.${name}`)));
  return errors;
}
