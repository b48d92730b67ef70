import { CostBudget, OutOfBudgetError, type Paid } from '../../../cel/cost-budget.ts';
import { type CelOutcome, type CelProgram, compileCel } from '../../../cel/environment.ts';
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
  refusals(variables: Record<string, unknown>, paid?: Paid): Verdict;
};

export type Verdict = {
  /** For the actions of the binding. */
  readonly refusals: readonly Refusal[];
  /** Denied whatever the actions: an audit annotation that cannot be computed. */
  readonly denials: readonly Refusal[];
};

const MESSAGE_MAX_BYTES = 5 * 1024;
/** RuntimeCELCostBudget of apiserver: for validations and their messages, and as much for audit annotations. */
const COST_BUDGET = 10_000_000;

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
    refusals: (given, paid) =>
      judge({ conditions, variables, validations, annotations, ignoresErrors: failurePolicy === 'Ignore' }, given, paid),
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

function judge(parts: Parts, given: Record<string, unknown>, paid: Paid | undefined): Verdict {
  const { matches, error } = parts.conditions.judge({ ...given, namespaceObject: null }, paid);
  if (error !== undefined) return { refusals: [{ message: error, reason: '' }], denials: [] };
  if (!matches) return { refusals: [], denials: [] };
  try {
    const refusals = refusalsOf(parts, given, new CostBudget(COST_BUDGET, paid));
    return { refusals, denials: denialsOf(parts, given, new CostBudget(COST_BUDGET, paid)) };
  } catch (failed) {
    // Also what was found until then is no longer said.
    if (failed instanceof OutOfBudgetError) return { refusals: failure(parts, failed.message), denials: [] };
    throw failed;
  }
}

/** What becomes of a request about which a policy cannot say anything. */
const failure = ({ ignoresErrors }: Parts, message: string): Refusal[] => (ignoresErrors ? [] : [{ message, reason: '' }]);

function refusalsOf(parts: Parts, given: Record<string, unknown>, budget: CostBudget): Refusal[] {
  const evaluate = evaluatorOf(parts, given, budget);
  const outcomes = parts.validations.map((each) => ({ each, ...evaluate(each.program) }));
  const messages = messagesOf(parts, given, budget);
  return outcomes.flatMap(({ each, value, error }, i) => {
    if (error !== undefined) return failure(parts, failureOf(each.program, error));
    if (messages instanceof OutOfBudgetError) return failure(parts, `failed messageExpression: ${messages.message}`);
    return value === true ? [] : [{ message: messageOf(each, messages[i]), reason: each.validation.reason ?? 'Invalid' }];
  });
}

/** The messages of all validations, whether they are needed or not, as far as they are computed. */
function messagesOf(parts: Parts, given: Record<string, unknown>, budget: CostBudget): unknown[] | OutOfBudgetError {
  const evaluate = evaluatorOf(parts, given, budget);
  try {
    return parts.validations.map(({ message }) => (message === undefined ? undefined : evaluate(message).value));
  } catch (error) {
    if (error instanceof OutOfBudgetError) return error;
    throw error;
  }
}

/** There is no audit log to write the values to; one without a value refuses all the same. */
function denialsOf(parts: Parts, given: Record<string, unknown>, budget: CostBudget): Refusal[] {
  const evaluate = evaluatorOf(parts, given, budget);
  return parts.annotations.flatMap((program) => {
    const { error } = evaluate(program);
    return error === undefined ? [] : failure(parts, failureOf(program, error));
  });
}

/** Evaluates with `variables` of its own, and pays for them as they are computed. Throws an OutOfBudgetError. */
function evaluatorOf({ variables }: Parts, given: Record<string, unknown>, budget: CostBudget): (program: CelProgram) => CelOutcome {
  const all: Record<string, unknown> = { ...given };
  let ofVariables = 0;
  all['variables'] = lazyVariables(
    variables,
    () => all,
    (cost) => (ofVariables += cost),
  );
  return (program) => {
    ofVariables = 0;
    const outcome = program.run(all);
    budget.spend(ofVariables + outcome.cost);
    return outcome;
  };
}

/** A computed message that is no text, empty, too long or of several lines gives way to the fixed one, and that to the expression. */
function messageOf({ validation }: CompiledValidation, value: unknown): string {
  const computed = typeof value === 'string' ? value.trim() : '';
  if (computed !== '' && !computed.includes('\n') && Buffer.byteLength(computed) <= MESSAGE_MAX_BYTES) return computed;
  return (validation.message?.trim() ?? '') || `failed expression: ${validation.expression?.trim() ?? ''}`;
}
