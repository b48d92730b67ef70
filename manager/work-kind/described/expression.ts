import type { CelEnvironment } from '../../../shared/cel/cel-environment.ts';
import type { CostBudget } from '../../../shared/cel/cost-budget.ts';
import { OutOfBudgetError } from '../../../shared/cel/cost-budget.ts';
import { CelCompileError, type CelProgram, compileCel, kubernetesEnvironment } from '../../../shared/cel/environment.ts';
import type { FieldProblem } from '../../api/field-problem.ts';

/** An expression of a description, compiled. */
export type Expression<T> = {
  /** Where it stands in the description: `spec.podSets[0].count`. */
  readonly field: string;
  readonly program: CelProgram;
  /** The value as its field needs it; undefined where it is of another type. */
  readonly read: (value: unknown) => T | undefined;
  /** What it must give: `a bool`. */
  readonly wanted: string;
};

export type Outcome<T> = { readonly value: T } | { readonly problem: FieldProblem };

export class ExpressionProblem extends Error {
  override readonly name = 'ExpressionProblem';
  readonly problem: FieldProblem;

  constructor(problem: FieldProblem) {
    super(`${problem.field}: ${problem.problem}`);
    this.problem = problem;
  }
}

/** What expressions of an object see. `spec` and `status` are empty where it has none. */
export const OBJECT_ENVIRONMENT: CelEnvironment = kubernetesEnvironment
  .clone()
  .registerVariable('object', 'dyn')
  .registerVariable('spec', 'dyn')
  .registerVariable('status', 'dyn')
  .registerVariable('conditions', 'map<string, dyn>')
  .registerVariable('trueConditions', 'list<string>');

const withEntry = (environment: CelEnvironment): CelEnvironment =>
  environment
    .registerVariable('item', 'dyn')
    .registerVariable('key', 'dyn')
    .registerVariable('path', 'string')
    .registerVariable('parentPath', 'string');

/** What expressions of a pod set see beside that. */
export const POD_SET_ENVIRONMENT: CelEnvironment = withEntry(OBJECT_ENVIRONMENT.clone());

/** What the path of a pod template may depend on: templates are found before the object is read. */
export const ENTRY_ENVIRONMENT: CelEnvironment = withEntry(kubernetesEnvironment.clone());

/** @throws {ExpressionProblem} where it does not compile, or can give nothing of the type. */
export const boolean = (environment: CelEnvironment, field: string, text: string): Expression<boolean> =>
  compiled(environment, field, text, {
    types: ['bool'],
    wanted: 'a bool',
    read: (value) => (typeof value === 'boolean' ? value : undefined),
  });

/** @throws {ExpressionProblem} */
export const string = (environment: CelEnvironment, field: string, text: string): Expression<string> =>
  compiled(environment, field, text, {
    types: ['string', 'null', 'optional'],
    wanted: 'a string',
    read: (value) => {
      const inner = unwrapped(value);
      return inner === undefined ? '' : typeof inner === 'string' ? inner.slice(0, STRING_LENGTH_MAX) : undefined;
    },
  });

/** A whole number from 0 on, or nothing where the expression gives an optional one that is not there. @throws {ExpressionProblem} */
export const count = (environment: CelEnvironment, field: string, text: string): Expression<number | 'absent'> =>
  compiled(environment, field, text, {
    types: ['int', 'null', 'optional'],
    wanted: `an int from 0 to ${COUNT_MAX}`,
    read: (value) => {
      const inner = unwrapped(value);
      if (inner === undefined) return 'absent';
      const number = typeof inner === 'bigint' ? Number(inner) : inner;
      return typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= COUNT_MAX ? number : undefined;
    },
  });

const COUNT_MAX = 2 ** 31 - 1;
const STRING_LENGTH_MAX = 4096;

/** Of an optional value what is in it; null is nothing. */
function unwrapped(value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  if (typeof value !== 'object' || !('hasValue' in value) || typeof value.hasValue !== 'function') return value;
  const optional = value as { hasValue(): boolean; value(): unknown };
  return optional.hasValue() ? unwrapped(optional.value()) : undefined;
}

type Wanted<T> = Pick<Expression<T>, 'read' | 'wanted'> & { readonly types: readonly string[] };

function compiled<T>(environment: CelEnvironment, field: string, text: string, { types, wanted, read }: Wanted<T>): Expression<T> {
  const program = attempt(environment, field, text);
  const type = program.type.replace(/<.*$/s, '');
  if (type !== 'dyn' && !types.includes(type))
    throw new ExpressionProblem({ field, problem: `gives ${program.type}, and must give ${wanted}: ${excerpt(text)}` });
  return { field, program, read, wanted };
}

function attempt(environment: CelEnvironment, field: string, text: string): CelProgram {
  try {
    return compileCel(environment, text);
  } catch (error) {
    if (!(error instanceof CelCompileError)) throw error;
    throw new ExpressionProblem({ field, problem: `does not compile: ${findingText(error.message, [...environment.variables.keys()])}` });
  }
}

/** The first finding of the compiler, its place, and what may be meant. */
function findingText(message: string, variables: readonly string[]): string {
  const found = /^ERROR: <input>:(\d+):(\d+): (.*)\n \| (.*)/.exec(message);
  if (found === null) return message;
  const [, line = '', column = '', finding = '', source = ''] = found;
  const place = line === '1' ? `at character ${column}` : `at line ${line}, character ${column}`;
  const remedy = finding.startsWith('undeclared reference') ? `; the variables here are ${variables.join(', ')}` : '';
  return `${finding.replace(/ \(in container ''\)$/, '')}, ${place} of ${excerpt(source)}${remedy}`;
}

/** The value of an expression for an object; a problem where it fails, costs too much, or gives another type. */
export function evaluated<T>(
  { field, program, read, wanted }: Expression<T>,
  variables: Readonly<Record<string, unknown>>,
  budget: CostBudget,
): Outcome<T> {
  const { value, error, cost } = program.run(variables);
  const said = error ?? overspent(budget, cost);
  if (said !== undefined) return { problem: { field, problem: `${excerpt(program.expression)} fails: ${said}${hintFor(said)}` } };
  const result = read(value);
  if (result !== undefined) return { value: result };
  return { problem: { field, problem: `${excerpt(program.expression)} gives ${shown(value)}, and must give ${wanted}` } };
}

/** The value of an expression; undefined where there is none, or it has a problem, which is added to `problems`. */
export function valueOf<T>(
  expression: Expression<T> | undefined,
  variables: Readonly<Record<string, unknown>>,
  budget: CostBudget,
  problems: FieldProblem[],
): T | undefined {
  if (expression === undefined) return undefined;
  const outcome = evaluated(expression, variables, budget);
  if ('value' in outcome) return outcome.value;
  problems.push(outcome.problem);
  return undefined;
}

function overspent(budget: CostBudget, cost: number): string | undefined {
  try {
    budget.spend(cost);
    return undefined;
  } catch (error) {
    if (!(error instanceof OutOfBudgetError)) throw error;
    return 'the expressions of this object cost too much together; write shorter ones, or split the object';
  }
}

function hintFor(error: string): string {
  const key = /^no such key: ([A-Za-z_]\w*)$/.exec(error)?.[1];
  return key === undefined ? '' : `; for a field that may be absent write .?${key}.orValue(...)`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? Number(each) : each)) ?? String(value);
  return text.length > EXCERPT_LENGTH ? `${text.slice(0, EXCERPT_LENGTH)}…` : text;
}

const EXCERPT_LENGTH = 120;
const excerpt = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return `"${line.length > EXCERPT_LENGTH ? `${line.slice(0, EXCERPT_LENGTH)}…` : line}"`;
};
