import { type FieldError, invalid, notSupported, required, tooLong, tooMany } from '../apimachinery/field-error.ts';
import { jsonEquals } from '../apimachinery/json.ts';
import { type Correlated, correlatedField, correlatedItem, isUnchanged } from './correlation.ts';
import { checkedFormat, hasFormat } from './formats.ts';
import { compilePattern } from '../../cel/go-pattern.ts';
import { itemsOf, type JsonSchema, propertyOf, sortedProperties, valuesOf } from './json-schema.ts';
import { checkNumber } from './number-validation.ts';
import { isRecord } from './schema-defaults.ts';

/**
 * Validates a custom resource, or a part of one, against its schema, with the words and the order of kube-openapi. With `old`, what
 * is wrong but unchanged is tolerated (CRDValidationRatcheting): a schema may have become stricter since.
 */
export function validateValue(value: unknown, schema: JsonSchema, old?: { readonly value: unknown }): FieldError[] {
  return [...validateAt(value, schema, '', old === undefined ? undefined : { value: old.value, schema }).errors];
}

/** What a schema says about a value. The more of it was right, the better the schema fits (Result.MatchCount). */
type Result = { readonly errors: readonly FieldError[]; readonly matches: number };

const NOTHING: Result = { errors: [], matches: 0 };
const MATCH: Result = { errors: [], matches: 1 };
const failed = (...errors: FieldError[]): Result => ({ errors, matches: 0 });

/** Findings are kept once each. */
function merged(...results: readonly Result[]): Result {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  let matches = 0;
  for (const result of results) {
    matches += result.matches;
    for (const error of result.errors) {
      const text = `${error.field}\0${error.body}`;
      if (!seen.has(text)) errors.push(error);
      seen.add(text);
    }
  }
  return { errors, matches };
}

/** A value that may be unchanged: then nothing is held against it. */
function validateAt(value: unknown, schema: JsonSchema, path: string, old: Correlated): Result {
  const result = validateAnew(value, schema, path, old);
  return result.errors.length > 0 && isUnchanged(value, old) ? { errors: [], matches: result.matches } : result;
}

function validateAnew(value: unknown, schema: JsonSchema, path: string, old: Correlated): Result {
  if (value === null) return merged(checkType(value, schema, path), checkEnum(value, schema, path));
  const results: Result[] = [checkCombinations(value, schema, path, old), checkEnum(value, schema, path)];
  if (typesOf(schema).length > 0 || checkedFormat(schema) !== '') results.unshift(checkType(value, schema, path));
  if (typeof value === 'string') {
    results.splice(-1, 0, checkString(value, schema, path));
    if (hasFormat(schema)) results.splice(-1, 0, checkFormat(value, schema, path));
  }
  if (typeof value === 'number') results.splice(-1, 0, merged(failed(...checkNumber(value, schema, path)), MATCH));
  if (Array.isArray(value)) results.splice(-1, 0, checkArray(value, schema, path, old));
  if (isRecord(value)) results.push(checkObject(value, schema, path, old));
  return merged(...results, { errors: [], matches: results.length + 1 });
}

/** Field paths have no leading dot, although a missing field of the root is called `.name`. */
const fieldOf = (path: string): string => (path === '' ? '<nil>' : path.replace(/^\./, ''));
const wrong = (path: string, value: unknown, sentence: string): FieldError => invalid(fieldOf(path), value, `${path} in body ${sentence}`);
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
      return Number.isInteger(value) && Math.abs(value) < 2 ** 63
        ? { type: 'integer', format: 'int64' }
        : { type: 'number', format: 'float64' };
    default:
      return Array.isArray(value) ? { type: 'array', format: '' } : { type: 'object', format: '' };
  }
}

function checkType(value: unknown, schema: JsonSchema, path: string): Result {
  const types = typesOf(schema);
  const format = checkedFormat(schema);
  if (value === null) return types.length > 0 && schema.nullable !== true ? failed(wrongType(path, types.join(','), 'null')) : MATCH;
  const actual = jsonTypeOf(value);
  const fits = types.includes(actual.type) || (actual.type === 'integer' && types.includes('number'));
  const sized = typeof value === 'string' || Array.isArray(value);
  if (!sized && format !== '' && !fits && actual.format !== format) return failed(wrongType(path, format, actual.format));
  // A format narrows strings only; the format check itself follows.
  if (sized && format !== '' && !types.includes('number') && !types.includes('integer')) return MATCH;
  return fits ? MATCH : failed(wrongType(path, types.join(','), actual.type));
}

function checkCombinations(value: unknown, schema: JsonSchema, path: string, old: Correlated): Result {
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  const quoted = JSON.stringify(path);
  const outcomes = (schemas: readonly JsonSchema[]): Result[] => schemas.map((each) => validateAnew(value, each, path, old));
  const isValid = ({ errors }: Result): boolean => errors.length === 0;
  const results: Result[] = [MATCH];
  const any = outcomes(anyOf);
  if (any.length > 0) {
    const success = any.find(isValid);
    results.push(success ?? merged(failed(composite(`${quoted} must validate at least one schema (anyOf)`)), best(any)));
  }
  const one = outcomes(oneOf);
  const valid = one.filter(isValid);
  if (one.length > 0) {
    const found = valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`;
    const refusal = failed(composite(`${quoted} must validate one and only one schema (oneOf). ${found}`));
    if (valid.length === 1) results.push(...valid);
    // After a success the failures are looked at no more, but one that comes later is remembered again.
    else results.push(valid.length === 0 ? merged(refusal, best(one)) : refusal);
  }
  const all = outcomes(allOf);
  results.push(...all);
  if (!all.every(isValid)) {
    results.push(failed(composite(`${quoted} must validate all the schemas (allOf)${all.some(isValid) ? '' : '. None validated'}`)));
  }
  if (not !== undefined && isValid(validateAnew(value, not, path, old))) {
    results.push(failed(composite(`${quoted} must not validate the schema (not)`)));
  }
  return merged(...results);
}

/** The schema that fits best explains most; of equal ones the first. */
const best = (failures: readonly Result[]): Result =>
  failures.reduce((chosen, each) => (each.matches > chosen.matches ? each : chosen), failures[0] ?? NOTHING);

function checkString(value: string, { maxLength, minLength, pattern }: JsonSchema, path: string): Result {
  const length = maxLength === undefined && minLength === undefined ? 0 : Array.from(value).length;
  if (maxLength !== undefined && length > maxLength) return failed(tooLong(fieldOf(path), maxLength));
  if (minLength !== undefined && length < minLength) return failed(wrong(path, value, `should be at least ${minLength} chars long`));
  if (pattern !== undefined && pattern !== '' && !compilePattern(pattern).test(value)) {
    return failed(wrong(path, value, `should match '${pattern}'`));
  }
  return NOTHING;
}

function checkFormat(value: string, schema: JsonSchema, path: string): Result {
  if (hasFormat(schema, value)) return NOTHING;
  return failed({ ...wrong(path, value, `must be of type ${schema.format}: ${JSON.stringify(value)}`), type: 'FieldValueTypeInvalid' });
}

function checkArray(value: readonly unknown[], schema: JsonSchema, path: string, old: Correlated): Result {
  const items = itemsOf(schema);
  const results = items === undefined ? [] : value.map((each, i) => validateAt(each, items, `${path}[${i}]`, correlatedItem(old, each)));
  const { minItems, maxItems } = schema;
  if (minItems !== undefined && value.length < minItems) {
    results.push(failed(wrong(path, value.length, `should have at least ${minItems} items`)));
  }
  if (maxItems !== undefined && value.length > maxItems) results.push(failed(tooMany(fieldOf(path), value.length, maxItems)));
  return merged(...results, MATCH);
}

/** A null is in no enum, whatever that lists. */
function checkEnum(value: unknown, { enum: allowed }: JsonSchema, path: string): Result {
  if (allowed === undefined || allowed.length === 0) return NOTHING;
  if (value !== null && allowed.some((each) => jsonEquals(each, value))) return NOTHING;
  const words = allowed.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
  return failed(notSupported(fieldOf(path), value, words));
}

function checkObject(value: Record<string, unknown>, schema: JsonSchema, path: string, old: Correlated): Result {
  const { minProperties, maxProperties } = schema;
  const size = Object.keys(value).length;
  const results: Result[] = [];
  if (minProperties !== undefined && size < minProperties) {
    results.push(failed(wrong(path, size, `should have at least ${minProperties} properties`)));
  }
  if (maxProperties !== undefined && size > maxProperties) results.push(failed(tooMany(fieldOf(path), size, maxProperties)));
  const values = valuesOf(schema);
  for (const key of Object.keys(value)) {
    if (propertyOf(schema, key) !== undefined) continue;
    if (values !== undefined) results.push(validateAt(value[key], values, `${path}.${key}`, correlatedField(old, key)));
    else if (schema.additionalProperties === false) {
      results.push(failed(invalid(fieldOf(path), key, `${path}.${key} in body is a forbidden property`)));
    }
  }
  for (const [name, property] of sortedProperties(schema)) {
    if (!Object.hasOwn(value, name)) continue;
    results.push(validateAt(value[name], property, path === '' ? name : `${path}.${name}`, correlatedField(old, name)));
  }
  for (const name of schema.required ?? []) if (!Object.hasOwn(value, name)) results.push(failed(required(fieldOf(`${path}.${name}`))));
  return merged(...results);
}
