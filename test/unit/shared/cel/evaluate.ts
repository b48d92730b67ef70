import { compileCel, kubernetesEnvironment } from '../../../../shared/cel/environment.ts';

/** What an expression comes to, or the sentence that says why it comes to nothing. */
export function evaluate(expression: string, variables: Record<string, unknown> = {}): unknown {
  const environment = kubernetesEnvironment.clone();
  for (const name of Object.keys(variables)) environment.registerVariable(name, 'dyn');
  const { value, error } = compileCel(environment, expression).run(variables);
  return error === undefined ? value : `error: ${error}`;
}
