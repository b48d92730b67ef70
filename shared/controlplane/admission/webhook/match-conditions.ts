import type { Authorizer } from '../../auth/authorizer.ts';
import { authorizerValue } from './authorizer-library.ts';
import { type CelProgram, compileCel } from '../../cel/environment.ts';
import { admissionEnvironment } from './admission-environment.ts';
import { toCelValue } from '../../cel/values.ts';
import type { AdmissionRequest } from '../admission-request.ts';

export type MatchCondition = { readonly name: string; readonly expression: string };

export type MatchOutcome = { readonly matches: boolean /** Only with failurePolicy Fail. */; readonly error?: string };

export type CompiledMatchConditions = {
  /** `asked` is the request as the client made it, `request` the same in the version that the webhook is registered for. */
  evaluate(request: AdmissionRequest, asked: AdmissionRequest, authorizer: Authorizer): MatchOutcome;
};

const ALWAYS: CompiledMatchConditions = { evaluate: () => ({ matches: true }) };

/** Expressions have been checked when the configuration was stored, so compiling does not fail here. */
export function compileMatchConditions(conditions: readonly MatchCondition[], failurePolicy: 'Fail' | 'Ignore'): CompiledMatchConditions {
  if (conditions.length === 0) return ALWAYS;
  const programs = conditions.map(({ expression }) => compileCel(admissionEnvironment, expression.trim()));
  return {
    evaluate: (request, asked, authorizer) => {
      const outcomes = runAll(programs, variablesOf(request, asked, authorizer));
      // One condition that is false settles it, whatever happened to the others.
      if (outcomes.some((outcome) => outcome === false)) return { matches: false };
      const errors = outcomes.filter((outcome) => typeof outcome === 'string');
      if (errors.length === 0) return { matches: true };
      if (failurePolicy === 'Ignore') return { matches: false };
      return { matches: false, error: errors.length === 1 ? `${errors[0]}` : `[${[...new Set(errors)].join(', ')}]` };
    },
  };
}

/** For each program its verdict, or what went wrong. */
function runAll(programs: readonly CelProgram[], variables: Record<string, unknown>): (boolean | string)[] {
  return programs.map((program) => {
    const { value, error } = program.run(variables);
    return error === undefined ? value === true : `expression '${program.expression}' resulted in error: ${error}`;
  });
}

function variablesOf(request: AdmissionRequest, asked: AdmissionRequest, authorizer: Authorizer): Record<string, unknown> {
  const { kind, subresource, user } = request;
  const { resource } = asked;
  return {
    object: toCelValue(request.object ?? null),
    oldObject: toCelValue(request.oldObject ?? null),
    request: {
      kind,
      resource,
      subResource: subresource,
      requestKind: asked.kind,
      requestResource: resource,
      requestSubResource: subresource,
      name: request.name,
      namespace: request.namespace,
      operation: request.operation,
      userInfo: { username: user.name, uid: user.uid ?? '', groups: [...user.groups], extra: { ...user.extra } },
      dryRun: request.dryRun,
      options: toCelValue(request.options),
    },
    authorizer: authorizerValue(authorizer, request),
  };
}
