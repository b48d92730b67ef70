import { isJsonObject } from '../apimachinery/json.ts';
import { pathText } from './path-text.ts';
import { jsonSyntaxProblem } from './json-syntax.ts';

/** A text that is no JSON; the message is Go's. */
export class JsonSyntaxError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonSyntaxError';
  }
}

/** Go's decoder stops at 10,000; here each level costs stack in every walk, and no honest object has so many. */
const DEPTH_MAX = 1000;

/** JSON.parse with Go's words for a syntax error. */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new JsonSyntaxError('exceeded max depth');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new JsonSyntaxError(jsonSyntaxProblem(text) ?? String(error));
  }
}

/** Which fields and elements are numbers written with a fraction or an exponent: no integer of Go takes them, whatever their value. */
export type Fractions = WeakMap<object, ReadonlySet<string>>;

/** A number with a fraction or an exponent where a value may stand. */
const FRACTION = /[:[,]\s*-?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)\s*[,}\]]/;

/** JSON.parse of a text that is JSON, and where its fractions are; undefined if there are none, as in most texts. */
export function parseWithFractions(text: string): { readonly value: unknown; readonly fractions: Fractions } | undefined {
  if (!FRACTION.test(text)) return undefined;
  const fractions = new WeakMap<object, Set<string>>();
  const value: unknown = JSON.parse(text, function (this: object, key: string, parsed: unknown, context?: { source?: string }): unknown {
    if (typeof parsed === 'number' && /[.eE]/.test(context?.source ?? '')) {
      const keys = fractions.get(this) ?? new Set();
      fractions.set(this, keys.add(key));
    }
    return parsed;
  });
  return { value, fractions };
}

/** Whether a JSON text nests too deeply to be walked. Every level takes two characters, so most texts are not looked at. */
export function isTooDeep(text: string): boolean {
  if (text.length <= 2 * DEPTH_MAX) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      if (++depth > DEPTH_MAX) return true;
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) depth--;
  }
  return false;
}

/** Whether some object of the text has a key twice, given what the text parses to. */
export const hasDuplicateKeys = (text: string, value: unknown): boolean => countColons(text) !== countKeys(value);

/** Colons outside strings: one for each key that the text has. */
function countColons(text: string): number {
  let colons = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COLON) colons++;
    else if (code === QUOTE) at = endOfString(text, at);
  }
  return colons;
}

const QUOTE = 34;
const COLON = 58;
const BACKSLASH = 92;

/** Index of the quote that closes the string opened at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return text.length;
}

function countKeys(value: unknown): number {
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') keys += countKeys(item);
  } else if (isJsonObject(value)) {
    for (const key in value) {
      keys++;
      if (typeof value[key] === 'object') keys += countKeys(value[key]);
    }
  }
  return keys;
}

export type KeyOccurrence = { readonly path: string; readonly duplicate: boolean };

/** Every key of a valid JSON text in the order of the text. */
export function keysInOrder(text: string): KeyOccurrence[] {
  const found: KeyOccurrence[] = [];
  const stack: Frame[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const top = stack.at(-1);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (top?.keys !== undefined && top.expectsKey) noteKey(text.slice(at, end + 1), top, stack, found);
      at = end;
    } else if (code === OPEN_OBJECT) stack.push({ keys: new Set(), expectsKey: true, step: '' });
    else if (code === OPEN_LIST) stack.push({ keys: undefined, expectsKey: false, step: 0 });
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) stack.pop();
    else if (code === COMMA && top !== undefined) {
      if (typeof top.step === 'number') top.step++;
      else top.expectsKey = true;
    }
  }
  return found;
}

/** An open object or list; `step` is the key or index that is being read. */
type Frame = { readonly keys: Set<string> | undefined; expectsKey: boolean; step: string | number };

const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const COMMA = 44;

function noteKey(literal: string, frame: Frame, stack: readonly Frame[], found: KeyOccurrence[]): void {
  const key: unknown = JSON.parse(literal);
  if (typeof key !== 'string' || frame.keys === undefined) return;
  frame.step = key;
  frame.expectsKey = false;
  found.push({ path: pathText(stack.map(({ step }) => step)), duplicate: frame.keys.has(key) });
  frame.keys.add(key);
}
