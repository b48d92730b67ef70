import type { Overload } from '../checker/declarations.ts';
import { add, exactly, multiply, type Range, scale, sum, union, UNKNOWN } from './estimate-range.ts';
import { PER_CHARACTER, patternCost } from './library-cost.ts';
import type { CallCost, Operand } from './operand.ts';

/** What a call of the language's own functions and operators costs, arguments included (functionCost of cel-go's checker). */
export function languageCost(
  name: string,
  overload: Overload,
  target: Operand | undefined,
  args: readonly Operand[],
  argCosts: readonly Range[],
): CallCost {
  const before = sum(argCosts);
  const [first, second, third] = args;
  const [from, to] = overload.args.map(({ kind }) => kind);
  const reading = (operand: Operand | undefined): Range => scale(sizeOf(operand), PER_CHARACTER);
  const constant: CallCost = { cost: add(exactly(1), before) };
  switch (name) {
    case 'format':
      return { cost: add(reading(target), before) };
    case 'bytes':
      return from === 'string' ? { cost: add(reading(first), before), size: encodedSize(sizeOf(first)) } : constant;
    case 'string':
      return from === 'bytes' ? { cost: add(reading(first), before), size: decodedSize(sizeOf(first)) } : constant;
    case 'strings.quote':
      return { cost: add(reading(first), before), size: quotedSize(sizeOf(first)) };
    case 'startsWith':
    case 'endsWith':
      return { cost: add(reading(first), before) };
    case '@in':
      return to === 'list' ? { cost: add(sizeOf(second), before) } : constant;
    case 'matches':
      return overload.isMember ? { cost: add(patternCost(sizeOf(target), sizeOf(first)), before) } : constant;
    case 'contains':
      return { cost: add(multiply(reading(target), reading(first)), before) };
    case '_||_':
    case '_&&_':
      // The left side may be enough.
      return { cost: { min: argCosts[0]?.min ?? 0, max: before.max } };
    case '_?_:_': {
      const [condition = exactly(0), yes = exactly(0), no = exactly(0)] = argCosts;
      return { cost: add(condition, union(yes, no)), size: union(sizeOf(second), sizeOf(third)) };
    }
    case '_+_': {
      if (from !== 'list' && (from !== to || !hasLength(from))) return constant;
      const size = add(sizeOf(first), sizeOf(second));
      return { cost: add(from === 'list' ? exactly(1) : scale(size, PER_CHARACTER), before), size };
    }
    case '_==_':
    case '_!=_':
      return { cost: add(comparisonCost(sizeOf(first), sizeOf(second)), before) };
    default:
      return ORDERINGS.has(name) && hasLength(from) ? { cost: add(comparisonCost(sizeOf(first), sizeOf(second)), before) } : constant;
  }
}

const ORDERINGS: ReadonlySet<string> = new Set(['_<_', '_<=_', '_>_', '_>=_']);
const hasLength = (kind: string | undefined): boolean => kind === 'string' || kind === 'bytes';

/** Only sizes that are computed count here; those that are declared have been made so. */
const sizeOf = (operand: Operand | undefined): Range => operand?.size ?? UNKNOWN;

/** Two texts are compared up to the end of the shorter one. */
function comparisonCost(left: Range, right: Range): Range {
  const shorter = Math.min(left.max, right.max);
  return scale({ min: shorter > 0 ? 1 : 0, max: shorter }, PER_CHARACTER);
}

/** Every character may be escaped, between quotes. Upstream's integers overflow to nothing for a text of unknown length. */
const quotedSize = ({ min, max }: Range): Range => ({ min: min + 2, max: max === Infinity ? 0 : max * 2 + 2 });
/** A character has up to four bytes. */
const encodedSize = ({ min, max }: Range): Range => ({ min, max: max * 4 });
const decodedSize = ({ min, max }: Range): Range => ({ min: Math.floor(min / 4), max });
