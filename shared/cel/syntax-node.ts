import type { CostMeter } from './cost-meter.ts';

/** A node of cel-js 8, as far as evaluation is concerned. */
export type Evaluate = (evaluator: unknown, node: unknown, context: unknown) => unknown;
export type Macro = { evaluate: Evaluate } & Readonly<Record<string, unknown>>;
export type Node = {
  readonly op: string;
  readonly args: unknown;
  readonly meta: { readonly evaluate: Evaluate; readonly alternate?: Node; readonly macro?: Macro };
  readonly checkedType?: StaticType;
  handle?: (...parts: unknown[]) => unknown;
  evaluate: Evaluate;
};
export type StaticType = { readonly kind: string; readonly name: string; readonly valueType?: StaticType };

export const asNode = (value: unknown): Node => value as Node;
export const nodesOf = (args: unknown): Node[] => (Array.isArray(args) ? args.flat() : [args]).filter(isNode);
export const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'op' in value && 'meta' in value;

export const typeOf = (node: Node): Node['checkedType'] => node.checkedType ?? node.meta.alternate?.checkedType;

export const nameOf = (node: Node): string => (node.args as [string])[0];
export const argumentsOf = (node: Node): Node[] => (Array.isArray(node.args) ? node.args : []).slice(1).flat().filter(isNode);

/** How a checked node is evaluated; nodes find it out for themselves when they are evaluated first. */
export function evaluationOf(node: Node): Evaluate {
  const { evaluate, alternate, macro } = node.meta;
  if (Object.hasOwn(node, 'evaluate')) return node.evaluate;
  if (alternate !== undefined) return (evaluator, _, context) => alternate.evaluate(evaluator, alternate, context);
  if (macro !== undefined) return (evaluator, _, context) => macro.evaluate(evaluator, macro, context);
  return evaluate;
}

/** Has `seen` hear what a node comes to, whenever it is evaluated without an error. */
export function observe(node: Node, seen: (value: unknown) => void): void {
  const evaluate = evaluationOf(node);
  node.evaluate = (evaluator, _, context) => {
    const value = evaluate(evaluator, node, context);
    seen(value);
    return value;
  };
}

/** Has `seen` hear why, whenever evaluating a node fails. */
export function observeFailure(node: Node, seen: (error: unknown) => void): void {
  const evaluate = evaluationOf(node);
  node.evaluate = (evaluator, _, context) => {
    try {
      return evaluate(evaluator, node, context);
    } catch (error) {
      seen(error);
      throw error;
    }
  };
}

/** Charges whenever a node is evaluated, whatever it comes to. */
export function chargeBefore(node: Node, meter: CostMeter, units: number): void {
  if (units === 0) return;
  const evaluate = evaluationOf(node);
  node.evaluate = (evaluator, _, context) => {
    meter.charge(units);
    return evaluate(evaluator, node, context);
  };
}
