/**
 * resource.Quantity, exactly: a whole number of billionths, and the family of suffixes it is written with.
 * Finer fractions are rounded away from zero, and the magnitude is capped at 2^63-1, as upstream does on parsing.
 */
export type Quantity = { readonly nanos: bigint; readonly format: QuantityFormat };
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** A text that is no quantity. The messages are apimachinery's. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

const NANOS_PER_UNIT = 1_000_000_000n;
const NANOS_PER_MILLI = 1_000_000n;
const NANOS_MAX = (2n ** 63n - 1n) * NANOS_PER_UNIT;

const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const DECIMAL_EXPONENT_MIN = -9;
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

// No digit can belong to two of its parts, so that what does not match is found out in one pass.
const SHAPE = /^([+-]?)([0-9]*)(?:\.([0-9]*))?((?:[eEinumkKMGTP]+[-+]?|[-+])[0-9]*)?$/;
const FORMAT_MESSAGE = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** Reads `100m`, `1.5Gi`, `1e3`, or a plain number, in a time that grows no faster than its length. */
export function parseQuantity(source: string | number): Quantity {
  const match = SHAPE.exec(String(source).trim());
  if (match === null) throw new QuantityError(FORMAT_MESSAGE);
  const [, sign = '', whole = '', fraction = '', suffixText = ''] = match;
  if (whole === '' && fraction === '') throw new QuantityError(FORMAT_MESSAGE);
  const suffix = parseSuffix(suffixText);
  const digits = withoutLeadingZeros(whole + fraction);
  const magnitude = capped(scaled(digits, suffix, fraction.length));
  const fractional = magnitude > 0n && magnitude < NANOS_PER_UNIT;
  // A binary suffix on less than one unit would round; upstream then writes the decimal form.
  const format = suffix.format === 'BinarySI' && fractional ? 'DecimalSI' : suffix.format;
  return { nanos: sign === '-' ? -magnitude : magnitude, format };
}

type Suffix = { readonly format: QuantityFormat; readonly base: 2n | 10n; readonly exponent: number };

function parseSuffix(text: string): Suffix {
  const decimal = DECIMAL_SUFFIXES.indexOf(text);
  if (decimal >= 0) return { format: 'DecimalSI', base: 10n, exponent: DECIMAL_EXPONENT_MIN + 3 * decimal };
  const binary = BINARY_SUFFIXES.indexOf(text);
  if (binary >= 0) return { format: 'BinarySI', base: 2n, exponent: 10 * binary };
  const exponent = /^[eE]([-+]?[0-9]+)$/.exec(text)?.[1];
  if (exponent === undefined || Math.abs(Number(exponent)) > 2 ** 31) throw new QuantityError("unable to parse quantity's suffix");
  return { format: 'DecimalExponent', base: 10n, exponent: Number(exponent) };
}

/** Nanos of `digits * 10^-fractionLength * base^exponent`, rounded up. */
function scaled(digits: string, { base, exponent }: Suffix, fractionLength: number): bigint {
  if (digits === '') return 0n;
  const power = exponent * (base === 2n ? 0 : 1) - fractionLength + 9;
  // Of so many digits before the point the result is certain, and of none but zeros after it, too.
  if (digits.length + power > 40) return NANOS_MAX;
  const smallest = base === 2n ? -DIGITS_EXACT : 0;
  if (digits.length + power < smallest) return 1n;
  // Digits behind those that count make it more, however little.
  const kept = Math.max(0, digits.length + power + (base === 2n ? DIGITS_EXACT : 1));
  const exact = digits.length <= kept;
  const counted = BigInt(exact ? digits : digits.slice(0, kept) || '0') + (exact || !/[1-9]/.test(digits.slice(kept)) ? 0n : 1n);
  const scale = power + (exact ? 0 : digits.length - kept);
  const multiplied = base === 2n ? counted * 2n ** BigInt(exponent) : counted;
  return scale >= 0 ? multiplied * 10n ** BigInt(scale) : divideUp(multiplied, 10n ** BigInt(-scale));
}

/** Digits behind the point that count exactly where a binary suffix multiplies them. */
const DIGITS_EXACT = 64;

function withoutLeadingZeros(digits: string): string {
  const first = digits.search(/[1-9]/);
  return first < 0 ? '' : digits.slice(first);
}

const capped = (nanos: bigint): bigint => (nanos > NANOS_MAX ? NANOS_MAX : nanos);
const divideUp = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor;

/** The canonical form: no fraction, the largest suffix that loses nothing. */
export function formatQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return '0';
  if (format === 'BinarySI') {
    const units = nanos / NANOS_PER_UNIT;
    // Below 1024, and where a fraction would be lost, binary quantities are written as decimal ones.
    if (units * NANOS_PER_UNIT === nanos && (units >= 1024n || units <= -1024n)) return formatBinary(units);
  }
  return formatDecimal(nanos, format === 'DecimalExponent');
}

function formatBinary(units: bigint): string {
  let number = units;
  let index = 0;
  while (number % 1024n === 0n && index < BINARY_SUFFIXES.length - 1) {
    number /= 1024n;
    index++;
  }
  return `${number}${BINARY_SUFFIXES[index] ?? ''}`;
}

function formatDecimal(nanos: bigint, asExponent: boolean): string {
  let number = nanos;
  let index = 0;
  while (number % 1000n === 0n && index < DECIMAL_SUFFIXES.length - 1) {
    number /= 1000n;
    index++;
  }
  const exponent = DECIMAL_EXPONENT_MIN + 3 * index;
  if (asExponent) return exponent === 0 ? `${number}` : `${number}e${exponent}`;
  return `${number}${DECIMAL_SUFFIXES[index] ?? ''}`;
}

/** Negative, zero or positive, as for sorting. */
export const compareQuantities = (a: Quantity, b: Quantity): number => (a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0);

/** The sum, written like `a` unless `a` is zero. */
export const addQuantities = (a: Quantity, b: Quantity): Quantity => ({
  nanos: a.nanos + b.nanos,
  format: a.nanos === 0n ? b.format : a.format,
});

/** The difference, written like `a` unless `a` is zero. */
export const subtractQuantities = (a: Quantity, b: Quantity): Quantity => ({
  nanos: a.nanos - b.nanos,
  format: a.nanos === 0n ? b.format : a.format,
});

/** Whole units, rounded away from zero (Quantity.Value). */
export const toUnits = ({ nanos }: Quantity): bigint => roundAway(nanos, NANOS_PER_UNIT);
/** Thousandths, rounded away from zero (Quantity.MilliValue). */
export const toMilliUnits = ({ nanos }: Quantity): bigint => roundAway(nanos, NANOS_PER_MILLI);

const roundAway = (nanos: bigint, divisor: bigint): bigint => (nanos < 0n ? -divideUp(-nanos, divisor) : divideUp(nanos, divisor));

export const quantityOfUnits = (units: bigint, format: QuantityFormat = 'DecimalSI'): Quantity => ({
  nanos: units * NANOS_PER_UNIT,
  format,
});
export const quantityOfMilliUnits = (milliUnits: bigint): Quantity => ({ nanos: milliUnits * NANOS_PER_MILLI, format: 'DecimalSI' });
