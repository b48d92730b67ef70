import type { Problem } from './expression.ts';
import type { Token } from './tokens.ts';

/** Kinds of tokens in the order in which findings list them. */
const ORDER: readonly string[] =
  "'[' ']' '{' '}' '(' ')' '.' ',' '-' '!' '?' ':' 'true' 'false' 'null' NUM_FLOAT NUM_INT NUM_UINT STRING BYTES IDENTIFIER ESC_IDENTIFIER".split(
    ' ',
  );

/** The token as findings write its kind. */
export const kindOf = ({ kind, text }: Token): string => (kind === 'punctuation' ? `'${text}'` : kind === 'EOF' ? '<EOF>' : kind);

/** What an expression may begin with. */
export const BEGINNINGS: ReadonlySet<string> = new Set(
  "'[' '{' '(' '.' '-' '!' 'true' 'false' 'null' NUM_FLOAT NUM_INT NUM_UINT STRING BYTES IDENTIFIER".split(' '),
);
export const withBeginnings = (...others: string[]): ReadonlySet<string> => new Set([...BEGINNINGS, ...others]);

/** What may stand after an operand wherever it is. */
export const OPERATORS: ReadonlySet<string> = new Set(
  ['==', '!=', '<', '<=', '>', '>=', 'in', '+', '-', '*', '/', '%', '&&', '||', '?'].map((operator) => `'${operator}'`),
);
export const SUFFIXES: ReadonlySet<string> = new Set(["'.'", "'['"]);

export const extraneous = (token: Token, expected: ReadonlySet<string>): Problem =>
  syntaxError(token, `extraneous input ${shown(token)} expecting ${listed(expected)}`);
export const mismatched = (token: Token, expected: ReadonlySet<string>): Problem =>
  syntaxError(token, `mismatched input ${shown(token)} expecting ${listed(expected)}`);
export const missing = (token: Token, expected: ReadonlySet<string>): Problem =>
  syntaxError(token, `missing ${listed(expected)} at ${shown(token)}`);
/** `source` is shown from `from` to the token. */
export const notViable = (source: string, from: Token, token: Token): Problem =>
  ["'true'", "'false'", "'null'"].includes(kindOf(token))
    ? mismatched(token, new Set(['IDENTIFIER']))
    : syntaxError(token, `no viable alternative at input '${escaped(source.slice(from.at, token.end))}'`);

const syntaxError = ({ at }: Token, message: string): Problem => ({ at, message: `Syntax error: ${message}` });
const shown = ({ text }: Token): string => `'${escaped(text)}'`;
const escaped = (text: string): string => text.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t');

function listed(expected: ReadonlySet<string>): string {
  const [first = ''] = expected;
  if (expected.size === 1) return first;
  return `{${ORDER.filter((kind) => expected.has(kind)).join(', ')}}`;
}
