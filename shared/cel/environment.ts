import { Environment } from '@marcbachmann/cel-js';
import { CelEnvironment } from './cel-environment.ts';
import { type CheckedExpression, checkExpression } from './checker/check-expression.ts';
import { conversionProblem } from './checker/constant-conversions.ts';
import { writeType } from './checker/static-type.ts';
import { registerConversionLibrary } from './conversion-library.ts';
import { registerFormatLibrary } from './format-library.ts';
import { registerIpLibrary } from './ip-library.ts';
import { registerFormatFunctions } from './format-function.ts';
import { registerListExtension } from './list-extension.ts';
import { registerListLibrary } from './list-library.ts';
import { fillOptionalElements, registerOptionalElements, withoutOptionalElements } from './optional-elements.ts';
import { registerOptionalLibrary } from './optional-library.ts';
import { registerTwoVariableMacros } from './two-variable-macros.ts';

import { correctEvaluation, replaceCalls } from './own-calls.ts';
import { registerQuantityLibrary } from './quantity-library.ts';
import { registerSemverLibrary } from './semver-library.ts';
import { registerStringLibrary } from './string-library.ts';
import { CostMeter } from './cost-meter.ts';
import { meterExpression } from './runtime-cost.ts';
import { registerUrlLibrary } from './url-library.ts';

/** A compiled CEL expression. */
export type CelProgram = {
  readonly expression: string;
  /** The expression's type as the checker sees it: `bool`, `string`, `dyn`, ... */
  readonly type: string;
  /** Never throws: `error` says, in cel-go's words, why there is no value. */
  run(variables: Record<string, unknown>): CelOutcome;
};

export type CelOutcome = {
  readonly value?: unknown;
  readonly error?: string;
  /** In cel-go's units: what budgets are about. Above a limit an evaluation is cut short, which is an error. */
  readonly cost: number;
};

/** An expression that does not compile. */
export class CelCompileError extends Error {
  override readonly name = 'CelCompileError';
}

/** An expression that compiles and cannot be made ready to be evaluated. */
export class CelProgramError extends CelCompileError {
  constructor(problem: string) {
    super(`program instantiation failed: ${problem}`);
  }
}

/** CEL with the libraries of Kubernetes that have no state. Add variables to a clone. */
export const kubernetesEnvironment: CelEnvironment = createKubernetesEnvironment();

function createKubernetesEnvironment(): CelEnvironment {
  const environment = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false });
  registerConversionLibrary(environment);
  registerStringLibrary(environment);
  registerListLibrary(environment);
  registerListExtension(environment);
  registerTwoVariableMacros(environment);
  registerOptionalLibrary(environment);
  registerOptionalElements(environment);
  registerFormatFunctions(environment);
  registerUrlLibrary(environment);
  registerIpLibrary(environment);

  registerQuantityLibrary(environment);
  registerFormatLibrary(environment);
  registerSemverLibrary(environment);
  return new CelEnvironment(environment);
}

/** Parses and type-checks. Throws a CelCompileError with the findings of cel-go. */
export function checkCel(environment: CelEnvironment, expression: string): CheckedExpression {
  const checked = checkExpression(expression, environment.variables);
  if ('finding' in checked) throw new CelCompileError(checked.finding);
  return checked;
}

/** Checks, and makes ready to evaluate. Throws a CelCompileError, or a CelProgramError, as well. */
export function compileCel(environment: CelEnvironment, expression: string, checked = checkCel(environment, expression)): CelProgram {
  const program = attempt(() => environment.interpreter.parse(withoutOptionalElements(expression)));
  replaceCalls(program.ast);
  const check = program.check();
  if (!check.valid) throw new CelCompileError(firstLine(check.error));
  const problem = conversionProblem(checked.expression);
  if (problem !== undefined) throw new CelProgramError(problem);
  const meter = new CostMeter();
  meterExpression(program.ast, meter);
  correctEvaluation(program.ast);
  fillOptionalElements(program.ast);
  return {
    expression,
    type: writeType(checked.type),
    run: (variables) => {
      meter.reset();
      const outcome = evaluated(program, variables);
      // `||` and `exists` pass over errors, but not over this one.
      return meter.stopped === undefined ? { ...outcome, cost: meter.cost } : { error: meter.stopped, cost: meter.cost };
    },
  };
}

function evaluated(program: (variables: Record<string, unknown>) => unknown, variables: Record<string, unknown>): Omit<CelOutcome, 'cost'> {
  try {
    return { value: program(variables) };
  } catch (error) {
    return { error: celGoMessage(error) };
  }
}

function attempt<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new CelCompileError(firstLine(error), { cause: error });
  }
}

/** The library appends an excerpt of the source to its messages; `summary` is the sentence alone. */
const firstLine = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return 'summary' in error && typeof error.summary === 'string' ? error.summary : (error.message.split('\n')[0] ?? '');
};

/** cel-go's sentences for run-time errors, where the library words them differently. */
function celGoMessage(error: unknown): string {
  const message = firstLine(error);
  const outOfBounds = /index (-?\d+) (?:>=|<)/.exec(message);
  if (outOfBounds) return `index out of bounds: ${outOfBounds[1]}`;
  if (message.startsWith('No such key: ')) return `no such key: ${message.slice('No such key: '.length)}`;
  if (NO_OVERLOAD.test(message)) return 'no such overload';
  if (message.startsWith('integer overflow')) return 'integer overflow';
  return GO_SENTENCES.get(message.replace(/:.*/s, '')) ?? message;
}

const NO_OVERLOAD = /^no such overload|^found no matching overload| (?:must be|must return|requires) bool/;

const GO_SENTENCES: ReadonlyMap<string, string> = new Map([
  ['modulo by zero', 'modulus by zero'],
  ['int() type error', "type conversion error from 'string' to 'int'"],
  [
    "Expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic).",
    "got 'types.Int', expected iterable type",
  ],
  [
    "Expression of type 'string' cannot be range of a comprehension (must be list, map, or dynamic).",
    "got 'types.String', expected iterable type",
  ],
  ['Optional value is not present', 'optional.none() dereference'],
  ['timestamp() requires a string in ISO 8601 format', "type conversion error from 'string' to 'google.protobuf.Timestamp'"],
  ['Invalid duration string', "type conversion error from 'string' to 'google.protobuf.Duration'"],
]);
