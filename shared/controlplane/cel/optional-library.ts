import { type Environment, Optional } from '@marcbachmann/cel-js';
import { isDurationValue } from './interpreter-values.ts';
import { sortByKeys } from './list-extension.ts';
import { type Macro, type MacroCall, type MacroScope, nameOf, registerMacro, runWith, scopesOf } from './macro-interpreter.ts';

/** cel-go's optional values, version 2, where the interpreter lacks them; and `sortBy`, which is a macro of one variable too. */
export function registerOptionalLibrary(environment: Environment): void {
  environment
    .registerFunction('OptionalNamespace.ofNonZeroValue(dyn): optional<dyn>', (_: unknown, value: unknown) =>
      isZero(value) ? Optional.none() : Optional.of(value),
    )
    .registerFunction('OptionalNamespace.unwrap(list<dyn>): list<dyn>', (_: unknown, list: Optional[]) => unwrap(list))
    .registerFunction('list<dyn>.unwrapOpt(): list<dyn>', unwrap)
    .registerFunction('list<dyn>.first(): optional<dyn>', (list: unknown[]) => Optional.of(list[0]))
    .registerFunction('list<dyn>.last(): optional<dyn>', (list: unknown[]) => Optional.of(list.at(-1)));
  registerMacro(environment, 'optional.optMap(ast, ast): optional<dyn>', (call) => mapped(call, (value) => Optional.of(value)));
  registerMacro(environment, 'optional.optFlatMap(ast, ast): optional<dyn>', (call) => mapped(call, (value) => value));
  registerMacro(environment, 'list.sortBy(ast, ast): list<dyn>', sortedBy);
}

const unwrap = (list: readonly Optional[]): unknown[] => list.filter((each) => each.hasValue()).map((each): unknown => each.value());

function isZero(value: unknown): boolean {
  if (value === null || value === false || value === '' || value === 0 || value === 0n) return true;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0;
  if (isDurationValue(value)) return value.seconds === 0n && value.nanos === 0;
  return typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype && Object.keys(value).length === 0;
}

function mapped({ receiver, args }: MacroCall, wrap: (value: unknown) => unknown): Macro {
  return withVariable(args, (checker, scope) => checker.check(receiver, scope).valueType, {
    type: 'optional',
    evaluate: (evaluator, scope, run) => {
      const optional = evaluator.run(receiver, scope);
      if (!(optional instanceof Optional)) throw new Error('no such overload');
      return optional.hasValue() ? wrap(run(optional.value())) : Optional.none();
    },
  });
}

function sortedBy({ receiver, args }: MacroCall): Macro {
  return withVariable(args, (checker, scope) => checker.check(receiver, scope).valueType, {
    type: 'list',
    evaluate: (evaluator, scope, run) => {
      const list = evaluator.run(receiver, scope);
      if (!Array.isArray(list)) throw new Error('no such overload');
      return sortByKeys(list, list.map(run));
    },
  });
}

type Evaluate = (evaluator: Parameters<Macro['evaluate']>[0], scope: MacroScope, run: (value: unknown) => unknown) => unknown;

/** A macro whose first argument names a variable of its second. */
function withVariable(
  [variable, body]: MacroCall['args'],
  typeOf: (checker: Parameters<Macro['typeCheck']>[0], scope: MacroScope) => ReturnType<Macro['typeCheck']> | undefined,
  { type, evaluate }: { readonly type: string; readonly evaluate: Evaluate },
): Macro {
  if (variable === undefined || body === undefined) throw new Error('a macro has a variable and a body');
  let scopes: readonly MacroScope[] = [];
  return {
    typeCheck: (checker, _macro, scope) => {
      scopes = scopesOf(scope, [nameOf(variable)], [typeOf(checker, scope) ?? checker.getType('dyn')]);
      checker.check(body, scopes[0] ?? scope);
      return checker.getType(type);
    },
    evaluate: (evaluator, _macro, scope) => evaluate(evaluator, scope, (value) => runWith(evaluator, body, scope, scopes, [value])),
  };
}
