import type { Expression, Fold, Problem } from './expression.ts';

type Call = Extract<Expression, { kind: 'call' }>;
type Expander = (call: Call & { readonly target: Expression }) => Expression | Problem;

/** The variable that gathers what a macro comes to: no expression can name it. */
const RESULT = '@result';

/** What a call stands for if it is a macro, the call itself if not, or what is wrong with its arguments. */
export function expandMacro(call: Call): Expression | Problem {
  const { name, target, args } = call;
  if (target === undefined) return name === 'has' && args.length === 1 ? presence(call) : call;
  const expander = MACROS.get(`${name}:${args.length}`);
  return expander === undefined ? call : expander({ ...call, target });
}

function presence({ at, args: [subject] }: Call): Expression | Problem {
  if (subject?.kind === 'select') return { ...subject, at, isTest: true };
  return { at: subject?.at ?? 0, message: 'invalid argument to has() macro' };
}

const literal = (at: number, type: 'bool' | 'int', value: boolean | bigint): Expression => ({ kind: 'literal', at, type, value });
const call = (at: number, name: string, ...args: Expression[]): Expression => ({ kind: 'call', at, name, args });
const ident = (at: number, name: string): Expression => ({ kind: 'ident', at, name });
const result = (at: number): Expression => ident(at, RESULT);
const listOf = (at: number, ...values: Expression[]): Expression => ({
  kind: 'list',
  at,
  elements: values.map((value) => ({ value, isOptional: false })),
});

/** The parts of a fold that differ from macro to macro. */
type Parts = Pick<Fold, 'init' | 'step'> & Partial<Pick<Fold, 'condition' | 'result'>>;

const fold =
  (width: 1 | 2, notSimple: string, parts: (at: number, args: readonly Expression[], names: readonly string[]) => Parts): Expander =>
  ({ at, target, args }) => {
    const named = args.slice(0, width);
    const names: string[] = [];
    for (const each of named) {
      if (each.kind !== 'ident') return { at: each.at, message: notSimple };
      names.push(each.name);
    }
    const [first, second] = names;
    if (first !== undefined && first === second) return { at: named[1]?.at ?? at, message: `duplicate variable name: ${first}` };
    const overwriting = named.find((_, i) => names[i] === '__result__');
    if (overwriting !== undefined) return { at: overwriting.at, message: 'iteration variable overwrites accumulator variable' };
    return {
      kind: 'fold',
      at,
      range: target,
      variables: names,
      accumulator: RESULT,
      condition: literal(at, 'bool', true),
      result: result(at),
      ...parts(at, args.slice(width), names),
    };
  };

const all = (at: number, [predicate]: readonly Expression[]): Parts => ({
  init: literal(at, 'bool', true),
  condition: call(at, '@not_strictly_false', result(at)),
  step: call(at, '_&&_', result(at), predicate ?? result(at)),
});
const exists = (at: number, [predicate]: readonly Expression[]): Parts => ({
  init: literal(at, 'bool', false),
  condition: call(at, '@not_strictly_false', call(at, '!_', result(at))),
  step: call(at, '_||_', result(at), predicate ?? result(at)),
});
const existsOne = (at: number, [predicate]: readonly Expression[]): Parts => ({
  init: literal(at, 'int', 0n),
  step: call(at, '_?_:_', predicate ?? result(at), call(at, '_+_', result(at), literal(at, 'int', 1n)), result(at)),
  result: call(at, '_==_', result(at), literal(at, 'int', 1n)),
});
/** With a filter before the last argument, the step is taken only where it holds. */
const filtered = (at: number, args: readonly Expression[], step: Expression): Expression =>
  args.length < 2 ? step : call(at, '_?_:_', args[0] ?? step, step, result(at));
const appended = (at: number, args: readonly Expression[]): Parts => ({
  init: listOf(at),
  step: filtered(at, args, call(at, '_+_', result(at), listOf(at, args.at(-1) ?? result(at)))),
});
const filter = (at: number, [predicate]: readonly Expression[], [name = '']: readonly string[]): Parts => ({
  init: listOf(at),
  step: call(at, '_?_:_', predicate ?? result(at), call(at, '_+_', result(at), listOf(at, ident(at, name))), result(at)),
});
const inserted =
  (withKey: boolean) =>
  (at: number, args: readonly Expression[], [key = '']: readonly string[]): Parts => {
    const value = args.at(-1) ?? result(at);
    const inserting = withKey ? [result(at), ident(at, key), value] : [result(at), value];
    return { init: { kind: 'map', at, entries: [] }, step: filtered(at, args, call(at, 'cel.@mapInsert', ...inserting)) };
  };

const whereThereIsAValue =
  (name: string, wrap: (at: number, value: Expression) => Expression): Expander =>
  ({ at, target, args: [variable, value] }) => {
    if (variable?.kind !== 'ident' || value === undefined) {
      return { at: variable?.at ?? at, message: `${name}() variable name must be a simple identifier` };
    }
    const bound: Fold = {
      kind: 'fold',
      at,
      range: listOf(at),
      variables: ['#unused'],
      accumulator: variable.name,
      init: { kind: 'call', at, name: 'value', target, args: [] },
      condition: literal(at, 'bool', false),
      step: ident(at, variable.name),
      result: value,
    };
    const hasValue: Expression = { kind: 'call', at, name: 'hasValue', target, args: [] };
    return call(at, '_?_:_', hasValue, wrap(at, bound), call(at, 'optional.none'));
  };

function sortedBy({ at, target, args: [variable, key] }: Call & { readonly target: Expression }): Expression | Problem {
  const isList =
    target.kind === 'list' || target.kind === 'ident' || target.kind === 'select' || target.kind === 'fold' || target.kind === 'call';
  if (!isList)
    return { at: target.at, message: `sortBy can only be applied to a list, identifier, comprehension, call or select expression` };
  const mapped = fold(
    1,
    'argument must be a simple name',
    appended,
  )({
    kind: 'call',
    at,
    name: 'map',
    target: ident(at, '@__sortBy_input__'),
    args: [variable ?? target, key ?? target],
  });
  if (!('kind' in mapped)) return mapped;
  return {
    kind: 'fold',
    at,
    range: listOf(at),
    variables: ['#unused'],
    accumulator: '@__sortBy_input__',
    init: target,
    condition: literal(at, 'bool', false),
    step: ident(at, '@__sortBy_input__'),
    result: { kind: 'call', at, name: '@sortByAssociatedKeys', target: ident(at, '@__sortBy_input__'), args: [mapped] },
  };
}

const ONE_NAME = 'argument must be a simple name';
const ONE_IDENTIFIER = 'argument is not an identifier';

/** By name and number of arguments. */
const MACROS: ReadonlyMap<string, Expander> = new Map([
  ['all:2', fold(1, ONE_NAME, all)],
  ['exists:2', fold(1, ONE_NAME, exists)],
  ['exists_one:2', fold(1, ONE_NAME, existsOne)],
  ['map:2', fold(1, ONE_IDENTIFIER, appended)],
  ['map:3', fold(1, ONE_IDENTIFIER, appended)],
  ['filter:2', fold(1, ONE_IDENTIFIER, filter)],
  ['all:3', fold(2, ONE_NAME, all)],
  ['exists:3', fold(2, ONE_NAME, exists)],
  ['exists_one:3', fold(2, ONE_NAME, existsOne)],
  ['existsOne:3', fold(2, ONE_NAME, existsOne)],
  ['transformList:3', fold(2, ONE_NAME, appended)],
  ['transformList:4', fold(2, ONE_NAME, appended)],
  ['transformMap:3', fold(2, ONE_NAME, inserted(true))],
  ['transformMap:4', fold(2, ONE_NAME, inserted(true))],
  ['transformMapEntry:3', fold(2, ONE_NAME, inserted(false))],
  ['transformMapEntry:4', fold(2, ONE_NAME, inserted(false))],
  ['optMap:2', whereThereIsAValue('optMap', (at, value) => call(at, 'optional.of', value))],
  ['optFlatMap:2', whereThereIsAValue('optFlatMap', (_, value) => value)],
  ['sortBy:2', sortedBy],
]);
