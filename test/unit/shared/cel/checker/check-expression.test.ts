/** What kube-apiserver v1.36 said of rules on one schema: '' where it took them. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkExpression } from '../../../../../shared/cel/checker/check-expression.ts';
import { formatType } from '../../../../../shared/cel/checker/static-type.ts';
import { declaredType } from '../../../../../shared/controlplane/crd/declared-type.ts';
import type { JsonSchema } from '../../../../../shared/controlplane/crd/json-schema.ts';

type Recorded = { readonly schema: Record<string, JsonSchema>; readonly findings: readonly (readonly [string, string])[] };

const { schema, findings } = JSON.parse(readFileSync(new URL('./recorded-findings.json', import.meta.url), 'utf8')) as Recorded;
const self = declaredType({ type: 'object', properties: schema }, false);

function judge(rule: string): string {
  if (self === undefined) throw new Error('the schema has no type for rules');
  const variables = new Map([
    ['self', self],
    ['oldSelf', self],
  ]);
  const checked = checkExpression(rule, variables);
  if ('finding' in checked) return checked.finding;
  return formatType(checked.type) === 'bool' ? '' : 'cel expression must evaluate to a bool';
}

test.each(findings.map(([rule, finding]) => ({ rule, finding })))('$rule', ({ rule, finding }) => {
  expect(judge(rule)).toBe(finding);
});
