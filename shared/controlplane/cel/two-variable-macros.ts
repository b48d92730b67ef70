import type { Environment } from '@marcbachmann/cel-js';
import {
  type Loop,
  type MacroCall,
  type MacroChecker,
  type MacroEvaluator,
  type MacroNode,
  type MacroScope,
  type MacroType,
  nameOf,
  registerMacro,
  runWith,
  scopesOf,
} from './macro-interpreter.ts';

type Outcome = { readonly value: unknown } | { readonly error: unknown };
/** What the items of a range come to. Outcomes are computed as they are read. */
type Gather = (items: Iterable<{ readonly key: unknown; readonly outcome: () => Outcome }>) => unknown;
/** What type the whole has, by those of the keys and of the body. */
type ResultType = (checker: MacroChecker, key: MacroType, body: MacroType) => MacroType;

/** cel-go's comprehensions with two variables: index or key, and value. */
export function registerTwoVariableMacros(environment: Environment): void {
  const add = (name: string, args: number, typeOf: ResultType, gather: Gather): void =>
    registerMacro(environment, `list.${name}(${Array.from({ length: args }, () => 'ast').join(', ')}): dyn`, (call) =>
      comprehension(call, typeOf, gather),
    );
  add('all', 3, bool, (items) => decide(items, false));
  add('exists', 3, bool, (items) => decide(items, true));
  for (const name of ['existsOne', 'exists_one']) {
    add(name, 3, bool, (items) => values(items).filter(({ value }) => isTrue(value)).length === 1);
  }
  for (const args of [3, 4]) {
    add('transformList', args, listOfBodies, (items) => values(items).map(({ value }) => value));
    add('transformMap', args, mapToBodies, (items) => Object.fromEntries(values(items).map(({ key, value }) => [String(key), value])));
    add('transformMapEntry', args, theBody, (items) => merged(values(items).map(({ value }) => value)));
  }
}

const bool: ResultType = (checker) => checker.getType('bool');
const listOfBodies: ResultType = ({ registry }, _key, body) => registry.getListType(body);
const mapToBodies: ResultType = ({ registry }, key, body) => registry.getMapType(key, body);
const theBody: ResultType = (_checker, _key, body) => body;

function comprehension({ receiver, args }: MacroCall, typeOf: ResultType, gather: Gather): Loop {
  const [first, second, ...rest] = args;
  const body = rest.at(-1);
  const filter = rest.length > 1 ? rest[0] : undefined;
  if (first === undefined || second === undefined || body === undefined) throw new Error('a comprehension has two variables and a body');
  const variable = nameOf(second);
  const names = [nameOf(first), variable];
  let scopes: readonly MacroScope[] = [];
  let hasIntegerKeys = false;
  return {
    variable,
    receiver,
    ...(filter === undefined ? {} : { filter }),
    body,
    typeCheck: (checker, _macro, scope) => {
      const range = checker.check(receiver, scope);
      const dynamic = checker.getType('dyn');
      const key = (range.kind === 'list' ? checker.getType('int') : range.keyType) ?? dynamic;
      hasIntegerKeys = range.kind === 'map' && range.keyType?.name === 'int';
      scopes = scopesOf(scope, names, [
        key,
        range.valueType === undefined || range.valueType.hasPlaceholderType ? dynamic : range.valueType,
      ]);
      const inner = scopes.at(-1) ?? scope;
      if (filter !== undefined) checker.check(filter, inner);
      return typeOf(checker, key, checker.check(body, inner));
    },
    evaluate: (evaluator, _macro, scope) => {
      const range = evaluator.run(receiver, scope);
      return gather(outcomes(evaluator, { range, hasIntegerKeys, filter, body, scope, scopes }));
    },
  };
}

type Run = {
  readonly range: unknown;
  readonly hasIntegerKeys: boolean;
  readonly filter: MacroNode | undefined;
  readonly body: MacroNode;
  readonly scope: MacroScope;
  readonly scopes: readonly MacroScope[];
};

function* outcomes(
  evaluator: MacroEvaluator,
  { range, hasIntegerKeys, filter, body, scope, scopes }: Run,
): Generator<{ key: unknown; outcome: () => Outcome }> {
  for (const [key, value] of entriesOf(range, hasIntegerKeys)) {
    if (filter !== undefined && !isTrue(runWith(evaluator, filter, scope, scopes, [key, value]))) continue;
    yield { key, outcome: () => attempt(() => runWith(evaluator, body, scope, scopes, [key, value])) };
  }
}

function entriesOf(range: unknown, hasIntegerKeys: boolean): [unknown, unknown][] {
  if (Array.isArray(range)) return range.map((value: unknown, i): [unknown, unknown] => [BigInt(i), value]);
  return Object.entries(range ?? {}).map(([key, value]: [string, unknown]) => [hasIntegerKeys ? BigInt(key) : key, value]);
}

function attempt(action: () => unknown): Outcome {
  try {
    return { value: action() };
  } catch (error) {
    return { error };
  }
}

/** `verdict` as soon as one item says so; otherwise the first error, if there is any. */
function decide(items: Parameters<Gather>[0], verdict: boolean): boolean {
  let failed: { readonly error: unknown } | undefined;
  for (const { outcome } of items) {
    const found = outcome();
    if ('error' in found) failed ??= found;
    else if (isTrue(found.value) === verdict) return verdict;
  }
  if (failed !== undefined) throw failed.error;
  return !verdict;
}

function values(items: Parameters<Gather>[0]): { readonly key: unknown; readonly value: unknown }[] {
  return [...items].map(({ key, outcome }) => {
    const found = outcome();
    if ('error' in found) throw found.error;
    return { key, value: found.value };
  });
}

function merged(maps: readonly unknown[]): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const map of maps) {
    for (const [key, value] of Object.entries(map ?? {})) {
      if (Object.hasOwn(result, key)) throw new Error(`insert failed: key ${key} already exists`);
      result[key] = value;
    }
  }
  return result;
}

function isTrue(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new Error('no such overload');
  return value;
}
