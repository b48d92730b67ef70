import { Optional } from '@marcbachmann/cel-js';
import { callCost, comparisonCost, concatenationCost, sizeOf } from './call-cost.ts';
import type { CostMeter } from './cost-meter.ts';
import type { Loop } from './macro-interpreter.ts';
import { isOptionalElement } from './optional-elements.ts';
import type { OwnCall } from './own-calls.ts';
import {
  argumentsOf,
  asNode,
  evaluationOf,
  isNode,
  type Macro,
  nameOf,
  type Node,
  nodesOf,
  observe,
  type StaticType,
  typeOf,
} from './syntax-node.ts';

/**
 * Makes a checked expression report to `meter` whenever it is evaluated. `ast` is cel-js's syntax tree, whose nodes carry their own
 * evaluation.
 *
 * Costs follow the shape that cel-go plans: a name costs one and so does each step from it (`a.b.c`: three), the steps alone where only
 * presence is tested or a conditional chooses; `&&`, `||` and `?:` cost what of them is evaluated; constants cost nothing, lists of
 * constants neither.
 */
export function meterExpression(ast: unknown, meter: CostMeter): void {
  const root = asNode(ast);
  chargeBefore(root, meter, instrument(root, meter, 'named'));
}

type Fold = { readonly iterable: Node; readonly step: Node };

/** Whether the name that a chain begins with costs one; the branches of a conditional are chains whose name is free. */
type Head = 'named' | 'free';

const ACCESS: ReadonlySet<string> = new Set(['.', '.?', '[]', '[?]']);

/**
 * Returns what every evaluation of the node costs: it is charged at once where it is known that the node is evaluated. The rest charges
 * itself.
 */
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
      return isOptionalElement(node) ? instrumentAll(argumentsOf(node), meter) : instrumentCall(node, meter);
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

/** One step of a chain. One that is computed by a call costs the call as well; one that is itself a chain costs that chain. */
function instrumentAccess(node: Node, meter: CostMeter, head: Head): number {
  const [left, right] = node.args as [Node, unknown];
  const units = instrument(left, meter, head) + (isNode(right) ? instrument(right, meter) : 0);
  const step = isNode(right) && isChain(right) ? 0 : 1;
  // What is no chain becomes the head of one.
  const begin = isChain(left) || left.op === '?:' || head === 'free' ? 0 : 1;
  if (node.op !== '.?' && node.op !== '[?]' && left.checkedType?.kind !== 'optional') return units + begin + step;
  // What is absent costs no step: one less than what is there.
  observe(node, (value) => meter.charge(isAbsent(value) ? step - 1 : step));
  return units + begin;
}

const isAbsent = (value: unknown): boolean => value instanceof Optional && !value.hasValue();

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

const CONVERSIONS: ReadonlySet<string> = new Set('bool bytes double duration dyn int string timestamp type uint'.split(' '));

/** What cel-go computes when it plans: literals of constants, and conversions of one. */
function isConstant(node: Node): boolean {
  if (node.meta.macro !== undefined || node.meta.alternate?.op === 'comprehension') return false;
  if (node.op === 'value' || node.meta.alternate !== undefined) return true;
  if (node.op === '-_') return asNode(node.args).op === 'value';
  if (node.op === 'list' || node.op === 'map') return nodesOf(node.args).every(isConstant);
  return node.op === 'call' && CONVERSIONS.has(nameOf(node)) && argumentsOf(node).length === 1 && argumentsOf(node).every(isConstant);
}

/**
 * Conversions between texts and bytes go through them, where the checker sees that it is those that are converted. Sorting costs only where
 * it sees what is sorted.
 */
function overloadOf(node: Node): string {
  const name = nameOf(node);
  const [argument] = argumentsOf(node);
  const type = argument === undefined ? undefined : typeOf(argument)?.name;
  if (name === 'sort') return sortOf(argument === undefined ? undefined : typeOf(argument)?.valueType);
  return (name === 'bytes' && type === 'string') || (name === 'string' && type === 'bytes') ? `${name}(${type})` : name;
}

const sortOf = (keys: StaticType | undefined): string => (keys === undefined || keys.kind === 'dyn' ? 'sort(dyn)' : 'sort');

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
    const given = namespace === undefined ? (values as unknown[]) : (values as unknown[]).slice(1);
    const called = (): unknown => handle?.(values, second, third);
    return charged(called, (result) => meter.charge(callCost(name, member, given, result)));
  };
  return units;
}

/** A call costs also where it fails: an error is a result of size one. */
function charged(call: () => unknown, charge: (result: unknown) => void): unknown {
  let result: unknown;
  try {
    result = call();
  } catch (error) {
    charge(undefined);
    throw error;
  }
  charge(result);
  return result;
}

/** `has`, whose steps cost one each, calls of functions of ours, and what has no cost of its own: `or`, `orValue`, `bind`. */
function instrumentMacro(node: Node, macro: Macro, meter: CostMeter): number {
  if (isNode(macro['operand'])) return instrumentPresence(macro['operand'], meter);
  if (isOwnCall(macro)) return instrumentOwnCall(nameOf(node), macro, meter);
  if (isLoop(macro)) return instrumentLoop(nameOf(node), macro, meter);
  const { receiver, arg, val, exp } = macro;
  if (isNode(arg)) chargeBefore(arg, meter, instrument(arg, meter));
  return instrumentAll([receiver, val, exp].filter(isNode), meter);
}

/** A field of what is absent is not looked for. One of what a conditional chooses is looked for without a cost. */
function instrumentPresence(operand: Node, meter: CostMeter): number {
  const units = instrument(operand, meter, 'free');
  if (headOf(operand).op !== '?:') observe(operand, (value) => meter.charge(isAbsent(value) ? 0 : 1));
  return units;
}

const headOf = (node: Node): Node => (ACCESS.has(node.op) ? headOf((node.args as [Node])[0]) : node);

const isOwnCall = (macro: Macro): macro is Macro & OwnCall => Array.isArray(macro['operands']) && typeof macro['call'] === 'function';

function instrumentOwnCall(name: string, macro: OwnCall, meter: CostMeter): number {
  const { call } = macro;
  macro.call = (values) =>
    charged(
      () => call(values),
      (result) => meter.charge(callCost(name, true, values, result)),
    );
  return instrumentAll(macro.operands.filter(isNode), meter);
}

type Comprehension = {
  /** For each item, beside the body. */
  readonly step: number;
  /** For finding out that the rest of the items is not needed. */
  readonly broken?: number;
  readonly result: number;
};
const ALL: Comprehension = { step: 3, broken: 2, result: 1 };
const EXISTS: Comprehension = { step: 4, broken: 3, result: 1 };
const EXISTS_ONE: Comprehension = { step: 0, result: 2 };
/** What counting one more item costs. */
const COUNTED = 2;
/** What adding an item to a list costs: the list of one is made anew, unless the item is constant. */
const ADDED = 2;
const LIST_OF_ONE = 10;

/** What a comprehension costs beside its range and its body, as cel-go expands it. */
const COMPREHENSIONS: ReadonlyMap<string, Comprehension> = new Map([
  ['exists', EXISTS],
  ['all', ALL],
  ['exists_one', EXISTS_ONE],
  ['map', { step: 0, result: 1 }],
  ['filter', { step: 0, result: 1 }],
]);

function instrumentComprehension(node: Node, alternate: Node, meter: CostMeter): number {
  const { iterable, step } = alternate.args as Fold;
  const { step: perStep, broken = 0, result } = COMPREHENSIONS.get(nameOf(node)) ?? { step: 0, result: 0 };
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
      return additionCost(asNode(step.args), meter);
    case 'accuInc':
      return COUNTED;
    default:
      return 0;
  }
}

const additionCost = (item: Node, meter: CostMeter): number => ADDED + (isConstant(item) ? 0 : LIST_OF_ONE + instrument(item, meter));

const LOOPS: ReadonlyMap<string, Comprehension> = new Map([
  ['exists', EXISTS],
  ['all', ALL],
  ['existsOne', EXISTS_ONE],
  ['exists_one', EXISTS_ONE],
  ['transformList', { step: 0, result: 1 }],
  ['transformMap', { step: 3, result: 1 }],
  ['transformMapEntry', { step: 2, result: 1 }],
  // The list is named for its keys and for itself.
  ['sortBy', { step: 0, result: 3 }],
]);

const isLoop = (macro: Macro): macro is Macro & Loop => isNode(macro['receiver']) && isNode(macro['body']);

/** A comprehension of ours: of two variables, or of one that stands for an optional's value. */
function instrumentLoop(name: string, loop: Loop, meter: CostMeter): number {
  const receiver = asNode(loop.receiver);
  const body = asNode(loop.body);
  const costs = LOOPS.get(name);
  if (costs === undefined) return instrumentOptionalLoop(name, { receiver, body, variable: loop.variable }, meter);
  if (isNode(loop.filter)) chargeBefore(loop.filter, meter, instrument(loop.filter, meter));
  const collects = name === 'transformList' || name === 'sortBy';
  chargeBefore(body, meter, costs.step + (collects ? additionCost(body, meter) : instrument(body, meter)));
  const units = costs.result + instrument(receiver, meter);
  const sorting = sortOf(typeOf(body));
  const keys: unknown[] = [];
  let size = 0;
  observe(receiver, (items) => {
    keys.length = 0;
    size = sizeOf(items);
    if (name === 'sortBy' && size === 0) meter.charge(callCost(sorting, true, [keys], keys));
  });
  observe(body, (value) => {
    keys.push(value);
    if (costs.broken !== undefined && value === (name === 'exists') && keys.length < size) meter.charge(costs.broken);
    if (costs === EXISTS_ONE && value === true) meter.charge(COUNTED);
    if (name === 'sortBy' && keys.length === size) meter.charge(callCost(sorting, true, [keys], keys));
  });
  return units;
}

type OptionalLoop = { readonly receiver: Node; readonly body: Node; readonly variable: string };

/**
 * An optional that has a value is evaluated again for it, when the body first asks for it. `optMap` makes an optional of what comes out.
 */
function instrumentOptionalLoop(name: string, { receiver, body, variable }: OptionalLoop, meter: CostMeter): number {
  const units = instrument(receiver, meter);
  chargeBefore(body, meter, instrument(body, meter) + (name === 'optMap' ? 1 : 0));
  const evaluate = evaluationOf(receiver);
  let again = 0;
  let paid = 0;
  receiver.evaluate = (evaluator, _, context) => {
    const repeated = (): number => meter.cost - meter.onlyOnce;
    const before = repeated();
    const value = evaluate(evaluator, receiver, context);
    again = units + (repeated() - before) + 1;
    if (isAbsent(value)) meter.charge(1);
    return value;
  };
  for (const each of namedIn(body, variable)) {
    observe(each, () => {
      meter.onlyOnce += again;
      paid += again;
      meter.charge(again);
      again = 0;
    });
  }
  observe(body, () => {
    meter.onlyOnce -= paid;
    paid = 0;
  });
  return units + 1;
}

/** Where an expression names a variable, and not one of an inner macro. */
function namedIn(node: Node, variable: string): Node[] {
  if (node.op === 'id') return node.args === variable ? [node] : [];
  const { alternate, macro } = node.meta;
  const isMacro = alternate?.op === 'comprehension' || (macro !== undefined && isLoop(macro));
  const [receiver, ...args] = argumentsOf(node);
  const isShadowed = isMacro && receiver !== undefined && args.slice(0, -1).some(({ op, args: name }) => op === 'id' && name === variable);
  return (isShadowed ? [receiver] : nodesOf(node.args)).flatMap((each) => namedIn(each, variable));
}
