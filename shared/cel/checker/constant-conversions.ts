import { isUtf8 } from 'node:buffer';
import { INVALID_UTF8 } from '../values.ts';
import type { Expression, LiteralType } from './expression.ts';
import { childrenOf } from './literal-validation.ts';

/**
 * Why an expression that compiles cannot be made ready, in cel-go's words: its planner carries out conversions of literals at once, and
 * the first that fails, from the inside out, is an error. Source: `OptOptimize` of cel-go, which Kubernetes sets.
 */
export function conversionProblem(expression: Expression, seen = new Set<Expression>()): string | undefined {
  if (seen.has(expression)) return undefined;
  seen.add(expression);
  for (const child of childrenOf(expression)) {
    const problem = conversionProblem(child, seen);
    if (problem !== undefined) return problem;
  }
  const [argument] = expression.kind === 'call' && expression.target === undefined && expression.args.length === 1 ? expression.args : [];
  if (expression.kind !== 'call' || argument?.kind !== 'literal') return undefined;
  return CONVERSIONS.get(expression.name)?.(argument.type, argument.value);
}

type Literal = (Expression & { readonly kind: 'literal' })['value'];
/** Why a literal of this type cannot be converted. */
type Conversion = (type: LiteralType, value: Literal) => string | undefined;

const fromText =
  (target: string, isValid: (text: string) => boolean): Conversion =>
  (type, value) =>
    type !== 'string' || isValid(String(value)) ? undefined : `type conversion error from 'string' to '${target}'`;

const within = (value: bigint, least: bigint, most: bigint): boolean => value >= least && value <= most;
const INT_MIN = -(2n ** 63n);
const INT_MAX = 2n ** 63n - 1n;
const UINT_MAX = 2n ** 64n - 1n;

const isInt = (text: string): boolean => /^[+-]?\d+$/.test(text) && within(BigInt(text.replace(/^\+/, '')), INT_MIN, INT_MAX);
const isUint = (text: string): boolean => /^\d+$/.test(text) && within(BigInt(text), 0n, UINT_MAX);
/** What Go's ParseFloat takes: decimal and hexadecimal numbers that a double can hold, infinities, and NaN. */
function isDouble(text: string): boolean {
  if (/^[+-]?(?:inf|infinity)$/i.test(text) || /^nan$/i.test(text)) return true;
  if (/^[+-]?0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)p[+-]?\d+$/i.test(text)) return true;
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) && Number.isFinite(Number(text));
}
/** What Go's ParseBool takes. */
const isBool = (text: string): boolean => /^(?:1|t|T|TRUE|true|True|0|f|F|FALSE|false|False)$/.test(text);

const toInt: Conversion = (type, value) => {
  if (type === 'double' && !(Math.abs(Number(value)) < 2 ** 63)) return 'integer overflow';
  if (type === 'uint' && BigInt(value as bigint) > INT_MAX) return 'integer overflow';
  return fromText('int', isInt)(type, value);
};
const toUint: Conversion = (type, value) => {
  if (type === 'int' && BigInt(value as bigint) < 0n) return 'unsigned integer overflow';
  if (type === 'double' && !(Number(value) >= 0 && Number(value) < 2 ** 64)) return 'unsigned integer overflow';
  return fromText('uint', isUint)(type, value);
};

const toText: Conversion = (type, value) => (type === 'bytes' && !isUtf8(Buffer.from(String(value), 'latin1')) ? INVALID_UTF8 : undefined);

const CONVERSIONS: ReadonlyMap<string, Conversion> = new Map([
  ['int', toInt],
  ['uint', toUint],
  ['double', fromText('double', isDouble)],
  ['bool', fromText('bool', isBool)],
  ['string', toText],
]);
