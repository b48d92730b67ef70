import type { LiteralType } from './expression.ts';
import type { Token } from './tokens.ts';

type Literal = { readonly type: LiteralType; readonly value: string | bigint | number | boolean | null };

const INT_MAX = 2n ** 63n;
const UINT_MAX = 2n ** 64n;

/** The value of a literal, or why there is none. That of bytes is a string of characters up to 0xff, one for each. */
export function literalOf({ kind, text }: Token, isNegative: boolean): Literal | { readonly message: string } {
  switch (kind) {
    case 'NUM_INT': {
      const value = isNegative ? -BigInt(text) : BigInt(text);
      return value >= INT_MAX || value < -INT_MAX ? { message: 'invalid int literal' } : { type: 'int', value };
    }
    case 'NUM_UINT': {
      const value = BigInt(text.slice(0, -1));
      return value >= UINT_MAX ? { message: 'invalid uint literal' } : { type: 'uint', value };
    }
    case 'NUM_FLOAT': {
      const value = Number(text);
      return Number.isFinite(value) ? { type: 'double', value: isNegative ? -value : value } : { message: 'invalid double literal' };
    }
    case 'STRING':
      return { type: 'string', value: unquoted(text) };
    case 'BYTES':
      return { type: 'bytes', value: unquoted(Buffer.from(text.slice(1)).toString('latin1')) };
    default:
      return text === 'null' ? { type: 'null', value: null } : { type: 'bool', value: text === 'true' };
  }
}

function unquoted(text: string): string {
  const isRaw = /^[rR]/.test(text);
  const body = isRaw ? text.slice(1) : text;
  const width = /^(?:"""|''')/.test(body) ? 3 : 1;
  const inner = body.slice(width, -width);
  return isRaw ? inner : inner.replace(/\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))/gu, unescaped);
}

const CONTROLS: Readonly<Record<string, string>> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

function unescaped(_: string, byte?: string, short?: string, long?: string, octal?: string, simple = ''): string {
  const hex = byte ?? short ?? long;
  const code = hex === undefined ? Number.parseInt(octal ?? '', 8) : Number.parseInt(hex, 16);
  if (Number.isNaN(code)) return CONTROLS[simple] ?? simple;
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
}
