import { isUtf8 } from 'node:buffer';
import { Optional } from '@marcbachmann/cel-js';
import { FUNCTIONS } from './checker/declarations.ts';
import { DYN, writeType } from './checker/static-type.ts';
import type { Macro, MacroNode } from './macro-interpreter.ts';
import { OWN_FUNCTIONS, type OwnFunction } from './string-functions.ts';
import { asNode, evaluationOf, type Node as SyntaxNode, observeFailure } from './syntax-node.ts';
import { INVALID_UTF8 } from './values.ts';

type Node = MacroNode & { setMeta?(name: 'macro', macro: object): unknown };

/**
 * Has calls evaluated by cel-go's rules where the interpreter has others: `has()` takes a field of any expression, not of variables only,
 * and functions on strings read patterns and places as Go does. The calls stay what they are in the parsed expression.
 */
export function replaceCalls(node: unknown): void {
  if (Array.isArray(node)) {
    for (const each of node) replaceCalls(each);
    return;
  }
  if (!isNode(node)) return;
  replaceCalls(node.args);
  const macro = macroFor(node);
  if (macro !== undefined) node.setMeta?.('macro', macro);
}

/**
 * Has the rest come out as in cel-go, for a checked expression: `string(bytes)` fails on what is no UTF-8, nothing is in an empty list,
 * whatever it is, and of two sides of `&&` or `||` that fail the first one tells why.
 */
export function correctEvaluation(node: unknown): void {
  if (Array.isArray(node)) {
    for (const each of node) correctEvaluation(each);
    return;
  }
  if (!isNode(node)) return;
  correctEvaluation(node.args);
  const { op, args } = node;
  if (!Array.isArray(args)) return;
  if (op === 'call' && args[0] === 'string') refuseInvalidText(asNode(node));
  else if (op === 'in' && isEmptyList(args[1])) asNode(node).evaluate = () => false;
  else if (op === '&&' || op === '||') tellFirstError(asNode(node));
}

const isEmptyList = (node: unknown): boolean => isNode(node) && node.op === 'list' && Array.isArray(node.args) && node.args.length === 0;

function refuseInvalidText(call: SyntaxNode): void {
  const { handle } = call;
  call.handle = (values, ...rest) => {
    const [bytes] = values as [unknown];
    if (bytes instanceof Uint8Array && !isUtf8(bytes)) throw new Error(INVALID_UTF8);
    return handle?.(values, ...rest);
  };
}

function tellFirstError(node: SyntaxNode): void {
  const [left] = node.args as [SyntaxNode];
  const evaluate = evaluationOf(node);
  const errors: unknown[] = [];
  node.evaluate = (evaluator, _, context) => {
    errors.length = 0;
    try {
      return evaluate(evaluator, node, context);
    } catch (error) {
      errors.push(error);
      throw errors[0];
    }
  };
  observeFailure(left, (error) => errors.push(error));
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'op' in value && 'args' in value;

function macroFor({ op, args }: Node): Macro | undefined {
  if (!Array.isArray(args)) return undefined;
  const [name, first, second]: unknown[] = args;
  if (op === 'call' && name === 'has' && Array.isArray(first)) return presenceOf(first[0]);
  const own = op === 'rcall' ? OWN_FUNCTIONS.get(String(name)) : undefined;
  return own === undefined || !isNode(first) || !Array.isArray(second)
    ? undefined
    : calling(String(name), own, first, second.filter(isNode));
}

/** A call of a function of ours on a value. The cost meter wraps `call`. */
export type OwnCall = Macro & { readonly operands: readonly MacroNode[]; call(values: readonly unknown[]): unknown };

/** Whether a value has a field. */
export type Presence = Macro & { readonly operand: MacroNode };

function calling(name: string, own: OwnFunction, receiver: MacroNode, args: readonly MacroNode[]): OwnCall {
  const operands = [receiver, ...args];
  const macro: OwnCall = {
    operands,
    call: ([first, ...others]) => own(first, others),
    typeCheck: (checker, _macro, scope) => {
      for (const each of operands) checker.check(each, scope);
      return checker.getType(resultOf(name));
    },
    evaluate: (evaluator, _macro, scope) => macro.call(operands.map((each) => evaluator.run(each, scope))),
  };
  return macro;
}

/** All overloads of a function on strings have one result. */
const resultOf = (name: string): string => writeType(FUNCTIONS.get(name)?.[0]?.result ?? DYN);

function presenceOf(subject: unknown): Presence | undefined {
  if (!isNode(subject) || subject.op !== '.' || !Array.isArray(subject.args)) return undefined;
  const [operand, field]: unknown[] = subject.args;
  if (!isNode(operand) || typeof field !== 'string') return undefined;
  return {
    operand,
    typeCheck: (checker, _macro, scope) => {
      checker.check(operand, scope);
      return checker.getType('bool');
    },
    evaluate: (evaluator, _macro, scope) => isPresent(evaluator.run(operand, scope), field),
  };
}

function isPresent(value: unknown, field: string): boolean {
  if (value instanceof Optional) return value.hasValue() && isPresent(value.value(), field);
  if (Array.isArray(value)) throw new Error("unsupported index type 'string' in list");
  if (typeof value !== 'object' || value === null) return false;
  const found: unknown = value instanceof Map ? value.get(field) : Object.hasOwn(value, field) ? Reflect.get(value, field) : undefined;
  return found !== undefined;
}
