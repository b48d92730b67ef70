import { isDeepStrictEqual } from 'node:util';

/**
 * What may stand for the value of a flag where it is no text: in a configuration file, and among the values of a chart. A part of JSON
 * Schema (draft 7), with patterns that Go takes, too. A list is written on the command line with commas, a map as KEY=VALUE with commas.
 */
export type ValueShape =
  | { readonly type: 'boolean' }
  | { readonly type: 'integer' | 'number'; readonly minimum?: number; readonly maximum?: number }
  | {
      readonly type: 'string';
      readonly minLength?: number;
      readonly maxLength?: number;
      readonly pattern?: string;
      readonly not?: { readonly pattern: string };
    }
  | { readonly type: 'array'; readonly items: ValueShape; readonly minItems?: number; readonly uniqueItems?: boolean }
  | { readonly type: 'object'; readonly additionalProperties: ValueShape }
  | { readonly enum: readonly unknown[] }
  | { readonly anyOf: readonly ValueShape[] };

/** Reads the text of a flag, and may say what the value looks like otherwise; without that it is text. */
export type Parser<T> = { (given: string): T; readonly shape?: ValueShape };

export const shaped = <T>(shape: ValueShape, parse: (given: string) => T): Parser<T> =>
  Object.assign((given: string) => parse(given), { shape });

export const TEXT: ValueShape = { type: 'string', minLength: 1 };
export const SWITCH: ValueShape = { type: 'boolean' };

/** The text that a flag would be given for such a value; undefined: its type is not the shape's, or the text would read otherwise. */
export function textOfValue(value: unknown, shape: ValueShape): string | undefined {
  if ('anyOf' in shape) return shape.anyOf.map((each) => textOfValue(value, each)).find((each) => each !== undefined);
  // Which of some texts it is, the parser says in better words.
  if ('enum' in shape && [value, ...shape.enum].some(Array.isArray) && !shape.enum.some((each) => isDeepStrictEqual(each, value)))
    return undefined;
  if ('type' in shape && !isOfType(value, shape.type)) return undefined;
  if (Array.isArray(value)) return joined(value.map((each) => ('items' in shape ? textOfValue(each, shape.items) : scalarText(each))));
  if (typeof value === 'object' && value !== null) return joined(Object.entries(value).map(pairText));
  return scalarText(value);
}

function isOfType(value: unknown, type: 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'boolean':
    case 'number':
    case 'string':
      return typeof value === type;
  }
}

const joined = (texts: readonly (string | undefined)[]): string | undefined =>
  texts.some((each) => each === undefined || each.includes(',')) ? undefined : texts.join(',');

function pairText([key, value]: [string, unknown]): string | undefined {
  const text = scalarText(value);
  return text === undefined || key.includes('=') ? undefined : `${key}=${text}`;
}

const scalarText = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
    ? String(value)
    : undefined;

/** What a shape asks for, in words. */
export function shapeInWords(shape: ValueShape): string {
  if ('enum' in shape) return `one of ${shape.enum.map((each) => JSON.stringify(each)).join(', ')}`;
  if ('anyOf' in shape) return shape.anyOf[0] === undefined ? 'nothing' : shapeInWords(shape.anyOf[0]);
  const words = {
    boolean: 'true or false',
    integer: 'a whole number',
    number: 'a number',
    string: 'a text',
    array: 'a list',
    object: 'a map',
  };
  return words[shape.type];
}

/** Whole numbers from `least` to `most`, both of at most nine digits, without a sign and without leading zeros. */
export function wholeNumberPattern(least: number, most = 999_999_999): string {
  if (least === 0 && most === 999_999_999) return '[0-9]{1,9}';
  const blocks: string[] = [];
  for (let from = least; from <= most; ) {
    // The largest power of ten at which a block may begin here; of a block one digit counts up, and the digits after it may be anything.
    let step = 1;
    while (from > 0 && from % (step * 10) === 0 && from + step * 10 - 1 <= most) step *= 10;
    const digit = Math.floor(from / step) % 10;
    const last = Math.min(9, digit + Math.floor((most + 1 - from) / step) - 1);
    const prefix = Math.floor(from / (step * 10));
    const free = String(step).length - 1;
    blocks.push(`${prefix === 0 ? '' : prefix}${digit === last ? digit : `[${digit}-${last}]`}${free === 0 ? '' : `[0-9]{${free}}`}`);
    from += (last - digit + 1) * step;
  }
  return `(${blocks.join('|')})`;
}

/** A duration as flags take it, from `leastMs` to `mostMs`. */
export function durationShape(leastMs = 0, mostMs = Number.POSITIVE_INFINITY): ValueShape {
  const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
  const alternatives = Object.entries(units).flatMap(([unit, unitMs]) => {
    const [least, most] = [Math.ceil(leastMs / unitMs), Math.min(999_999_999, Math.floor(mostMs / unitMs))];
    return least > most ? [] : [`${wholeNumberPattern(least, most)}${unit}`];
  });
  return { type: 'string', pattern: `^(${alternatives.join('|')})$` };
}

/** The same, or 0, which YAML reads as a number. */
export const durationOrZero = (leastMs = 0): ValueShape => ({
  anyOf: [durationShape(leastMs), { type: 'string', pattern: '^0+(ms|s|m|h)?$' }, { enum: [0] }],
});
