import type { CelEnvironment } from '../../../cel/cel-environment.ts';
import { CelCompileError, type CelProgram, CelProgramError, compileCel, kubernetesEnvironment } from '../../../cel/environment.ts';
import { NAMESPACE } from './namespace-type.ts';
import { registerAuthorizerLibrary } from './authorizer-library.ts';
import { registerRequestTypes } from './request-value.ts';

/**
 * What expressions of admission may speak about: match conditions of webhooks, and what else has the same variables (mustBuildEnvs of
 * apiserver). Objects are untyped: their schema is not looked at.
 */
export const admissionEnvironment: CelEnvironment = createAdmissionEnvironment({ hasAuthorizer: true, hasParams: false });

export type AdmissionVariables = {
  readonly hasAuthorizer: boolean;
  /** Objects of the kind that a policy names in `paramKind`. */
  readonly hasParams: boolean;
};

export function createAdmissionEnvironment({ hasAuthorizer, hasParams }: AdmissionVariables): CelEnvironment {
  const environment = kubernetesEnvironment.clone();
  registerRequestTypes(environment);
  environment
    .registerVariable('object', 'dyn')
    .registerVariable('oldObject', 'dyn')
    .registerVariable('namespaceObject', 'dyn', NAMESPACE)
    .registerVariable('request', 'kubernetes.AdmissionRequest');
  if (hasAuthorizer) {
    registerAuthorizerLibrary(environment);
    environment
      .registerVariable('authorizer', 'kubernetes.authorization.Authorizer')
      .declareQualified('authorizer.requestResource', 'kubernetes.authorization.ResourceCheck');
  }
  if (hasParams) environment.registerVariable('params', 'dyn');
  return environment;
}

/** Compiles an expression whose value must be of one of these types. Throws a CelCompileError with the words of a finding. */
export function compileAdmissionExpression(
  environment: CelEnvironment,
  expression: string,
  types: readonly ('bool' | 'string' | 'null')[],
): CelProgram {
  const program = compiled(environment, expression);
  // What is known at run time only is not good enough: the checker must be sure.
  if (types.some((type) => type === program.type)) return program;
  const wanted = types.length === 1 ? goType(types[0] ?? '') : `one of [${types.map(goType).join(' ')}]`;
  throw new CelCompileError(`must evaluate to ${wanted} but got ${goType(program.type)}`);
}

/** An expression of any type. Throws a CelCompileError with the words of a finding. */
export function compiled(environment: CelEnvironment, expression: string): CelProgram {
  try {
    return compileCel(environment, expression);
  } catch (error) {
    if (!(error instanceof CelCompileError) || error instanceof CelProgramError) throw error;
    throw new CelCompileError(`compilation failed: ${error.message}`, { cause: error });
  }
}

/** How cel-go writes a type. */
const goType = (type: string): string => (type === 'null' ? 'null_type' : type.replaceAll('<', '(').replaceAll('>', ')'));
