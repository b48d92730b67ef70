import { comparisonCost, concatenationCost, sizeOf } from './call-cost.ts';
import { argumentsOf, asNode, nameOf, type Node, nodesOf, type StaticType, typeOf } from './syntax-node.ts';

/** Where the types of both sides leave the overload open, it is taken to cost one. */
export function binaryCost(op: string, left: Node, right: Node): number | ((left: unknown, right: unknown) => number) {
  const text = [left, right].some((each) => ['string', 'bytes'].includes(typeOf(each)?.name ?? ''));
  switch (op) {
    case '==':
    case '!=':
      return comparisonCost;
    case '<':
    case '<=':
    case '>':
    case '>=':
      return text ? comparisonCost : 1;
    case '+':
      return text ? concatenationCost : 1;
    case 'in':
      if (typeOf(right)?.kind !== 'list') return 1;
      // A list of constants is a set.
      return isConstant(right) && nodesOf(right.args).every(({ op: each }) => each === 'value') ? 0 : (_, list) => sizeOf(list);
    default:
      return 1;
  }
}

const CONVERSIONS: ReadonlySet<string> = new Set('bool bytes double duration dyn int string timestamp type uint'.split(' '));

/** Operations that cel-go computes when it plans: literals of constants, and conversions of one. */
export function isConstant(node: Node): boolean {
  if (node.meta.macro !== undefined || node.meta.alternate?.op === 'comprehension') return false;
  if (node.op === 'value' || node.meta.alternate !== undefined) return true;
  if (node.op === '-_') return asNode(node.args).op === 'value';
  if (node.op === 'list' || node.op === 'map') return nodesOf(node.args).every(isConstant);
  return node.op === 'call' && CONVERSIONS.has(nameOf(node)) && argumentsOf(node).length === 1 && argumentsOf(node).every(isConstant);
}

/**
 * The name of what is called, with the type of its argument where that matters and the checker sees it: conversions between texts and bytes
 * go through them, and texts are parsed before they are compared with addresses. Sorting costs only where it is seen what is sorted.
 */
export function overloadOf(node: Node): string {
  const name = nameOf(node);
  const args = argumentsOf(node);
  const [type, second] = args.map((each) => typeOf(each));
  if (name === 'sort') return sortOf(type?.valueType);
  const isTyped =
    (name === 'bytes' && type?.name === 'string') ||
    (name === 'string' && type?.name === 'bytes') ||
    ((name === 'containsIP' || name === 'containsCIDR') && second?.name === 'string');
  return isTyped ? `${name}(${(second ?? type)?.name})` : name;
}

export const sortOf = (keys: StaticType | undefined): string => (keys === undefined || keys.kind === 'dyn' ? 'sort(dyn)' : 'sort');
