/**
 * What Go's encoding/json says of a text that is no JSON: it names the first byte that cannot stand where it stands.
 * Undefined for JSON. Nesting costs stack: the caller has refused what is too deep.
 */
export function jsonSyntaxProblem(text: string): string | undefined {
  try {
    const end = skipSpace(text, value(text, skipSpace(text, 0)));
    if (end < text.length) refuse(text, end, 'after top-level value');
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

class Refusal extends Error {}

function refuse(text: string, at: number, where: string): never {
  if (at >= text.length) throw new Refusal('unexpected end of JSON input');
  throw new Refusal(`invalid character ${quoted(text.charAt(at))} ${where}`);
}

/** Go looks at bytes: of a character outside ASCII it shows the first one. */
function quoted(character: string): string {
  if (character === "'") return String.raw`'\''`;
  if (character === '"') return `'"'`;
  const [byte = 0] = Buffer.from(character);
  const named = NAMED_ESCAPES.get(byte);
  if (named !== undefined) return `'${named}'`;
  const hex = byte.toString(16).padStart(2, '0');
  if (byte < 0x20 || byte === 0x7f) return `'\\x${hex}'`;
  if (byte >= 0x80 && byte <= 0xa0) return `'\\u00${hex}'`;
  return `'${String.fromCharCode(byte)}'`;
}
const NAMED_ESCAPES = new Map([
  [0x07, String.raw`\a`],
  [0x08, String.raw`\b`],
  [0x0c, String.raw`\f`],
  [0x0a, String.raw`\n`],
  [0x0d, String.raw`\r`],
  [0x09, String.raw`\t`],
  [0x0b, String.raw`\v`],
  [0x5c, String.raw`\\`],
]);

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at++;
  return at;
}

/** Each of these returns the index behind what it has read. */
function value(text: string, at: number): number {
  const character = text.charAt(at);
  switch (character) {
    case '{':
      return object(text, at);
    case '[':
      return list(text, at);
    case '"':
      return string(text, at);
    case 't':
      return literal(text, at, 'true');
    case 'f':
      return literal(text, at, 'false');
    case 'n':
      return literal(text, at, 'null');
    default:
      if (character === '-' || isDigit(character)) return number(text, at);
      return refuse(text, at, 'looking for beginning of value');
  }
}

function object(text: string, start: number): number {
  let at = skipSpace(text, start + 1);
  if (text[at] === '}') return at + 1;
  for (;;) {
    if (text[at] !== '"') refuse(text, at, 'looking for beginning of object key string');
    at = skipSpace(text, string(text, at));
    if (text[at] !== ':') refuse(text, at, 'after object key');
    at = skipSpace(text, value(text, skipSpace(text, at + 1)));
    if (text[at] === '}') return at + 1;
    if (text[at] !== ',') refuse(text, at, 'after object key:value pair');
    at = skipSpace(text, at + 1);
  }
}

function list(text: string, start: number): number {
  let at = skipSpace(text, start + 1);
  if (text[at] === ']') return at + 1;
  for (;;) {
    at = skipSpace(text, value(text, at));
    if (text[at] === ']') return at + 1;
    if (text[at] !== ',') refuse(text, at, 'after array element');
    at = skipSpace(text, at + 1);
  }
}

function string(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    const character = text[at];
    if (character === '"') return at + 1;
    if (character === undefined || character < ' ') refuse(text, at, 'in string literal');
    if (character !== '\\') continue;
    at++;
    if (text[at] === 'u') {
      for (let digit = 0; digit < 4; digit++) {
        at++;
        if (!/[0-9a-fA-F]/.test(text.charAt(at))) refuse(text, at, String.raw`in \u hexadecimal character escape`);
      }
    } else if (text[at] === undefined || !'bfnrt\\/"'.includes(text.charAt(at))) refuse(text, at, 'in string escape code');
  }
}

function literal(text: string, start: number, word: string): number {
  for (let index = 1; index < word.length; index++) {
    if (text[start + index] !== word[index]) refuse(text, start + index, `in literal ${word} (expecting '${word.charAt(index)}')`);
  }
  return start + word.length;
}

const isDigit = (character: string | undefined): boolean => character !== undefined && character >= '0' && character <= '9';

function number(text: string, start: number): number {
  let at = text[start] === '-' ? start + 1 : start;
  if (!isDigit(text[at])) refuse(text, at, 'in numeric literal');
  at = text[at] === '0' ? at + 1 : digits(text, at);
  if (text[at] === '.') {
    if (!isDigit(text[at + 1])) refuse(text, at + 1, 'after decimal point in numeric literal');
    at = digits(text, at + 1);
  }
  if (text[at] === 'e' || text[at] === 'E') {
    at += text[at + 1] === '+' || text[at + 1] === '-' ? 2 : 1;
    if (!isDigit(text[at])) refuse(text, at, 'in exponent of numeric literal');
    at = digits(text, at);
  }
  return at;
}

function digits(text: string, from: number): number {
  let at = from;
  while (isDigit(text[at])) at++;
  return at;
}
