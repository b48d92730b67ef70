import { Optional } from '@marcbachmann/cel-js';
import { callCost, comparisonCost, concatenationCost, sizeOf } from './call-cost.ts';
import type { OwnCall } from './own-calls.ts';

/** What one evaluation may cost (PerCallLimit of apiserver). */
const CALL_LIMIT = 1_000_000;
/** cel-go's sentence about an evaluation that costs more. */
export const COST_LIMIT_EXCEEDED = 'operation cancelled: actual cost limit exceeded';

/**
 * Counts what an evaluation costs, in cel-go's units (runtimecost.go). An evaluation that meets an error may cost a unit more or less than there.
 */
export class CostMeter {
  cost = 0;

  charge(units: number): void {
    this.cost += units;
    if (this.exceeded) throw new Error(COST_LIMIT_EXCEEDED);
  }

  get exceeded(): boolean {
    return this.cost > CALL_LIMIT;
  }
}

/**
 * Makes a checked expression report to `meter` whenever it is evaluated. `ast` is cel-js's syntax tree, whose nodes carry their own evaluation.
 *
 * Costs follow the shape that cel-go plans: a name costs one and so does each step from it (`a.b.c`: three), the steps alone where only presence
 * is tested or a conditional chooses; `&&`, `||` and `?:` cost what of them is evaluated; constants cost nothing, lists of constants neither.
 */
export function meterExpression(ast: unknown, meter: CostMeter): void {
  const root = asNode(ast);
  chargeBefore(root, meter, instrument(root, meter, 'named'));
}

/** A node of cel-js 8, as far as evaluation is concerned. */
type Evaluate = (evaluator: unknown, node: unknown, context: unknown) => unknown;
type Macro = { evaluate: Evaluate } & Readonly<Record<string, unknown>>;
type Node = {
  readonly op: string;
  readonly args: unknown;
  readonly meta: { readonly evaluate: Evaluate; readonly alternate?: Node; readonly macro?: Macro };
  readonly checkedType?: { readonly kind: string; readonly name: string };
  handle?: (...parts: unknown[]) => unknown;
  evaluate: Evaluate;
};
type Comprehension = { readonly iterable: Node; readonly step: Node };

/** Whether the name that a chain begins with costs one; the branches of a conditional are chains whose name is free. */
type Head = 'named' | 'free';

const asNode = (value: unknown): Node => value as Node;
const nodesOf = (args: unknown): Node[] => (Array.isArray(args) ? args.flat() : [args]).filter(isNode);
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'op' in value && 'meta' in value;

const ACCESS: ReadonlySet<string> = new Set(['.', '.?', '[]', '[?]']);

/** Returns what every evaluation of the node costs: it is charged at once where it is known that the node is evaluated. The rest charges itself. */
function instrument(node: Node, meter: CostMeter, head: Head = 'named'): number {
  const { alternate, macro } = node.meta;
  if (alternate?.op === 'comprehension') return instrumentComprehension(node, alternate, meter);
  if (alternate !== undefined) return 0;
  if (macro !== undefined) return instrumentMacro(node, macro, meter);
  if (ACCESS.has(node.op)) return instrumentAccess(node, meter, head);
  switch (node.op) {
    case 'id':
      return head === 'free' ? 0 : 1;
    case '?:':
      return instrumentConditional(node, meter);
    case 'call':
    case 'rcall':
      return instrumentCall(node, meter);
    case 'list':
      return isConstant(node) ? 0 : 10 + instrumentAll(nodesOf(node.args), meter);
    case 'map':
      return isConstant(node) ? 0 : 30 + instrumentAll(nodesOf(node.args), meter);
    case '!_':
    case '-_':
      return instrumentUnary(node, meter);
    case '&&':
    case '||': {
      const [left, right] = node.args as [Node, Node];
      chargeBefore(right, meter, instrument(right, meter));
      return instrument(left, meter);
    }
    default:
      return instrumentBinary(node, meter);
  }
}

const instrumentAll = (nodes: readonly Node[], meter: CostMeter): number =>
  nodes.reduce((units, each) => units + instrument(each, meter), 0);

/** For a node that may be evaluated or not. */
function chargeBefore(node: Node, meter: CostMeter, units: number): void {
  if (units === 0) return;
  const evaluate = evaluationOf(node);
  node.evaluate = (evaluator, _, context) => {
    meter.charge(units);
    return evaluate(evaluator, node, context);
  };
}

/** How a checked node is evaluated; nodes find it out for themselves when they are evaluated first. */
function evaluationOf(node: Node): Evaluate {
  const { evaluate, alternate, macro } = node.meta;
  if (Object.hasOwn(node, 'evaluate')) return node.evaluate;
  if (alternate !== undefined) return (evaluator, _, context) => alternate.evaluate(evaluator, alternate, context);
  if (macro !== undefined) return (evaluator, _, context) => macro.evaluate(evaluator, macro, context);
  return evaluate;
}

/** One step of a chain. One that is computed by a call costs the call as well; one that is itself a chain costs that chain. */
function instrumentAccess(node: Node, meter: CostMeter, head: Head): number {
  const [left, right] = node.args as [Node, unknown];
  const units = instrument(left, meter, head) + (isNode(right) ? instrument(right, meter) : 0);
  const step = isNode(right) && isChain(right) ? 0 : 1;
  // What is no chain becomes the head of one.
  const begin = isChain(left) || left.op === '?:' || head === 'free' ? 0 : 1;
  if (node.op !== '.?' && node.op !== '[?]' && left.checkedType?.kind !== 'optional') return units + begin + step;
  // What is absent costs no step.
  const evaluate = evaluationOf(node);
  node.evaluate = (evaluator, _, context) => {
    const value = evaluate(evaluator, node, context);
    if (!(value instanceof Optional) || value.hasValue()) meter.charge(step);
    return value;
  };
  return units + begin;
}

const isChain = ({ op, meta }: Node): boolean =>
  meta.alternate === undefined && meta.macro === undefined && (op === 'id' || ACCESS.has(op));

function instrumentConditional(node: Node, meter: CostMeter): number {
  const [condition, ...branches] = node.args as [Node, Node, Node];
  for (const each of branches) chargeBefore(each, meter, instrument(each, meter, isChain(each) ? 'free' : 'named'));
  return instrument(condition, meter);
}

/** `!!a` is `a` to cel-go, and -1 a constant. */
function instrumentUnary(node: Node, meter: CostMeter): number {
  let inner = asNode(node.args);
  let count = 1;
  while (inner.op === node.op) {
    inner = asNode(inner.args);
    count += 1;
  }
  return instrument(inner, meter) + (inner.op === 'value' ? 0 : count % 2);
}

function instrumentBinary(node: Node, meter: CostMeter): number {
  if (node.op === 'value') return 0;
  const [left, right] = node.args as [Node, Node];
  // Nothing is in an empty list, whatever it is.
  if (node.op === 'in' && right.op === 'list' && nodesOf(right.args).length === 0) return 0;
  const units = instrument(left, meter) + instrument(right, meter);
  const cost = binaryCost(node.op, left, right);
  if (typeof cost === 'number') return units + cost;
  const { handle } = node;
  node.handle = (a, b, self, evaluator) => {
    meter.charge(cost(a, b));
    return handle?.(a, b, self, evaluator);
  };
  return units;
}

/** Where the types of both sides leave the overload open, it is taken to cost one. */
function binaryCost(op: string, left: Node, right: Node): number | ((left: unknown, right: unknown) => number) {
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

const typeOf = (node: Node): Node['checkedType'] => node.checkedType ?? node.meta.alternate?.checkedType;

const CONVERSIONS: ReadonlySet<string> = new Set('bool bytes double duration dyn int string timestamp type uint'.split(' '));

/** What cel-go computes when it plans: literals of constants, and conversions of one. */
function isConstant(node: Node): boolean {
  if (node.meta.macro !== undefined || node.meta.alternate?.op === 'comprehension') return false;
  if (node.op === 'value' || node.meta.alternate !== undefined) return true;
  if (node.op === '-_') return asNode(node.args).op === 'value';
  if (node.op === 'list' || node.op === 'map') return nodesOf(node.args).every(isConstant);
  return node.op === 'call' && CONVERSIONS.has(nameOf(node)) && argumentsOf(node).length === 1 && argumentsOf(node).every(isConstant);
}

const nameOf = (node: Node): string => (node.args as [string])[0];
const argumentsOf = (node: Node): Node[] => (node.args as unknown[]).slice(1).flat().filter(isNode);

/** Conversions between texts and bytes go through them, where the checker sees that it is those that are converted. */
function overloadOf(node: Node): string {
  const name = nameOf(node);
  const [argument] = argumentsOf(node);
  const type = argument === undefined ? undefined : typeOf(argument)?.name;
  return (name === 'bytes' && type === 'string') || (name === 'string' && type === 'bytes') ? `${name}(${type})` : name;
}

function instrumentCall(node: Node, meter: CostMeter): number {
  if (isConstant(node)) return 0;
  const args = argumentsOf(node);
  const units = instrumentAll(args, meter);
  // `sets.contains(a, b)`: the namespace is no argument.
  const namespace = node.op === 'rcall' && args[0]?.op === 'id' && args[0].meta.alternate !== undefined ? args[0].args : undefined;
  const name = namespace === undefined ? overloadOf(node) : `${String(namespace)}.${nameOf(node)}`;
  const member = node.op === 'rcall' && namespace === undefined;
  const { handle } = node;
  node.handle = (values, second, third) => {
    const result = handle?.(values, second, third);
    const given = values as unknown[];
    meter.charge(callCost(name, member, namespace === undefined ? given : given.slice(1), result));
    return result;
  };
  return units;
}

/** `has`, whose steps cost one each, calls of functions of ours, and what has no cost of its own: `or`, `orValue`, `bind`. */
function instrumentMacro(node: Node, macro: Macro, meter: CostMeter): number {
  if (isNode(macro['operand'])) return instrument(macro['operand'], meter, 'free') + 1;
  if (isOwnCall(macro)) return instrumentOwnCall(nameOf(node), macro, meter);
  const { receiver, arg, val, exp } = macro;
  if (isNode(arg)) chargeBefore(arg, meter, instrument(arg, meter));
  return instrumentAll([receiver, val, exp].filter(isNode), meter);
}

const isOwnCall = (macro: Macro): macro is Macro & OwnCall => Array.isArray(macro['operands']) && typeof macro['call'] === 'function';

function instrumentOwnCall(name: string, macro: OwnCall, meter: CostMeter): number {
  const { call } = macro;
  macro.call = (values) => {
    const result = call(values);
    meter.charge(callCost(name, true, values, result));
    return result;
  };
  return instrumentAll(macro.operands.filter(isNode), meter);
}

/** What a comprehension costs beside its range and its predicate, as cel-go expands it. */
const COMPREHENSIONS: Readonly<Record<string, { readonly step: number; readonly broken: number; readonly result: number }>> = {
  exists: { step: 4, broken: 3, result: 1 },
  all: { step: 3, broken: 2, result: 1 },
  exists_one: { step: 0, broken: 0, result: 2 },
  map: { step: 0, broken: 0, result: 1 },
  filter: { step: 0, broken: 0, result: 1 },
};

function instrumentComprehension(node: Node, alternate: Node, meter: CostMeter): number {
  const { iterable, step } = alternate.args as Comprehension;
  const { step: perStep, broken, result } = COMPREHENSIONS[nameOf(node)] ?? { step: 0, broken: 0, result: 0 };
  const units = perStep + instrumentStep(step, meter);
  const evaluate = evaluationOf(step);
  let steps = 0;
  step.evaluate = (evaluator, _, context) => {
    steps += 1;
    meter.charge(units);
    return evaluate(evaluator, step, context);
  };
  const { handle } = alternate;
  alternate.handle = (items, ...rest) => {
    steps = 0;
    const value = handle?.(items, ...rest);
    if (steps < sizeOf(items)) meter.charge(broken);
    return value;
  };
  return result + instrument(iterable, meter);
}

/** A step is what is collected, or a conditional with it. */
function instrumentStep(step: Node, meter: CostMeter): number {
  switch (step.op) {
    case '?:': {
      const [predicate, ...branches] = step.args as [Node, Node, Node];
      for (const each of branches) chargeBefore(each, meter, instrumentStep(each, meter));
      return instrument(predicate, meter);
    }
    case 'accuPush':
      return 12 + instrument(asNode(step.args), meter);
    case 'accuInc':
      return 2;
    default:
      return 0;
  }
}
