/** A parsed expression. `at` is where cel-go's findings point: at the operator, the dot, or the opening parenthesis. */
export type Expression =
  | { readonly kind: 'literal'; readonly at: number; readonly type: LiteralType; readonly value: string | bigint | number | boolean | null }
  | { readonly kind: 'ident'; readonly at: number; readonly name: string }
  | { readonly kind: 'select'; readonly at: number; readonly operand: Expression; readonly field: string; readonly isTest: boolean }
  | {
      readonly kind: 'call';
      readonly at: number;
      readonly name: string;
      readonly target?: Expression;
      readonly args: readonly Expression[];
    }
  | { readonly kind: 'list'; readonly at: number; readonly elements: readonly Element[] }
  | { readonly kind: 'map'; readonly at: number; readonly entries: readonly Entry[] }
  | { readonly kind: 'struct'; readonly at: number; readonly name: string; readonly values: readonly Expression[] }
  | Fold;

export type LiteralType = 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'bool' | 'null';
export type Element = { readonly value: Expression; readonly isOptional: boolean };
export type Entry = { readonly key: Expression; readonly value: Expression; readonly isOptional: boolean };

/** What a macro stands for: `step` computes the accumulator anew for each item of the range. */
export type Fold = {
  readonly kind: 'fold';
  readonly at: number;
  readonly range: Expression;
  /** Of each item. With two, the first is the index or the key. */
  readonly variables: readonly string[];
  readonly accumulator: string;
  readonly init: Expression;
  readonly condition: Expression;
  readonly step: Expression;
  readonly result: Expression;
};

/** What is wrong at a place of an expression. */
export type Problem = { readonly at: number; readonly message: string };
