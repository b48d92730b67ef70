import { callCost } from './call-cost.ts';
import type { CostMeter } from './cost-meter.ts';
import { instrumentComprehension, instrumentLoop, isAbsent, isLoop } from './loop-cost.ts';
import { binaryCost, isConstant, overloadOf } from './operation-cost.ts';
import { isOptionalElement } from './optional-elements.ts';
import type { OwnCall } from './own-calls.ts';
import {
  argumentsOf,
  asNode,
  chargeBefore,
  isNode,
  type Macro,
  nameOf,
  type Node,
  nodesOf,
  observe,
  observeFailure,
} from './syntax-node.ts';

/**
 * Makes a checked expression report to `meter` whenever it is evaluated. `ast` is cel-js's syntax tree, whose nodes carry their own
 * evaluation.
 *
 * Costs follow the shape that cel-go plans: a name costs one and so does each step from it (`a.b.c`: three), the steps alone where only
 * presence is tested or a conditional chooses; `&&`, `||` and `?:` cost what of them is evaluated; constants cost nothing, lists of
 * constants neither. An error is a value to cel-go: both operands of an operator are evaluated although the first fails, and the operation
 * costs as if they had a size of one. Only calls of more than two arguments, lists, maps and chains end where they fail.
 */
export function meterExpression(ast: unknown, meter: CostMeter): void {
  instrument(asNode(ast), meter);
}

/** Whether the name that a chain begins with costs one; the branches of a conditional are chains whose name is free. */
type Head = 'named' | 'free';

const ACCESS: ReadonlySet<string> = new Set(['.', '.?', '[]', '[?]']);

function instrument(node: Node, meter: CostMeter, head: Head = 'named'): void {
  const { alternate, macro } = node.meta;
  if (alternate?.op === 'comprehension') return instrumentComprehension(node, alternate, meter, instrument);
  if (alternate !== undefined) return;
  if (macro !== undefined) return instrumentMacro(node, macro, meter);
  if (ACCESS.has(node.op)) return instrumentAccess(node, meter, head);
  switch (node.op) {
    case 'value':
      return;
    case 'id':
      return chargeBefore(node, meter, head === 'free' ? 0 : 1);
    case '?:':
      return instrumentConditional(node, meter);
    case 'call':
    case 'rcall':
      return isOptionalElement(node) ? instrumentAll(argumentsOf(node), meter) : instrumentCall(node, meter);
    case 'list':
    case 'map':
      return instrumentLiteral(node, meter);
    case '!_':
    case '-_':
      return instrumentUnary(node, meter);
    case '&&':
    case '||':
      return instrumentAll(nodesOf(node.args), meter);
    default:
      return instrumentBinary(node, meter);
  }
}

function instrumentAll(nodes: readonly Node[], meter: CostMeter): void {
  for (const each of nodes) instrument(each, meter);
}

/** One step of a chain. One that is computed by a call costs the call as well; one that is itself a chain costs that chain. */
function instrumentAccess(node: Node, meter: CostMeter, head: Head): void {
  const [left, right] = node.args as [Node, unknown];
  instrument(left, meter, head);
  const step = isNode(right) && isChain(right) ? 0 : 1;
  // What is no chain becomes the head of one.
  const begin = isChain(left) || left.op === '?:' || head === 'free' ? 0 : 1;
  if (isNode(right)) instrument(right, meter);
  if (node.op === '.?' || node.op === '[?]' || left.checkedType?.kind === 'optional') {
    // What is absent, or asked for by what fails, costs no step: one less than what is there.
    if (isNode(right) && node.op === '[?]') observeFailure(right, () => meter.charge(step - 1));
    observe(node, (value) => meter.charge(isAbsent(value) ? step - 1 : step));
    return chargeBefore(node, meter, begin);
  }
  observe(left, () => meter.charge(step));
  chargeBefore(left, meter, begin);
}

const isChain = ({ op, meta }: Node): boolean =>
  meta.alternate === undefined && meta.macro === undefined && (op === 'id' || ACCESS.has(op));

function instrumentConditional(node: Node, meter: CostMeter): void {
  const [condition, ...branches] = node.args as [Node, Node, Node];
  instrument(condition, meter);
  for (const each of branches) instrument(each, meter, isChain(each) ? 'free' : 'named');
}

const LIST = 10;
const MAP = 30;

/** Elements are evaluated in their order, until one fails; the interpreter goes through a list from its end. */
function instrumentLiteral(node: Node, meter: CostMeter): void {
  if (isConstant(node)) return;
  const elements = nodesOf(node.args);
  instrumentAll(elements, meter);
  const isList = node.op === 'list';
  node.evaluate = (evaluator, _, context) => {
    meter.charge(isList ? LIST : MAP);
    const values = elements.map((each): unknown => each.evaluate(evaluator, each, context));
    if (isList) return values;
    return Object.fromEntries(elements.flatMap((_key, i) => (i % 2 === 0 ? [[values[i], values[i + 1]]] : [])));
  };
}

/** `!!a` is `a` to cel-go, and -1 a constant. */
function instrumentUnary(node: Node, meter: CostMeter): void {
  let inner = asNode(node.args);
  let count = 1;
  while (inner.op === node.op) {
    inner = asNode(inner.args);
    count += 1;
  }
  instrument(inner, meter);
  chargeBefore(node, meter, inner.op === 'value' ? 0 : count % 2);
}

function instrumentBinary(node: Node, meter: CostMeter): void {
  const [left, right] = node.args as [Node, Node];
  // Nothing is in an empty list, whatever it is.
  if (node.op === 'in' && right.op === 'list' && nodesOf(right.args).length === 0) return;
  const cost = binaryCost(node.op, left, right);
  const evaluate = instrumentOperation(meter, {
    operands: [left, right],
    apply: ([a, b], evaluator) => node.handle?.(a, b, node, evaluator),
    cost: typeof cost === 'number' ? cost : ([a, b]) => cost(a, b),
  });
  node.evaluate = (evaluator, _, context) => evaluate(evaluator, context);
}

function instrumentCall(node: Node, meter: CostMeter): void {
  if (isConstant(node)) return;
  const args = argumentsOf(node);
  // `sets.contains(a, b)`: the namespace is no argument.
  const [namespace] = node.op === 'rcall' && args[0]?.op === 'id' && args[0].meta.alternate !== undefined ? args : [];
  const name = namespace === undefined ? overloadOf(node) : `${String(namespace.args)}.${nameOf(node)}`;
  const member = node.op === 'rcall' && namespace === undefined;
  const before = namespace?.meta.alternate === undefined ? [] : [namespace.meta.alternate.args];
  const evaluate = instrumentOperation(meter, {
    operands: namespace === undefined ? args : args.slice(1),
    ...(hasCompiledPattern(nameOf(node), args) ? { endsAtFailure: true } : {}),
    apply: (values, evaluator) =>
      node.op === 'call' ? node.handle?.(values, node, evaluator) : node.handle?.([...before, ...values], evaluator, node),
    cost: (values, result) => callCost(name, member, values, result),
  });
  node.evaluate = (evaluator, _, context) => evaluate(evaluator, context);
}

const PATTERNS: ReadonlySet<string> = new Set(['matches', 'find', 'findAll']);

/** cel-go plans such a call anew. */
const hasCompiledPattern = (name: string, [, pattern]: readonly Node[]): boolean => PATTERNS.has(name) && pattern?.op === 'value';

type Operation = {
  readonly operands: readonly Node[];
  /** Whether it costs nothing, and no further operand is evaluated, where an operand before the last one fails. */
  readonly endsAtFailure?: boolean;
  apply(values: readonly unknown[], evaluator: unknown): unknown;
  readonly cost: number | ((values: readonly unknown[], result: unknown) => number);
};

/** An operation costs also where it, or what it is applied to, fails: an error is of size one. */
function instrumentOperation(
  meter: CostMeter,
  { operands, endsAtFailure = operands.length > 2, apply, cost }: Operation,
): (evaluator: unknown, context: unknown) => unknown {
  instrumentAll(operands, meter);
  return (evaluator, context) => {
    const values: unknown[] = [];
    let failure: { readonly error: unknown } | undefined;
    for (const each of operands) {
      try {
        values.push(each.evaluate(evaluator, each, context));
      } catch (error) {
        failure ??= { error };
        values.push(undefined);
        if (meter.stopped !== undefined || (endsAtFailure && values.length < operands.length)) throw error;
      }
    }
    let result: unknown;
    try {
      if (failure === undefined) result = apply(values, evaluator);
    } catch (error) {
      failure = { error };
    }
    if (typeof cost === 'number') meter.charge(cost);
    else meter.chargeCall(() => cost(values, result));
    if (failure !== undefined) throw failure.error;
    return result;
  };
}

/** `has`, whose steps cost one each, calls of functions of ours, and what has no cost of its own: `or`, `orValue`, `bind`. */
function instrumentMacro(node: Node, macro: Macro, meter: CostMeter): void {
  if (isNode(macro['operand'])) return instrumentPresence(macro['operand'], meter);
  if (isOwnCall(macro)) {
    const { operands, call } = macro;
    const nodes = operands.filter(isNode);
    const evaluate = instrumentOperation(meter, {
      operands: nodes,
      ...(hasCompiledPattern(nameOf(node), nodes) ? { endsAtFailure: true } : {}),
      apply: call,
      cost: (values, result) => callCost(nameOf(node), true, values, result),
    });
    macro.evaluate = (evaluator, _, context) => evaluate(evaluator, context);
  } else if (isLoop(macro)) instrumentLoop(nameOf(node), macro, meter, instrument);
  else {
    const { receiver, arg, val, exp } = macro;
    instrumentAll([receiver, arg, val, exp].filter(isNode), meter);
  }
}

/** A field of what is absent is not looked for. One of what a conditional chooses is looked for without a cost. */
function instrumentPresence(operand: Node, meter: CostMeter): void {
  instrument(operand, meter, 'free');
  if (headOf(operand).op === '?:') observeFailure(operand, () => meter.charge(-1));
  else observe(operand, (value) => meter.charge(isAbsent(value) ? 0 : 1));
}

const headOf = (node: Node): Node => (ACCESS.has(node.op) ? headOf((node.args as [Node])[0]) : node);

const isOwnCall = (macro: Macro): macro is Macro & OwnCall => Array.isArray(macro['operands']) && typeof macro['call'] === 'function';
