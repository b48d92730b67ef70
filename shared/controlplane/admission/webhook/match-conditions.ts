import type { CelEnvironment } from '../../../cel/cel-environment.ts';
import type { Authorizer } from '../../auth/authorizer.ts';
import { authorizerValue } from './authorizer-library.ts';
import { CostBudget, OutOfBudgetError, type Paid } from '../../../cel/cost-budget.ts';
import { type CelProgram, compileCel } from '../../../cel/environment.ts';
import { admissionEnvironment } from './admission-environment.ts';
import { toCelValue } from '../../../cel/values.ts';
import type { AdmissionRequest } from '../admission-request.ts';
import { requestValue } from './request-value.ts';

export type MatchCondition = { readonly name: string; readonly expression: string };

export type MatchOutcome = { readonly matches: boolean /** Only with failurePolicy Fail. */; readonly error?: string };

/** RuntimeCELCostBudgetMatchConditions of apiserver. */
const COST_BUDGET = 2_500_000;

export type CompiledMatchConditions = {
  /** `asked` is the request as the client made it, `request` the same in the version that the webhook is registered for. */
  evaluate(request: AdmissionRequest, asked: AdmissionRequest, authorizer: Authorizer): MatchOutcome;
  /** The same where the variables are at hand. */
  judge(variables: Record<string, unknown>, paid?: Paid): MatchOutcome;
};

const ALWAYS: CompiledMatchConditions = { evaluate: () => ({ matches: true }), judge: () => ({ matches: true }) };

/** Expressions have been checked when the configuration was stored, so compiling does not fail here. */
export function compileMatchConditions(
  conditions: readonly MatchCondition[],
  failurePolicy: 'Fail' | 'Ignore',
  environment: CelEnvironment = admissionEnvironment,
): CompiledMatchConditions {
  if (conditions.length === 0) return ALWAYS;
  const programs = conditions.map(({ expression }) => compileCel(environment, expression.trim()));
  const failed = (error: string): MatchOutcome => (failurePolicy === 'Ignore' ? { matches: false } : { matches: false, error });
  const judge = (variables: Record<string, unknown>, paid?: Paid): MatchOutcome => {
    let outcomes: readonly (boolean | string)[];
    try {
      outcomes = runAll(programs, variables, new CostBudget(COST_BUDGET, paid));
    } catch (error) {
      if (error instanceof OutOfBudgetError) return failed(error.message);
      throw error;
    }
    // One condition that is false decides, whatever happened to the others.
    if (outcomes.some((outcome) => outcome === false)) return { matches: false };
    const errors = outcomes.filter((outcome) => typeof outcome === 'string');
    if (errors.length === 0) return { matches: true };
    return failed(errors.length === 1 ? `${errors[0]}` : `[${[...new Set(errors)].join(', ')}]`);
  };
  return { judge, evaluate: (request, asked, authorizer) => judge(admissionVariables(request, asked, authorizer)) };
}

/** For each program its verdict, or what went wrong: each is evaluated, whatever the ones before came to. */
function runAll(programs: readonly CelProgram[], variables: Record<string, unknown>, budget: CostBudget): (boolean | string)[] {
  return programs.map((program) => {
    const { value, error, cost } = program.run(variables);
    budget.spend(cost);
    return error === undefined ? value === true : failureOf(program, error);
  });
}

/** What is said of an expression that has no value. */
export const failureOf = ({ expression }: CelProgram, error: string): string => `expression '${expression}' resulted in error: ${error}`;

/** The variables of `admissionEnvironment`. Match conditions see no namespace. */
export function admissionVariables(request: AdmissionRequest, asked: AdmissionRequest, authorizer: Authorizer): Record<string, unknown> {
  return {
    object: toCelValue(request.object ?? null),
    oldObject: toCelValue(request.oldObject ?? null),
    namespaceObject: null,
    request: requestValue(request, asked),
    authorizer: authorizerValue(authorizer, request),
  };
}
