/** Applies admission policies to a write as an API server does, with its CEL, and without one. */
import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { admissionEnvironment } from '../../shared/controlplane/admission/webhook/admission-environment.ts';
import { compileCel, type CelProgram } from '../../shared/controlplane/cel/environment.ts';
import { toCelValue } from '../../shared/controlplane/cel/values.ts';

export type PolicyRequest = {
  readonly subresource: string;
  readonly object: DeepReadonly<Job>;
  readonly oldObject: DeepReadonly<Job> | undefined;
  readonly username: string;
  readonly fieldManager: string | undefined;
};
type Named = { readonly name: string; readonly expression: string };
export type EvaluablePolicy = {
  readonly matchConditions: readonly Named[];
  readonly variables: readonly Named[];
  readonly validations: readonly { readonly expression: string; readonly message: string }[];
};

const environment = admissionEnvironment.clone().registerVariable('variables', 'dyn');
const programs = new Map<string, CelProgram>();

/** The value of an expression; throws where it has none. */
function evaluate(expression: string, values: Record<string, unknown>): unknown {
  let program = programs.get(expression);
  if (program === undefined) programs.set(expression, (program = compileCel(environment, expression)));
  const { value, error } = program.run(values);
  if (error !== undefined) throw new Error(`${expression}: ${error}`);
  return value;
}

const valuesOf = ({ subresource, object, oldObject, username, fieldManager }: PolicyRequest): Record<string, unknown> => ({
  object: toCelValue(object),
  oldObject: toCelValue(oldObject ?? null),
  request: {
    subResource: subresource,
    namespace: object.metadata.namespace,
    userInfo: { username, groups: [] },
    options: fieldManager === undefined ? {} : { fieldManager },
  },
});

export const matches = (conditions: readonly Named[], request: PolicyRequest): boolean =>
  conditions.every(({ expression }) => evaluate(expression, valuesOf(request)) === true);

/** The messages of the validations that a request fails; none where the policy does not match. */
export function violations({ matchConditions, variables, validations }: EvaluablePolicy, request: PolicyRequest): string[] {
  if (!matches(matchConditions, request)) return [];
  const values: Record<string, unknown> = { ...valuesOf(request), variables: {} };
  for (const { name, expression } of variables)
    values['variables'] = { ...(values['variables'] as object), [name]: evaluate(expression, values) };
  return validations.filter(({ expression }) => evaluate(expression, values) !== true).map(({ message }) => message);
}
