import { patternProblem } from '../go-pattern-problem.ts';
import { isGoDuration, isRfc3339Time } from '../time-syntax.ts';
import { clauseProblem, FormatError, readFormat } from '../format-clauses.ts';
import type { Expression, Problem } from './expression.ts';
import { formatType, sameType, type StaticType, unwrapped } from './static-type.ts';

type TypeOf = (expression: Expression) => StaticType;

/** What is wrong with literals in an expression whose types fit: times, patterns, and mixed lists and maps. */
export function literalProblems(expression: Expression, typeOf: TypeOf): readonly Problem[] {
  const parts = partsOf(expression);
  return [
    ...argumentProblems(parts, 'duration', isGoDuration),
    ...argumentProblems(parts, 'timestamp', isRfc3339Time),
    ...argumentProblems(parts, 'matches', (text) => patternProblem(text) === undefined),
    ...mixedLiterals(expression, typeOf),
    ...formatProblems(parts, typeOf),
  ];
}

/** Every part of an expression once; a macro's parts are there as often as it uses them. */
function partsOf(expression: Expression, seen = new Set<Expression>()): ReadonlySet<Expression> {
  if (seen.has(expression)) return seen;
  seen.add(expression);
  for (const child of childrenOf(expression)) partsOf(child, seen);
  return seen;
}

/** The parts that an expression is made of directly. */
export function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'literal':
    case 'ident':
      return [];
    case 'select':
      return [expression.operand];
    case 'call':
      return [...(expression.target === undefined ? [] : [expression.target]), ...expression.args];
    case 'list':
      return expression.elements.map(({ value }) => value);
    case 'map':
      return expression.entries.flatMap(({ key, value }) => [key, value]);
    case 'struct':
      return expression.values;
    case 'fold':
      return [expression.range, expression.init, expression.condition, expression.step, expression.result];
  }
}

function argumentProblems(parts: ReadonlySet<Expression>, name: string, isValid: (text: string) => boolean): Problem[] {
  return [...parts].flatMap((part) => {
    const [argument] = part.kind === 'call' && part.name === name ? part.args : [];
    if (argument?.kind !== 'literal' || argument.type !== 'string') return [];
    return isValid(String(argument.value)) ? [] : [{ at: argument.at, message: `invalid ${name} argument` }];
  });
}

/** Lists and maps whose parts differ in type. What `format` is to show may be mixed. */
function mixedLiterals(expression: Expression, typeOf: TypeOf): Problem[] {
  if (expression.kind === 'call' && expression.name === 'format') return [];
  const children = [...new Set(childrenOf(expression))];
  return [...mixedHere(expression, typeOf), ...children.flatMap((child) => mixedLiterals(child, typeOf))];
}

function mixedHere(expression: Expression, typeOf: TypeOf): Problem[] {
  if (expression.kind === 'list') {
    return differing(
      expression.elements.map((element) => ({ ...element, at: element.value.at })),
      typeOf,
    ).slice(0, 1);
  }
  if (expression.kind !== 'map') return [];
  const keys = expression.entries.map(({ key }) => ({ value: key, at: key.at, isOptional: false }));
  const values = expression.entries.map(({ value, isOptional }) => ({ value, at: value.at, isOptional }));
  return [...differing(keys, typeOf), ...differing(values, typeOf)];
}

type Part = { readonly value: Expression; readonly at: number; readonly isOptional: boolean };

/** The parts whose type is not that of the first. */
function differing(parts: readonly Part[], typeOf: TypeOf): Problem[] {
  const typed = parts.map(({ value, at, isOptional }) => ({ at, type: isOptional ? unwrapped(typeOf(value)) : typeOf(value) }));
  const wanted = typed[0]?.type;
  return typed.flatMap(({ at, type }) =>
    wanted === undefined || sameType(wanted, type)
      ? []
      : [{ at, message: `expected type '${formatType(wanted)}' but found '${formatType(type)}'` }],
  );
}

/** What is wrong with format strings that are to show a list of values written beside them. */
function formatProblems(parts: ReadonlySet<Expression>, typeOf: TypeOf): Problem[] {
  return [...parts].flatMap((part) => {
    if (part.kind !== 'call' || part.name !== 'format') return [];
    const { target, args, at } = part;
    const [list] = args;
    if (target?.kind !== 'literal' || list?.kind !== 'list') return [];
    return formatProblem(
      String(target.value),
      list.elements.map(({ value }) => value),
      at,
      typeOf,
    );
  });
}

function formatProblem(format: string, args: readonly Expression[], at: number, typeOf: TypeOf): Problem[] {
  let used = 0;
  try {
    for (const part of readFormat(format)) {
      if (typeof part === 'string') continue;
      const arg = args[used];
      if (arg === undefined) return [{ at, message: `index ${used} out of range` }];
      used++;
      const problem = clauseProblem(part, typeOf(arg).name);
      if (problem !== undefined) return [{ at: arg.at, message: problem }];
    }
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return [{ at, message: error.message }];
  }
  if (used === args.length) return [];
  return [{ at, message: `too many arguments supplied to string.format (expected ${used}, got ${args.length})` }];
}
