import type { Environment } from '@marcbachmann/cel-js';
import {
  attempt,
  type Loop,
  type MacroCall,
  type MacroChecker,
  type MacroEvaluator,
  type MacroNode,
  type MacroScope,
  type MacroType,
  nameOf,
  type Outcome,
  registerMacro,
  runWith,
  scopesOf,
} from './macro-interpreter.ts';

/** `isOfFilter`: it is the filter that failed. Outcomes are computed as they are read. */
type Item = { readonly key: unknown; readonly outcome: () => Outcome; readonly isOfFilter?: boolean };
/** What the items of a range come to. */
type Gather = (items: Iterable<Item>, loop: Loop) => unknown;
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
    add('transformMap', args, mapToBodies, (items, loop) =>
      Object.fromEntries(values(items, () => loop.skipped?.()).map(({ key, value }) => [String(key), value])),
    );
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
  const loop: Loop = {
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
      return gather(outcomes(evaluator, { range, hasIntegerKeys, filter, body, scope, scopes }), loop);
    },
  };
  return loop;
}

type Run = {
  readonly range: unknown;
  readonly hasIntegerKeys: boolean;
  readonly filter: MacroNode | undefined;
  readonly body: MacroNode;
  readonly scope: MacroScope;
  readonly scopes: readonly MacroScope[];
};

function* outcomes(evaluator: MacroEvaluator, { range, hasIntegerKeys, filter, body, scope, scopes }: Run): Generator<Item> {
  for (const [key, value] of entriesOf(range, hasIntegerKeys)) {
    const run = (node: MacroNode): unknown => runWith(evaluator, node, scope, scopes, [key, value]);
    const passed = filter === undefined ? { value: true } : attempt(() => isTrue(run(filter)));
    if ('error' in passed) yield { key, outcome: () => passed, isOfFilter: true };
    else if (passed.value === true) yield { key, outcome: () => attempt(() => run(body)) };
  }
}

function entriesOf(range: unknown, hasIntegerKeys: boolean): [unknown, unknown][] {
  if (Array.isArray(range)) return range.map((value: unknown, i): [unknown, unknown] => [BigInt(i), value]);
  return Object.entries(range ?? {}).map(([key, value]: [string, unknown]) => [hasIntegerKeys ? BigInt(key) : key, value]);
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

/**
 * All values, or an error: that of the last filter that fails, or of the first body. What comes after one that fails is evaluated, unless
 * `skip` hears of it instead.
 */
function values(items: Parameters<Gather>[0], skip?: () => void): { readonly key: unknown; readonly value: unknown }[] {
  const found: { readonly key: unknown; readonly value: unknown }[] = [];
  let failed: { readonly error: unknown } | undefined;
  for (const { key, outcome, isOfFilter } of items) {
    if (failed !== undefined && isOfFilter !== true && skip !== undefined) {
      skip();
      continue;
    }
    const each = outcome();
    if (!('error' in each)) found.push({ key, value: each.value });
    else if (failed === undefined || isOfFilter === true) failed = each;
  }
  if (failed !== undefined) throw failed.error;
  return found;
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
