import type { Environment } from '@marcbachmann/cel-js';

/** What the interpreter's macros work with; the library does not declare it. */
export type MacroNode = { readonly op: string; readonly args: unknown };
export type MacroType = {
  readonly kind: string;
  readonly name: string;
  readonly keyType?: MacroType;
  readonly valueType?: MacroType;
  /** Of an empty list or map: it may hold anything. */
  readonly hasPlaceholderType?: boolean;
};
export type MacroScope = {
  forkWithVariable(name: string, type: MacroType): MacroScope;
  /** The same scope within another. */
  reuse(parent: MacroScope): MacroScope;
  setIterValue(value: unknown, evaluator: MacroEvaluator): MacroScope;
};
export type MacroEvaluator = { run(node: MacroNode, scope: MacroScope): unknown };
export type MacroChecker = {
  check(node: MacroNode, scope: MacroScope): MacroType;
  getType(name: string): MacroType;
  readonly registry: {
    getListType(item: MacroType): MacroType;
    getMapType(key: MacroType, value: MacroType): MacroType;
    getOptionalType(value: MacroType): MacroType;
  };
};
export type MacroCall = { readonly receiver: MacroNode; readonly args: readonly MacroNode[] };

export type Macro = {
  typeCheck(checker: MacroChecker, macro: unknown, scope: MacroScope): MacroType;
  evaluate(evaluator: MacroEvaluator, macro: unknown, scope: MacroScope): unknown;
};

/** A macro that evaluates `body` for what `receiver` holds, where `filter` lets it. The cost meter looks into it. */
export type Loop = Macro & {
  /** Of the last variable. */
  readonly variable: string;
  readonly receiver: MacroNode;
  readonly filter?: MacroNode;
  readonly body: MacroNode;
  /** Called where the body is not evaluated for an item, because that was in vain. */
  skipped?(): void;
};

/** Adds a macro that is called on a value: `receiver.name(ast, ...): type`. */
export function registerMacro(environment: Environment, signature: string, expand: (call: MacroCall) => Macro): void {
  environment.registerFunction(signature, expand);
}

/** A variable's name; the checker has refused anything else. */
export const nameOf = ({ args }: MacroNode): string => String(args);

/** Scopes of the variables of a macro, the innermost last. */
export function scopesOf(outer: MacroScope, names: readonly string[], types: readonly MacroType[]): MacroScope[] {
  const scopes: MacroScope[] = [];
  for (const [i, name] of names.entries()) scopes.push((scopes.at(-1) ?? outer).forkWithVariable(name, types[i] ?? DYNAMIC));
  return scopes;
}

export type Outcome = { readonly value: unknown } | { readonly error: unknown };

export function attempt(action: () => unknown): Outcome {
  try {
    return { value: action() };
  } catch (error) {
    return { error };
  }
}

const DYNAMIC: MacroType = { kind: 'dyn', name: 'dyn' };

/** Evaluates a node where the variables of the scopes have these values. */
export function runWith(
  evaluator: MacroEvaluator,
  node: MacroNode,
  outer: MacroScope,
  scopes: readonly MacroScope[],
  values: readonly unknown[],
): unknown {
  let scope = outer;
  for (const [i, each] of scopes.entries()) scope = each.reuse(scope).setIterValue(values[i], evaluator);
  return evaluator.run(node, scope);
}
