import type { Expression } from '../checker/expression.ts';
import { type Range, UNKNOWN } from './estimate-range.ts';
import type { StaticType } from '../checker/static-type.ts';

/** The argument of a call, as far as what the call costs depends on it. */
export type Operand = {
  /** The way from a variable to it through what is declared: `self`, names of fields, `@items`, `@keys`, `@values`. */
  readonly path: readonly string[] | undefined;
  readonly type: StaticType;
  /** Undefined for the elements of a list, which stand nowhere by themselves. */
  readonly node: Expression | undefined;
  readonly size: Range | undefined;
};

/** How long what lies at a path can be by its declaration: characters, bytes, items or entries. Undefined where nothing is declared. */
export type SizeOfPath = (path: readonly string[]) => Range | undefined;

/** What a call costs by itself, without its arguments, and how long its result may be. */
export type CallCost = { readonly cost: Range; readonly size?: Range | undefined };

/** The size of an operand: as computed, else as declared. */
export const sizeOfOperand = (operand: Operand, declared: SizeOfPath): Range =>
  operand.size ?? (operand.path === undefined || operand.path.length === 0 ? undefined : declared(operand.path)) ?? UNKNOWN;
