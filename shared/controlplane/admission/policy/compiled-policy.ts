import type { CelProgram } from '../../cel/environment.ts';
import { compileCel } from '../../cel/environment.ts';
import { compileMatchConditions, type CompiledMatchConditions, failureOf, type MatchCondition } from '../webhook/match-conditions.ts';
import { type CompiledVariable, lazyVariables, policyEnvironments } from './policy-environments.ts';
import type { DecodedPolicySpec, DecodedValidation } from './policy.ts';

/** Why a policy refuses a request. */
export type Refusal = {
  readonly message: string;
  /** A reason of a Status. */
  readonly reason: string;
};

/** A policy ready to be asked. */
export type CompiledPolicy = {
  /** One refusal for each validation that fails; `variables` are those of `admissionVariables`, with `params` and the namespace. */
  refusals(variables: Record<string, unknown>): Verdict;
};

export type Verdict = {
  /** For the actions of the binding. */
  readonly refusals: readonly Refusal[];
  /** Denied whatever the actions: an audit annotation that cannot be computed. */
  readonly denials: readonly Refusal[];
};

const MESSAGE_MAX_BYTES = 5 * 1024;
const NOTHING: Verdict = { refusals: [], denials: [] };

/** Expressions have been checked when the policy was stored, so compiling does not fail here. */
export function compilePolicy(spec: DecodedPolicySpec): CompiledPolicy {
  const failurePolicy = spec.failurePolicy === 'Ignore' ? 'Ignore' : 'Fail';
  const environments = policyEnvironments(spec.paramKind !== undefined);
  const conditions = compileMatchConditions(namedConditions(spec), failurePolicy, environments.matchConditions);
  const variables: CompiledVariable[] = [];
  for (const { name = '', expression = '' } of spec.variables ?? []) {
    const program = compileCel(environments.expressions(), expression);
    environments.declare(name, program.type);
    variables.push({ name, program });
  }
  const validations = (spec.validations ?? []).map((validation) => ({
    validation,
    program: compileCel(environments.expressions(), validation.expression ?? ''),
    message:
      (validation.messageExpression ?? '') === '' ? undefined : compileCel(environments.messages(), validation.messageExpression ?? ''),
  }));
  const annotations = (spec.auditAnnotations ?? []).map(({ valueExpression = '' }) =>
    compileCel(environments.expressions(), valueExpression.trim()),
  );
  return {
    refusals: (given) => judge({ conditions, variables, validations, annotations, ignoresErrors: failurePolicy === 'Ignore' }, given),
  };
}

const namedConditions = ({ matchConditions = [] }: DecodedPolicySpec): MatchCondition[] =>
  matchConditions.map(({ name = '', expression = '' }) => ({ name, expression }));

type CompiledValidation = {
  readonly validation: DecodedValidation;
  readonly program: CelProgram;
  readonly message: CelProgram | undefined;
};
type Parts = {
  readonly conditions: CompiledMatchConditions;
  readonly variables: readonly CompiledVariable[];
  readonly validations: readonly CompiledValidation[];
  readonly annotations: readonly CelProgram[];
  readonly ignoresErrors: boolean;
};

function judge({ conditions, variables, validations, annotations, ignoresErrors }: Parts, given: Record<string, unknown>): Verdict {
  const outcome = conditions.judge({ ...given, namespaceObject: null });
  if (outcome.error !== undefined) return { refusals: [{ message: outcome.error, reason: '' }], denials: [] };
  if (!outcome.matches) return NOTHING;
  const all: Record<string, unknown> = { ...given };
  all['variables'] = lazyVariables(variables, () => all);
  const failure = (program: CelProgram, error: string): Refusal[] =>
    ignoresErrors ? [] : [{ message: failureOf(program, error), reason: '' }];
  return {
    refusals: validations.flatMap((each) => {
      const { value, error } = each.program.run(all);
      if (error !== undefined) return failure(each.program, error);
      return value === true ? [] : [{ message: messageOf(each, all), reason: each.validation.reason ?? 'Invalid' }];
    }),
    // There is no audit log to write the values to; one without a value refuses all the same.
    denials: annotations.flatMap((program) => {
      const { error } = program.run(all);
      return error === undefined ? [] : failure(program, error);
    }),
  };
}

/** A computed message that fails, is empty, too long or of several lines gives way to the fixed one, and that to the expression. */
function messageOf({ validation, message }: CompiledValidation, variables: Record<string, unknown>): string {
  const { value } = message?.run(variables) ?? {};
  const computed = typeof value === 'string' ? value.trim() : '';
  if (computed !== '' && !computed.includes('\n') && Buffer.byteLength(computed) <= MESSAGE_MAX_BYTES) return computed;
  return (validation.message?.trim() ?? '') || `failed expression: ${validation.expression?.trim() ?? ''}`;
}
