import type { Environment } from '@marcbachmann/cel-js';
import { goFloat } from './go-float.ts';
import { durationText, timestampText } from './conversion-library.ts';
import { isDurationValue, isTypeValue, isUnsigned } from './interpreter-values.ts';
import { type Clause, clauseProblem, FormatError, readFormat } from './format-clauses.ts';

/** The `strings` of `strings.quote(text)`: CEL namespaces are receivers here. */
class Strings {}

/** `'%s is %d'.format([a, b])`, and `strings.quote`. */
export function registerFormatFunctions(environment: Environment): void {
  environment
    .registerFunction('string.format(list<dyn>): string', format)
    .registerType('kubernetes.Strings', { ctor: Strings, fields: {} })
    .registerConstant('strings', 'kubernetes.Strings', new Strings())
    .registerFunction('kubernetes.Strings.quote(string): string', (_: Strings, text: string) => quote(text));
}

function format(template: string, values: readonly unknown[]): string {
  let next = 0;
  let result = '';
  for (const part of readFormat(template)) {
    if (typeof part === 'string') {
      result += part;
      continue;
    }
    if (next >= values.length) throw new FormatError(`index ${next} out of range`);
    result += show(part, values[next++]);
  }
  return result;
}

function show(clause: Clause, value: unknown): string {
  const problem = clauseProblem(clause, kindOf(value));
  if (problem !== undefined) throw new FormatError(problem);
  const { verb, precision = 0 } = clause;
  const integer = isUnsigned(value) ? value.valueOf() : value;
  switch (verb) {
    case 'd':
      return String(integer);
    case 'f':
      return infinite(value) ?? grouped(Number(value).toFixed(precision));
    case 'e':
      return infinite(value) ?? scientific(Number(value).toExponential(precision));
    case 'b':
      return typeof value === 'boolean' ? String(Number(value)) : inBase(integer, 2);
    case 'o':
      return inBase(integer, 8);
    case 'x':
      return hex(integer);
    case 'X':
      return hex(integer).toUpperCase();
    default:
      return shown(value);
  }
}

/** Thousands are set apart, as where English is spoken. */
const grouped = (digits: string): string => digits.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(?:\d{3})+$)/g, ','));

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** `1.50×10⁰⁴`. */
const scientific = (digits: string): string =>
  digits.replace(/e([+-])(\d+)$/, (_, sign: string, power: string) => {
    const raised = Array.from(power.padStart(2, '0'))
      .map((digit) => SUPERSCRIPTS[Number(digit)] ?? '')
      .join('');
    return `×10${sign === '-' ? '⁻' : ''}${raised}`;
  });

const infinite = (value: unknown): string | undefined => {
  if (Number.isNaN(value)) return 'NaN';
  return value === Infinity ? '∞' : value === -Infinity ? '-∞' : undefined;
};
const inBase = (value: unknown, base: number): string => (typeof value === 'bigint' ? value.toString(base) : '');
const hex = (value: unknown): string => {
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : inBase(value, 16);
};

function shown(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'number') return goFloat(value);
  if (value instanceof Date) return timestampText(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (isDurationValue(value)) return durationText(value);
  if (Array.isArray(value)) return `[${value.map(shownInside).join(', ')}]`;
  if (isTypeValue(value)) return value.name;
  if (kindOf(value) !== 'map') return String(value);
  const entries = Object.entries(value as Record<string, unknown>).map(([key, each]) => [JSON.stringify(key), shownInside(each)] as const);
  return `{${entries
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, each]) => `${key}:${each}`)
    .join(', ')}}`;
}

/** What is in a list or map is written as in an expression. */
function shownInside(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Uint8Array) return `b${JSON.stringify(shown(value))}`;
  if (value instanceof Date) return `timestamp(${JSON.stringify(shown(value))})`;
  if (isDurationValue(value)) return `duration(${JSON.stringify(shown(value))})`;
  if (typeof value === 'number') return infinite(value) === undefined ? value.toFixed(6) : JSON.stringify(infinite(value));
  return shown(value);
}

function kindOf(value: unknown): string {
  switch (typeof value) {
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    default:
      return kindOfObject(value);
  }
}

function kindOfObject(value: unknown): string {
  if (value === null) return 'null';
  if (isUnsigned(value)) return 'uint';
  if (Array.isArray(value)) return 'list';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Date) return 'timestamp';
  if (isDurationValue(value)) return 'duration';
  const tag = Object.prototype.toString.call(value);
  if (tag === '[object optional]') return 'optional_type';
  return isTypeValue(value) ? 'type' : 'map';
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};
const quote = (text: string): string =>
  `"${Array.from(text.toWellFormed())
    .map((character) => ESCAPES[character] ?? character)
    .join('')}"`;
