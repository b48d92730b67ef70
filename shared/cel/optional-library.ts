import { type Environment, Optional } from '@marcbachmann/cel-js';
import { isDurationValue } from './interpreter-values.ts';
import { sortByKeys } from './list-extension.ts';
import {
  attempt,
  type Loop,
  type MacroCall,
  type MacroChecker,
  type MacroScope,
  type MacroType,
  nameOf,
  registerMacro,
  runWith,
  scopesOf,
} from './macro-interpreter.ts';

/** cel-go's optional values, version 2, where the interpreter lacks them; and `sortBy`, which is a macro of one variable too. */
export function registerOptionalLibrary(environment: Environment): void {
  environment
    .registerFunction('OptionalNamespace.ofNonZeroValue(dyn): optional<dyn>', (_: unknown, value: unknown) =>
      isZero(value) ? Optional.none() : Optional.of(value),
    )
    .registerFunction('OptionalNamespace.unwrap(list<dyn>): list<dyn>', (_: unknown, list: Optional[]) => unwrap(list))
    .registerFunction('list<optional<T>>.unwrapOpt(): list<T>', unwrap)
    .registerFunction('list<dyn>.first(): optional<dyn>', (list: unknown[]) => Optional.of(list[0]))
    .registerFunction('list<dyn>.last(): optional<dyn>', (list: unknown[]) => Optional.of(list.at(-1)));
  registerMacro(environment, 'optional.optMap(ast, ast): optional<dyn>', (call) =>
    mapped(call, {
      typeOf: ({ registry }, body) => registry.getOptionalType(body),
      wrap: (value) => Optional.of(value),
    }),
  );
  registerMacro(environment, 'optional.optFlatMap(ast, ast): optional<dyn>', (call) =>
    mapped(call, { typeOf: (_, body) => body, wrap: (value) => value }),
  );
  registerMacro(environment, 'list.sortBy(ast, ast): list<dyn>', sortedBy);
}

const unwrap = (list: readonly Optional[]): unknown[] => list.filter((each) => each.hasValue()).map((each): unknown => each.value());

function isZero(value: unknown): boolean {
  if (value === null || value === false || value === '' || value === 0 || value === 0n) return true;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0;
  if (isDurationValue(value)) return value.seconds === 0n && value.nanos === 0;
  return typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype && Object.keys(value).length === 0;
}

type Mapping = { readonly typeOf: (checker: MacroChecker, body: MacroType) => MacroType; readonly wrap: (value: unknown) => unknown };

const mapped = (call: MacroCall, { typeOf, wrap }: Mapping): Loop =>
  withVariable(call, {
    typeOf: (checker, _receiver, body) => typeOf(checker, body),
    evaluate: (optional, run) => {
      if (!(optional instanceof Optional)) throw new Error('no such overload');
      return optional.hasValue() ? wrap(run(optional.value())) : Optional.none();
    },
  });

const sortedBy = (call: MacroCall): Loop =>
  withVariable(call, {
    typeOf: (_checker, receiver) => receiver,
    evaluate: (list, run) => {
      if (!Array.isArray(list)) throw new Error('no such overload');
      // All keys are computed, whichever of them fails first.
      const keys = list.map((each) => attempt(() => run(each)));
      return sortByKeys(
        list,
        keys.map((each) => {
          if ('error' in each) throw each.error;
          return each.value;
        }),
      );
    },
  });

type WithVariable = {
  readonly typeOf: (checker: MacroChecker, receiver: MacroType, body: MacroType) => MacroType;
  readonly evaluate: (value: unknown, run: (each: unknown) => unknown) => unknown;
};

/** A macro whose first argument names a variable of its second: what a list or an optional holds. */
function withVariable({ receiver, args: [variable, body] }: MacroCall, { typeOf, evaluate }: WithVariable): Loop {
  if (variable === undefined || body === undefined) throw new Error('a macro has a variable and a body');
  let scopes: readonly MacroScope[] = [];
  const name = nameOf(variable);
  return {
    variable: name,
    receiver,
    body,
    typeCheck: (checker, _macro, scope) => {
      const of = checker.check(receiver, scope);
      scopes = scopesOf(scope, [name], [of.valueType ?? checker.getType('dyn')]);
      return typeOf(checker, of, checker.check(body, scopes[0] ?? scope));
    },
    evaluate: (evaluator, _macro, scope) =>
      evaluate(evaluator.run(receiver, scope), (value) => runWith(evaluator, body, scope, scopes, [value])),
  };
}
