import { type Checked, checkTypes } from './check-types.ts';
import type { Variables } from './declarations.ts';
import { showProblems } from './show-problems.ts';
import { literalProblems } from './literal-validation.ts';
import { parseExpression } from './parse-expression.ts';
import type { Expression } from './expression.ts';
import type { StaticType } from './static-type.ts';

/** An expression that compiles. */
export type CheckedExpression = Pick<Checked, 'typeOf' | 'resolutionOf'> & { readonly expression: Expression; readonly type: StaticType };

/** The type of an expression, or in cel-go's words why it does not compile. */
export function checkExpression(source: string, variables: Variables): CheckedExpression | { readonly finding: string } {
  const { expression, problems } = parseExpression(source);
  if (problems.length > 0) return { finding: showProblems(source, problems) };
  const checked = checkTypes(expression, variables);
  if (checked.problems.length > 0) return { finding: showProblems(source, checked.problems) };
  const wrongLiterals = literalProblems(expression, checked.typeOf);
  if (wrongLiterals.length > 0) return { finding: showProblems(source, wrongLiterals) };
  return { expression, type: checked.typeOf(expression), typeOf: checked.typeOf, resolutionOf: checked.resolutionOf };
}
