import type { Problem } from './expression.ts';

export type TokenKind = 'punctuation' | 'NUM_FLOAT' | 'NUM_INT' | 'NUM_UINT' | 'STRING' | 'BYTES' | 'IDENTIFIER' | 'ESC_IDENTIFIER' | 'EOF';

export type Token = {
  readonly kind: TokenKind;
  /** As written. */
  readonly text: string;
  readonly at: number;
  readonly end: number;
};

const ESCAPE = /\\(?:[abfnrtv"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})/.source;
const quoted = (quote: string): string => `${quote}(?:${ESCAPE}|[^\\\\\\n\\r${quote}])*${quote}`;
const tripled = (quote: string): string => `${quote.repeat(3)}(?:${ESCAPE}|[^\\\\])*?${quote.repeat(3)}`;
const raw = (quote: string): string => `[rR]${quote}[^\\n\\r${quote}]*${quote}`;
const rawTripled = (quote: string): string => `[rR]${quote.repeat(3)}[^]*?${quote.repeat(3)}`;
const STRINGS = [tripled('"'), tripled("'"), rawTripled('"'), rawTripled("'"), quoted('"'), quoted("'"), raw('"'), raw("'")].join('|');

/** In the order in which they are tried: the longest that may match comes first. */
const LEXEMES: readonly (readonly [TokenKind | 'hidden', RegExp])[] = [
  ['hidden', /[\t \r\n\f]+|\/\/[^\n]*/y],
  ['BYTES', new RegExp(`[bB](?:${STRINGS})`, 'y')],
  ['STRING', new RegExp(STRINGS, 'y')],
  ['NUM_FLOAT', /\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?/y],
  ['NUM_UINT', /(?:0x[0-9a-fA-F]+|\d+)[uU]/y],
  ['NUM_INT', /0x[0-9a-fA-F]+|\d+/y],
  ['IDENTIFIER', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['ESC_IDENTIFIER', /`[A-Za-z0-9_.\-/ ]+`/y],
  ['punctuation', /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/y],
];

const KEYWORDS: ReadonlySet<string> = new Set(['in', 'true', 'false', 'null']);

/** The tokens of an expression, and the characters that belong to none. */
export function readTokens(source: string): { readonly tokens: Token[]; readonly problems: Problem[] } {
  const tokens: Token[] = [];
  const problems: Problem[] = [];
  let at = 0;
  while (at < source.length) {
    const found = lexemeAt(source, at);
    if (found === undefined) {
      const end = endOfUnknown(source, at);
      problems.push({ at, message: `Syntax error: token recognition error at: '${source.slice(at, end)}'` });
      at = end;
      continue;
    }
    const end = at + found.text.length;
    const kind = KEYWORDS.has(found.text) ? 'punctuation' : found.kind;
    if (kind !== 'hidden') tokens.push({ kind, text: found.text, at, end });
    at = end;
  }
  tokens.push({ kind: 'EOF', text: '<EOF>', at: source.length, end: source.length });
  return { tokens, problems };
}

function lexemeAt(source: string, at: number): { readonly kind: TokenKind | 'hidden'; readonly text: string } | undefined {
  for (const [kind, shape] of LEXEMES) {
    shape.lastIndex = at;
    const text = shape.exec(source)?.[0];
    if (text !== undefined) return { kind, text };
  }
  return undefined;
}

/** A character that begins nothing; an operator's half with the character that does not complete it; a string up to where it goes wrong. */
function endOfUnknown(source: string, at: number): number {
  const first = source[at] ?? '';
  if ('=&|'.includes(first)) return Math.min(at + 2, source.length);
  if (first !== '"' && first !== "'")
    return at + (source.codePointAt(at) ?? 0) < 0x10000 ? at + 1 : at + String.fromCodePoint(source.codePointAt(at) ?? 0).length;
  const body = new RegExp(`(?:${ESCAPE}|[^\\\\\\n\\r${first}])*`, 'y');
  body.lastIndex = at + 1;
  const end = at + 1 + (body.exec(source)?.[0].length ?? 0);
  return source[end] === '\\' ? Math.min(end + 2, source.length) : Math.min(end + 1, source.length);
}
