import { Optional } from '@marcbachmann/cel-js';
import { callCost, sizeOf } from './call-cost.ts';
import type { CostMeter } from './cost-meter.ts';
import type { Loop } from './macro-interpreter.ts';
import { isConstant, sortOf } from './operation-cost.ts';
import {
  argumentsOf,
  asNode,
  chargeBefore,
  evaluationOf,
  isNode,
  type Macro,
  nameOf,
  type Node,
  nodesOf,
  observe,
  observeFailure,
  typeOf,
} from './syntax-node.ts';

/** Has a node inside of a loop report what it costs. */
type Instrument = (node: Node, meter: CostMeter) => void;
type Fold = { readonly iterable: Node; readonly step: Node; readonly errorsAreFatal: boolean };
type FoldContext = { readonly accuValue: unknown };

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
/** The cost of counting one more item. */
const COUNTED = 2;
/** The cost of adding an item to a list: the list of one is made anew, unless the item is constant. */
const ADDED = 2;
const LIST_OF_ONE = 10;

/** The cost of a comprehension beside its range and its body, as cel-go expands it. */
const COMPREHENSIONS: ReadonlyMap<string, Comprehension> = new Map([
  ['exists', EXISTS],
  ['all', ALL],
  ['exists_one', EXISTS_ONE],
  ['map', { step: 0, result: 1 }],
  ['filter', { step: 0, result: 1 }],
]);

/**
 * A comprehension of the interpreter. One that fails goes on to its end, as cel-go's do: with the error in the place of what was collected,
 * which every further step passes on. It fails for its first item that cannot be collected, or for the last one whose predicate fails.
 */
export function instrumentComprehension(node: Node, alternate: Node, meter: CostMeter, instrument: Instrument): void {
  const { iterable, step, errorsAreFatal } = alternate.args as Fold;
  const { step: perStep, broken = 0, result } = COMPREHENSIONS.get(nameOf(node)) ?? { step: 0, result: 0 };
  const failures: unknown[] = [];
  let steps = 0;
  instrument(iterable, meter);
  instrumentStep(step, meter, instrument, (error) => {
    if (failures.length === 0) failures.push(error);
  });
  chargeBefore(step, meter, perStep);
  const evaluate = evaluationOf(step);
  step.evaluate = (evaluator, _, context) => {
    steps += 1;
    if (!errorsAreFatal) return evaluate(evaluator, step, context);
    try {
      return evaluate(evaluator, step, context);
    } catch (error) {
      if (meter.stopped !== undefined) throw error;
      failures.splice(0, 1, error);
      return (context as FoldContext).accuValue;
    }
  };
  const { handle } = alternate;
  alternate.handle = (items, ...rest) => {
    steps = 0;
    failures.length = 0;
    if (typeof items === 'object' && items !== null) meter.charge(result);
    const value = handle?.(items, ...rest);
    if (steps < sizeOf(items)) meter.charge(broken);
    if (failures.length > 0) throw failures[0];
    return value;
  };
}

/** A step is what is collected, or a conditional with it. */
function instrumentStep(step: Node, meter: CostMeter, instrument: Instrument, failed: (error: unknown) => void): void {
  if (step.op === '?:') {
    const [predicate, ...branches] = step.args as [Node, Node, Node];
    instrument(predicate, meter);
    for (const each of branches) instrumentStep(each, meter, instrument, failed);
  } else if (step.op === 'accuInc') chargeBefore(step, meter, COUNTED);
  else if (step.op === 'accuPush') {
    instrumentAddition(asNode(step.args), meter, instrument);
    const evaluate = evaluationOf(step);
    step.evaluate = (evaluator, _, context) => {
      try {
        return evaluate(evaluator, step, context);
      } catch (error) {
        if (meter.stopped !== undefined) throw error;
        failed(error);
        return (context as FoldContext).accuValue;
      }
    };
  }
}

function instrumentAddition(item: Node, meter: CostMeter, instrument: Instrument): void {
  const units = ADDED + (isConstant(item) ? 0 : LIST_OF_ONE);
  instrument(item, meter);
  chargeBefore(item, meter, units);
}

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

export const isLoop = (macro: Macro): macro is Macro & Loop => isNode(macro['receiver']) && isNode(macro['body']);

/** A comprehension of ours: of two variables, or of one that stands for an optional's value. */
export function instrumentLoop(name: string, loop: Loop, meter: CostMeter, instrument: Instrument): void {
  const receiver = asNode(loop.receiver);
  const body = asNode(loop.body);
  instrument(receiver, meter);
  const costs = LOOPS.get(name);
  if (costs === undefined) return instrumentOptionalLoop(name, { receiver, body, variable: loop.variable }, meter, instrument);
  if (isNode(loop.filter)) instrument(loop.filter, meter);
  (name === 'transformList' || name === 'sortBy' ? instrumentAddition : instrument)(body, meter, instrument);
  const sorting = sortOf(typeOf(body));
  const keys: unknown[] = [];
  let [size, steps] = [0, 0];
  const sort = (): void => {
    // Keys of which one failed are an error as a whole.
    if (name === 'sortBy' && steps === size) meter.chargeCall(() => callCost(sorting, true, [keys.length < size ? undefined : keys], keys));
  };
  if (name === 'sortBy')
    observeFailure(receiver, () => {
      meter.charge(costs.result - 1);
      meter.chargeCall(() => callCost(sorting, true, [undefined], undefined));
    });
  observe(receiver, (items) => {
    keys.length = 0;
    [size, steps] = [sizeOf(items), 0];
    meter.charge(costs.result);
    sort();
  });
  const evaluate = evaluationOf(body);
  body.evaluate = (evaluator, _, context) => {
    steps += 1;
    meter.charge(costs.step);
    try {
      const value = evaluate(evaluator, body, context);
      keys.push(value);
      if (costs.broken !== undefined && value === (name === 'exists') && steps < size) meter.charge(costs.broken);
      if (costs === EXISTS_ONE && value === true) meter.charge(COUNTED);
      return value;
    } finally {
      sort();
    }
  };
  loop.skipped = () => meter.charge(1);
}

type OptionalLoop = { readonly receiver: Node; readonly body: Node; readonly variable: string };

/**
 * An optional that has a value is evaluated again for it, when the body first asks for it. `optMap` makes an optional of what comes out.
 */
function instrumentOptionalLoop(name: string, { receiver, body, variable }: OptionalLoop, meter: CostMeter, instrument: Instrument): void {
  instrument(body, meter);
  chargeBefore(body, meter, name === 'optMap' ? 1 : 0);
  const evaluateOptional = evaluationOf(receiver);
  let again = 0;
  let paid = 0;
  receiver.evaluate = (evaluator, _, context) => {
    const repeated = (): number => meter.cost - meter.onlyOnce;
    const before = repeated();
    // Whether there is a value is asked even of an error.
    meter.charge(1);
    const value = evaluateOptional(evaluator, receiver, context);
    again = repeated() - before;
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
  const evaluate = evaluationOf(body);
  body.evaluate = (evaluator, _, context) => {
    try {
      return evaluate(evaluator, body, context);
    } finally {
      meter.onlyOnce -= paid;
      paid = 0;
    }
  };
}

export const isAbsent = (value: unknown): boolean => value instanceof Optional && !value.hasValue();

/** Where an expression names a variable, and not one of an inner macro. */
function namedIn(node: Node, variable: string): Node[] {
  if (node.op === 'id') return node.args === variable ? [node] : [];
  const { alternate, macro } = node.meta;
  const isMacro = alternate?.op === 'comprehension' || (macro !== undefined && isLoop(macro));
  const [receiver, ...args] = argumentsOf(node);
  const isShadowed = isMacro && receiver !== undefined && args.slice(0, -1).some(({ op, args: name }) => op === 'id' && name === variable);
  return (isShadowed ? [receiver] : nodesOf(node.args)).flatMap((each) => namedIn(each, variable));
}
