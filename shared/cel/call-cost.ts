import { Optional } from '@marcbachmann/cel-js';

/**
 * The cost of a call once its arguments are there, in cel-go's cost units: CallCost of Kubernetes' CEL libraries, and costCall of cel-go
 * for the rest. `name` is the function, with its namespace where it has one, and with the type of its argument where that is known
 * beforehand; `member` tells `text.matches(pattern)` from `matches(text, pattern)`. Arguments that are errors are undefined here,
 * of a size of one. Throws an UncountableError where cel-go fails to count.
 */
export function callCost(name: string, member: boolean, args: readonly unknown[], result: unknown): number {
  const [first, second] = args;
  if (TRAVERSALS.has(name)) return strings(sizeOf(first));
  if (LIST_TRAVERSALS.has(name)) return traversalCost(first);
  switch (name) {
    case 'check':
      return AUTHORIZATION_CHECK;
    case 'fieldSelector':
    case 'labelSelector':
      return selectorCost(sizeOf(second));
    case 'contains':
      return strings(sizeOf(first)) * strings(sizeOf(second));
    case 'matches':
      return member ? regexCost(first, sizeOf(second)) : 1;
    case 'find':
    case 'findAll':
      return regexCost(first, sizeOf(second));
    case 'validate':
      return isFormat(first) ? regexCost(second, first.regexSize) : 1;
    case 'replace':
    case 'split':
    case 'ip.isCanonical':
      return strings(2 * sizeOf(first));
    case 'join':
      return strings(2 * sizeOf(result));
    case 'ip':
      return typeof first === 'string' ? strings(sizeOf(first)) : 1;
    case 'containsIP':
    case 'containsIP(string)':
      return strings(2 * sizeOf(first)) + (name === 'containsIP' ? 0 : strings(sizeOf(second)));
    case 'containsCIDR':
    case 'containsCIDR(string)':
      return strings(2 * sizeOf(first)) + strings(sizeOf(first)) + 1 + (name === 'containsCIDR' ? 0 : strings(sizeOf(second)));
    case 'sets.contains':
    case 'sets.intersects':
      return sizeOf(first) * sizeOf(second) + 1;
    case 'sets.equivalent':
      return 2 * sizeOf(first) * sizeOf(second) + 1;
    case 'slice':
    case 'lists.range':
    case 'reverse':
      return listMaking(sizeOf(result));
    case 'flatten':
      if (args.length > 1 && typeof second !== 'bigint') return notCounted('ref.Val is *types.Err, not types.Int');
      return listMaking(Number(second ?? 1n) * sizeOf(first));
    case 'distinct':
    case 'sort':
      return Array.isArray(first) ? selfComparison(first) : notCounted('*types.Err is not traits.Lister: missing method Add');
    default:
      return FREE.has(name) ? 0 : 1;
  }
}

/** cel-go does not foresee that what is sorted is an error: counting what that costs fails, and the evaluation with it. */
export class UncountableError extends Error {
  override readonly name = 'UncountableError';
}

function notCounted(problem: string): never {
  throw new UncountableError(`internal error: interface conversion: ${problem}`);
}

/** A call that makes a list, and goes through something of this size for it. */
const listMaking = (size: number): number => 1 + LIST_CREATION + Math.trunc(size);

/** Each element is compared with each: version 3 of cel-go's list extension. Texts are gone through. */
function selfComparison(list: unknown): number {
  const text = Array.isArray(list) && (typeof list[0] === 'string' || list[0] instanceof Uint8Array);
  return listMaking(sizeOf(list) ** 2 * (text ? 2.1 : 2));
}

/** What `==` and `!=` cost, and comparisons of strings: the shorter side is gone through. */
export const comparisonCost = (left: unknown, right: unknown): number =>
  isSized(left) ? 1 : strings(Math.min(sizeOf(left), sizeOf(right)));

/** What joining two strings costs. */
export const concatenationCost = (left: unknown, right: unknown): number => strings(sizeOf(left) + sizeOf(right));

/** Implemented by values of libraries whose size is not that of what they are made of. */
export type Sized = { readonly costSize: number };
/** Implemented by named formats: an upper bound for the length of the regular expression behind one. */
export type CostedFormat = { readonly regexSize: number };

const AUTHORIZATION_CHECK = 350_000;
const LIST_CREATION = 10;
const STRUCT_CREATION = 40;

const TRAVERSALS: ReadonlySet<string> = new Set(
  (
    'startsWith endsWith bytes(string) string(bytes) url lowerAscii upperAscii substring trim jsonpatch.escapeKey ' +
    'strings.quote format cidr isIP isCIDR quantity isQuantity semver isSemver'
  ).split(' '),
);
const LIST_TRAVERSALS: ReadonlySet<string> = new Set(['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf']);
/** No calls to cel-go, but expressions of their own. */
const FREE: ReadonlySet<string> = new Set(['or', 'orValue']);

/** Ten characters cost one unit. */
const strings = (length: number): number => Math.ceil(length * 0.1);
const regexCost = (text: unknown, patternSize: number): number => strings(1 + sizeOf(text)) * Math.ceil(patternSize * 0.25);
const selectorCost = (length: number): number =>
  LIST_CREATION + Math.ceil(length * 0.1) + Math.ceil(Math.ceil(length * 0.5) * (LIST_CREATION + STRUCT_CREATION));

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isSized = (value: unknown): value is Sized => isObject(value) && 'costSize' in value;
const isFormat = (value: unknown): value is CostedFormat => isObject(value) && 'regexSize' in value;

/** Of a string its characters, of a list its elements, of a map its entries, of anything else one (actualSize of cel-go). */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return /[\ud800-\udbff]/.test(value) ? Array.from(value).length : value.length;
  if (!isObject(value)) return 1;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length;
  if (value instanceof Optional) return value.hasValue() ? sizeOf(value.value()) : 1;
  if (isSized(value)) return value.costSize;
  if (value instanceof Map) return value.size;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? Object.keys(value).length : 1;
}

/** Every element of a list, however deep, and a tenth of every string. */
function traversalCost(value: unknown): number {
  if (typeof value === 'string') return Math.floor(Buffer.byteLength(value) * 0.1);
  if (value instanceof Uint8Array) return Math.floor(value.length * 0.1);
  if (Array.isArray(value)) return value.reduce((sum: number, each: unknown) => sum + traversalCost(each), 0);
  if (!isObject(value) || isSized(value)) return 1;
  return Object.entries(value).reduce((sum, [key, each]) => sum + traversalCost(key) + traversalCost(each), 0);
}
