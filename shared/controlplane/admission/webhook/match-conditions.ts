import type { CelEnvironment } from '../../cel/cel-environment.ts';
import type { Authorizer } from '../../auth/authorizer.ts';
import { authorizerValue } from './authorizer-library.ts';
import { type CelProgram, compileCel } from '../../cel/environment.ts';
import { admissionEnvironment } from './admission-environment.ts';
import { toCelValue } from '../../cel/values.ts';
import type { AdmissionRequest } from '../admission-request.ts';
import { requestValue } from './request-value.ts';

export type MatchCondition = { readonly name: string; readonly expression: string };

export type MatchOutcome = { readonly matches: boolean /** Only with failurePolicy Fail. */; readonly error?: string };

export type CompiledMatchConditions = {
  /** `asked` is the request as the client made it, `request` the same in the version that the webhook is registered for. */
  evaluate(request: AdmissionRequest, asked: AdmissionRequest, authorizer: Authorizer): MatchOutcome;
  /** The same where the variables are at hand. */
  judge(variables: Record<string, unknown>): MatchOutcome;
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
  const judge = (variables: Record<string, unknown>): MatchOutcome => {
    const outcomes = runAll(programs, variables);
    // One condition that is false settles it, whatever happened to the others.
    if (outcomes.some((outcome) => outcome === false)) return { matches: false };
    const errors = outcomes.filter((outcome) => typeof outcome === 'string');
    if (errors.length === 0) return { matches: true };
    if (failurePolicy === 'Ignore') return { matches: false };
    return { matches: false, error: errors.length === 1 ? `${errors[0]}` : `[${[...new Set(errors)].join(', ')}]` };
  };
  return { judge, evaluate: (request, asked, authorizer) => judge(admissionVariables(request, asked, authorizer)) };
}

/** For each program its verdict, or what went wrong. */
function runAll(programs: readonly CelProgram[], variables: Record<string, unknown>): (boolean | string)[] {
  return programs.map((program) => {
    const { value, error } = program.run(variables);
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
