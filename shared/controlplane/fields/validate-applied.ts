import { isJsonObject } from '../apimachinery/json.ts';
import type { ListSchema, ScalarSchema, Schema } from '../schema/schema.ts';
import { itemElement } from './typed-value.ts';

/**
 * What keeps a configuration from being applied, in the words of structured-merge-diff: types that do not fit, fields
 * that the schema does not have, list elements without key or with the same one. Undefined: nothing.
 */
export function appliedProblem(value: unknown, schema: Schema): string | undefined {
  const problems: string[] = [];
  check(value, schema, '', problems);
  if (problems.length <= 1) return problems[0];
  return ['errors:', ...problems.map((problem) => `  ${problem}`)].join('\n');
}

function check(value: unknown, schema: Schema, path: string, problems: string[]): void {
  const report = (why: string): void => void problems.push(`${path === '' ? '' : `${path}: `}${why}`);
  if (value === null || value === undefined || schema.kind === 'any') return;
  if (schema.kind === 'scalar') {
    const why = scalarProblem(value, schema);
    if (why !== undefined) report(why);
  } else if (schema.kind === 'list') {
    if (Array.isArray(value)) checkList(value, schema, path, problems);
    else report(`expected list, got &{${goPrinted(value)}}`);
  } else if (!isJsonObject(value)) {
    report(`expected map, got ${goStringer(value)}`);
  } else {
    for (const name of Object.keys(value)) {
      const at = `${path}.${name}`;
      if (schema.kind === 'map') check(value[name], schema.values, at, problems);
      else {
        const field = schema.fields.get(name);
        if (field !== undefined) check(value[name], field.schema, at, problems);
        else if (schema.open !== true) problems.push(`${at}: field not declared in schema`);
      }
    }
  }
}

function checkList(items: readonly unknown[], list: ListSchema, path: string, problems: string[]): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    if (list.listType === 'atomic') {
      check(item, list.items, `${path}[${index}]`, problems);
      continue;
    }
    const why = elementProblem(list, item);
    const element = itemElement(list, item);
    if (why !== undefined || element === undefined) {
      // Without a name for the element nothing below it can be reported; upstream looks at no other, either.
      problems.push(`${path}: element ${index}: ${why ?? omitsKeys(list)}`);
      return;
    }
    const text = elementInMessage(element);
    if (seen.has(element)) problems.push(`${path}: duplicate entries for key ${text}`);
    seen.add(element);
    check(item, list.items, path + text, problems);
  }
}

/** Why a value cannot be an element of a list that merges. */
function elementProblem(list: ListSchema, item: unknown): string | undefined {
  if (list.listType === 'set') {
    if (isJsonObject(item)) return "associative list without keys has an element that's a map type";
    if (Array.isArray(item)) return 'not supported: associative list with lists as elements';
    return item === null ? "associative list without keys has an element that's an explicit null" : undefined;
  }
  if (item === null) return 'associative list with keys may not have a null element';
  return isJsonObject(item) ? undefined : 'associative list with keys may not have non-map elements';
}

const omitsKeys = ({ keys }: ListSchema): string =>
  `associative list with keys has an element that omits all key fields [${keys.map((key) => JSON.stringify(key)).join(' ')}] ` +
  "(and doesn't have default values for any key fields)";

function elementInMessage(element: string): string {
  if (element.startsWith('v:')) return `[=${element.slice(2)}]`;
  const keys: Record<string, unknown> = JSON.parse(element.slice(2));
  const pairs = Object.entries(keys).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return `[${pairs.join(',')}]`;
}

function scalarProblem(value: unknown, { type }: ScalarSchema): string | undefined {
  switch (type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got ${goStringer(value)}`;
    case 'int32':
    case 'int64':
    case 'double':
      return typeof value === 'number' ? undefined : `expected numeric (int or float), got ${goType(value)}`;
    case 'quantity':
    case 'int-or-string':
      return typeof value === 'object' ? `expected any scalar, got ${goStringer(value)}` : undefined;
    default:
      return typeof value === 'string' ? undefined : `expected string, got ${goStringer(value)}`;
  }
}

/** A value as `%v` prints it. */
function goPrinted(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goPrinted).join(' ')}]`;
  if (!isJsonObject(value)) return String(value);
  const keys = Object.keys(value).toSorted();
  return `map[${keys.map((key) => `${key}:${goPrinted(value[key])}`).join(' ')}]`;
}

/** A value as `%#v` prints the library's wrapper of it. */
const goStringer = (value: unknown): string => `&value.valueUnstructured{Value:${goSyntax(value)}}`;

function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const entries = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${goSyntax(value[key])}`);
  return `map[string]interface {}{${entries.join(', ')}}`;
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'string' : 'map[string]interface {}';
}
