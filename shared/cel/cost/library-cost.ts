import type { Overload } from '../checker/declarations.ts';
import { sameType, type StaticType } from '../checker/static-type.ts';
import { add, exactly, multiply, type Range, scale, union, UNKNOWN } from './estimate-range.ts';
import { listCost } from './list-cost.ts';
import { type CallCost, type Operand, sizeOfOperand, type SizeOfPath } from './operand.ts';
import { replacedSize } from './replaced-size.ts';

/** Going through a text once. */
export const PER_CHARACTER = 0.1;
/** An expression in a regular one is reckoned to have four characters. */
export const PER_PATTERN_CHARACTER = 0.25;
const NEW_LIST = 10;
const NEW_STRUCT = 40;
/** The longest pattern of a named format. */
const FORMAT_PATTERN_LENGTH = 128;
const FORMAT_LENGTH = 64;
const AUTHORIZER_CHECK = 350_000;
/** Addresses have four bytes or sixteen. */
const ADDRESS_BYTES: Range = { min: 4, max: 16 };
const ONE: CallCost = { cost: exactly(1) };

/**
 * What a call of a function of Kubernetes' libraries costs (EstimateCallCost of k8s.io/apiserver/pkg/cel/library); undefined where the
 * language itself says it.
 */
export function libraryCost(
  name: string,
  overload: Overload,
  target: Operand | undefined,
  args: readonly Operand[],
  declared: SizeOfPath,
): CallCost | undefined {
  const sizeOf = (operand: Operand | undefined): Range => (operand === undefined ? UNKNOWN : sizeOfOperand(operand, declared));
  const [first, second] = args;
  const reading = (operand: Operand | undefined, times = 1): Range => scale(sizeOf(operand), times * PER_CHARACTER);
  switch (name) {
    case 'check':
      return { cost: exactly(AUTHORIZER_CHECK) };
    case 'fieldSelector':
    case 'labelSelector':
      return args.length === 1 ? { cost: selectorCost(sizeOf(first)) } : undefined;
    case 'isSorted':
    case 'sum':
    case 'max':
    case 'min':
    case 'indexOf':
    case 'lastIndexOf':
      return target === undefined ? undefined : { cost: comparingElements(target, sizeOf) };
    case 'url':
    case 'jsonpatch.escapeKey':
      return args.length === 1 ? { cost: reading(first), size: sizeOf(first) } : undefined;
    case 'lowerAscii':
    case 'upperAscii':
    case 'substring':
    case 'trim':
      return target === undefined ? undefined : { cost: reading(target), size: sizeOf(target) };
    case 'replace':
      if (target === undefined || first === undefined || second === undefined) return undefined;
      return { cost: reading(target, 2), size: replacedSize(sizeOf(target), sizeOf(first), sizeOf(second)) };
    case 'split':
      return target === undefined
        ? undefined
        : { cost: reading(target, 2), size: { min: 0, max: splitLimit(second) ?? sizeOf(target).max } };
    case 'join':
      return target === undefined ? undefined : joinCost(target, first, sizeOf);
    case 'find':
    case 'findAll':
      if (target === undefined || first === undefined) return undefined;
      return { cost: patternCost(sizeOf(target), sizeOf(first)), size: { min: 0, max: sizeOf(target).max } };
    case 'ip':
      return overload.isMember ? ONE : { cost: reading(first) };
    case 'ip.isCanonical':
      return { cost: reading(first, 2) };
    case 'cidr':
    case 'isIP':
    case 'isCIDR':
    case 'quantity':
    case 'isQuantity':
    case 'semver':
    case 'isSemver':
      return first === undefined ? undefined : { cost: reading(first) };
    case 'containsIP':
    case 'containsCIDR':
      return first === undefined ? undefined : { cost: containsCost(name, overload, reading(first)) };
    case 'validate':
      return first === undefined ? undefined : { cost: scale(reading(first), FORMAT_PATTERN_LENGTH * PER_PATTERN_CHARACTER) };
    case '_==_':
      return kubernetesEquality(first, second);
    default:
      return NOMINAL.has(name) ? ONE : listCost(name, overload, target, args, sizeOf);
  }
}

/** What only looks at a value that is there. */
const NOMINAL: ReadonlySet<string> = new Set(
  [
    'serviceAccount path group resource subresource namespace name allowed reason error errored format.named',
    'masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast',
    'sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch',
    'getScheme getHostname getHost getPort getEscapedPath getQuery',
  ].flatMap((names) => names.split(' ')),
);

/** Matching a text with a pattern; an empty text costs as one of a character, for the pattern is read all the same. */
export const patternCost = (text: Range, pattern: Range): Range =>
  multiply(scale(add(text, exactly(1)), PER_CHARACTER), scale(pattern, PER_PATTERN_CHARACTER));

/** A requirement of a selector takes two characters at least, and becomes a list and a struct. */
const selectorCost = (length: Range): Range =>
  add(add(exactly(NEW_LIST), scale(length, PER_CHARACTER)), scale(scale(length, 0.5), NEW_LIST + NEW_STRUCT));

function comparingElements(target: Operand, sizeOf: (operand: Operand) => Range): Range {
  const element = elementOf(target);
  if (element === undefined) return scale(sizeOf(target), PER_CHARACTER);
  const { kind } = element.type;
  const reading = kind === 'string' || kind === 'bytes' ? scale(sizeOf(element), PER_CHARACTER) : exactly(0);
  return multiply(sizeOf(target), add(exactly(1), reading));
}

/** Any element of a list; undefined for what is no list. */
function elementOf({ type, path }: Operand): Operand | undefined {
  const [elementType] = type.parameters;
  if (elementType === undefined) return undefined;
  return { path: path === undefined ? undefined : [...path, '@items'], type: elementType, node: undefined, size: undefined };
}

function splitLimit(limit: Operand | undefined): number | undefined {
  if (limit?.node?.kind !== 'literal' || typeof limit.node.value !== 'bigint') return undefined;
  // A negative one means no limit, and upstream takes it for a very large number.
  return limit.node.value < 0n ? Infinity : Number(limit.node.value);
}

function joinCost(target: Operand, separator: Operand | undefined, sizeOf: (operand: Operand) => Range): CallCost {
  const count = sizeOf(target);
  const element = elementOf(target);
  const texts = element === undefined ? exactly(0) : multiply(count, sizeOf(element));
  const between: Range = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) };
  const size = separator === undefined ? texts : add(texts, multiply(sizeOf(separator), between));
  return { cost: scale(size, PER_CHARACTER), size };
}

function containsCost(name: 'containsIP' | 'containsCIDR', overload: Overload, parsing: Range): Range {
  const comparing = scale(add(ADDRESS_BYTES, ADDRESS_BYTES), PER_CHARACTER);
  // Of a network the first address is masked, and the lengths of both are compared.
  const masking = name === 'containsCIDR' ? add(scale(ADDRESS_BYTES, PER_CHARACTER), exactly(1)) : exactly(0);
  return add(add(comparing, masking), overload.args[1]?.kind === 'string' ? parsing : exactly(0));
}

const COMPARED_AT_ONCE: ReadonlySet<string> = new Set(['kubernetes.Quantity', 'kubernetes.Semver', 'net.IP', 'net.CIDR']);

/** Whether two values of a type of Kubernetes are the same; undefined for other types. */
function kubernetesEquality(left: Operand | undefined, right: Operand | undefined): CallCost | undefined {
  if (left === undefined || right === undefined || !sameType(left.type, right.type)) return undefined;
  const { name }: StaticType = left.type;
  if (COMPARED_AT_ONCE.has(name)) return ONE;
  if (name === 'kubernetes.NamedFormat') return { cost: scale({ min: 1, max: FORMAT_LENGTH }, PER_CHARACTER) };
  if (name !== 'kubernetes.URL') return undefined;
  // Upstream asks for the size of the right side only.
  const size = right.size === undefined ? exactly(1) : union(right.size, right.size);
  return { cost: scale({ min: 1, max: size.max }, PER_CHARACTER) };
}
