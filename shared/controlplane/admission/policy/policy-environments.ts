import type { CelEnvironment } from '../../../cel/cel-environment.ts';
import type { Paid } from '../../../cel/cost-budget.ts';
import type { CelProgram } from '../../../cel/environment.ts';
import { createAdmissionEnvironment } from '../webhook/admission-environment.ts';

/** In which an expression of a policy is compiled. */
export type PolicyEnvironments = {
  readonly matchConditions: CelEnvironment;
  /** For validations and audit annotations: with `variables` so far. */
  expressions(): CelEnvironment;
  /** For message expressions, which may not ask the authorizer. */
  messages(): CelEnvironment;
  /** Makes `variables.NAME` known to what is compiled from now on. */
  declare(name: string, type: string): void;
};

const WITHOUT_PARAMS = baseEnvironments(false);
const WITH_PARAMS = baseEnvironments(true);

function baseEnvironments(hasParams: boolean): { readonly full: CelEnvironment; readonly plain: CelEnvironment } {
  return {
    full: createAdmissionEnvironment({ hasAuthorizer: true, hasParams }),
    plain: createAdmissionEnvironment({ hasAuthorizer: false, hasParams }),
  };
}

/** Match conditions see no `variables`, messages no `authorizer`, and only a policy with a paramKind has `params`. */
export function policyEnvironments(hasParams: boolean): PolicyEnvironments {
  const { full, plain } = hasParams ? WITH_PARAMS : WITHOUT_PARAMS;
  const types: Record<string, string> = {};
  const extended = (base: CelEnvironment): (() => CelEnvironment) => {
    let made: { readonly environment: CelEnvironment; readonly size: number } | undefined;
    return () => {
      const size = Object.keys(types).length;
      if (made?.size !== size) made = { environment: withVariables(base, types), size };
      return made.environment;
    };
  };
  return {
    matchConditions: full,
    expressions: extended(full),
    messages: extended(plain),
    declare: (name, type) => {
      types[name] = type;
    },
  };
}

const withVariables = (base: CelEnvironment, types: Readonly<Record<string, string>>): CelEnvironment =>
  base
    .clone()
    .registerType('kubernetes.variables', { ctor: Variables, fields: { ...types } })
    .registerVariable('variables', 'kubernetes.variables');

class Variables {}

export type CompiledVariable = { readonly name: string; readonly program: CelProgram };

/**
 * `variables` of one evaluation: each is computed when it is first read, once, failures too. `all` are the variables that expressions see;
 * `paid` hears what a computation has cost.
 */
export function lazyVariables(compiled: readonly CompiledVariable[], all: () => Record<string, unknown>, paid?: Paid): unknown {
  const variables = new Variables();
  for (const { name, program } of compiled) {
    let outcome: ReturnType<CelProgram['run']> | undefined;
    Object.defineProperty(variables, name, {
      enumerable: true,
      get: () => {
        if (outcome === undefined) {
          outcome = program.run(all());
          paid?.(outcome.cost);
        }
        if (outcome.error !== undefined) throw new Error(`composited variable ${JSON.stringify(name)} fails to evaluate: ${outcome.error}`);
        return outcome.value;
      },
    });
  }
  return variables;
}
