import type { Environment } from '@marcbachmann/cel-js';
import {
  type Macro,
  type MacroCall,
  type MacroEvaluator,
  type MacroNode,
  type MacroScope,
  nameOf,
  registerMacro,
  runWith,
  scopesOf,
} from './macro-interpreter.ts';

type Outcome = { readonly value: unknown } | { readonly error: unknown };
/** What the items of a range come to. Outcomes are computed as they are read. */
type Gather = (items: Iterable<{ readonly key: unknown; readonly outcome: () => Outcome }>) => unknown;

/** cel-go's comprehensions with two variables: index or key, and value. */
export function registerTwoVariableMacros(environment: Environment): void {
  const add = (name: string, args: number, gather: Gather): void =>
    registerMacro(environment, `list.${name}(${Array.from({ length: args }, () => 'ast').join(', ')}): dyn`, (call) =>
      comprehension(call, gather),
    );
  add('all', 3, (items) => decide(items, false));
  add('exists', 3, (items) => decide(items, true));
  for (const name of ['existsOne', 'exists_one']) add(name, 3, (items) => values(items).filter(({ value }) => isTrue(value)).length === 1);
  for (const args of [3, 4]) {
    add('transformList', args, (items) => values(items).map(({ value }) => value));
    add('transformMap', args, (items) => Object.fromEntries(values(items).map(({ key, value }) => [String(key), value])));
    add('transformMapEntry', args, (items) => merged(values(items).map(({ value }) => value)));
  }
}

function comprehension({ receiver, args }: MacroCall, gather: Gather): Macro {
  const [first, second, ...rest] = args;
  const body = rest.at(-1);
  const filter = rest.length > 1 ? rest[0] : undefined;
  if (first === undefined || second === undefined || body === undefined) throw new Error('a comprehension has two variables and a body');
  const names = [nameOf(first), nameOf(second)];
  let scopes: readonly MacroScope[] = [];
  let hasIntegerKeys = false;
  return {
    typeCheck: (checker, _macro, scope) => {
      const range = checker.check(receiver, scope);
      const dynamic = checker.getType('dyn');
      const types = range.kind === 'list' ? [checker.getType('int'), range.valueType] : [range.keyType, range.valueType];
      hasIntegerKeys = range.kind === 'map' && range.keyType?.name === 'int';
      scopes = scopesOf(scope, names, [types[0] ?? dynamic, types[1] ?? dynamic]);
      const inner = scopes.at(-1) ?? scope;
      if (filter !== undefined) checker.check(filter, inner);
      checker.check(body, inner);
      return dynamic;
    },
    evaluate: (evaluator, _macro, scope) => {
      const range = evaluator.run(receiver, scope);
      return gather(outcomes(evaluator, { range, hasIntegerKeys, filter, body, scope, scopes }));
    },
  };
}

type Loop = {
  readonly range: unknown;
  readonly hasIntegerKeys: boolean;
  readonly filter: MacroNode | undefined;
  readonly body: MacroNode;
  readonly scope: MacroScope;
  readonly scopes: readonly MacroScope[];
};

function* outcomes(
  evaluator: MacroEvaluator,
  { range, hasIntegerKeys, filter, body, scope, scopes }: Loop,
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
