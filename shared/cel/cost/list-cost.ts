import type { Overload } from '../checker/declarations.ts';
import type { StaticType } from '../checker/static-type.ts';
import { add, exactly, multiply, type Range, scale } from './estimate-range.ts';
import type { CallCost, Operand } from './operand.ts';

const NEW_LIST = 10;
const CALL = 1;
const PER_CHARACTER = 0.1;

/** What a call of cel-go's extensions of sets and lists costs; undefined for other functions. */
export function listCost(
  name: string,
  overload: Overload,
  target: Operand | undefined,
  args: readonly Operand[],
  sizeOf: (operand: Operand | undefined) => Range,
): CallCost | undefined {
  const [first, second] = args;
  switch (name) {
    case 'sets.contains':
    case 'sets.intersects':
      return { cost: add(multiply(sizeOf(first), sizeOf(second)), exactly(CALL)) };
    case 'sets.equivalent':
      return { cost: add(scale(multiply(sizeOf(first), sizeOf(second)), 2), exactly(CALL)) };
    case 'slice':
      return newList(1, exactly(distance(integerOf(first) ?? 0, integerOf(second) ?? sizeOf(target).max)));
    case 'lists.range':
      return newList(1, exactly(integerOf(first) ?? Infinity));
    case 'reverse':
      return newList(1, sizeOf(target));
    case 'flatten':
      return newList(first === undefined ? 1 : (integerOf(first) ?? Infinity), sizeOf(target));
    case 'distinct':
      return newList(2, squareOf(sizeOf(target)));
    case 'sort':
      return sortingCost(overload.args[0], sizeOf(target));
    case '@sortByAssociatedKeys':
      return sortingCost(overload.args[1], sizeOf(first));
    default:
      return undefined;
  }
}

/** Sorting compares each with each; texts cost more. */
function sortingCost(list: StaticType | undefined, size: Range): CallCost {
  const kind = list?.parameters[0]?.kind;
  return newList(kind === 'string' || kind === 'bytes' ? 2 + PER_CHARACTER : 2, squareOf(size));
}

const squareOf = (size: Range): Range => multiply(size, size);
const newList = (factor: number, size: Range): CallCost => ({ cost: add(scale(size, factor), exactly(CALL + NEW_LIST)), size });
/** Upstream's integers are unsigned: what would be less than nothing is far more than enough. */
const distance = (start: number, end: number): number => (end < start ? Infinity : end - start);

/** The value of an integer constant, not less than 0; undefined for anything else. */
function integerOf(operand: Operand | undefined): number | undefined {
  if (operand?.node?.kind !== 'literal' || typeof operand.node.value !== 'bigint') return undefined;
  return Math.max(0, Number(operand.node.value));
}
