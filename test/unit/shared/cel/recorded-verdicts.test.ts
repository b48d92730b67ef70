/** What rules came to for one object, as recorded from kube-apiserver v1.36: `true`, `false`, or why there is no verdict. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compileRules } from '../../../../shared/controlplane/crd/cel-rules.ts';
import type { JsonSchema } from '../../../../shared/controlplane/crd/json-schema.ts';

type Recorded = {
  readonly schema: Record<string, JsonSchema>;
  readonly value: unknown;
  readonly verdicts: readonly (readonly [string, string])[];
};

const { schema, value, verdicts } = JSON.parse(readFileSync(new URL('./recorded-verdicts.json', import.meta.url), 'utf8')) as Recorded;

test.each(verdicts.map(([rule, verdict]) => ({ rule, verdict })))('$rule is $verdict', ({ rule, verdict }) => {
  const validate = compileRules({ type: 'object', properties: schema, 'x-kubernetes-validations': [{ rule, message: 'refused' }] });
  const found = validate?.(value)[0]?.body ?? 'true';
  const shown =
    found === 'Invalid value: refused'
      ? 'false'
      : found.replace(/^Invalid value: "object": /, '').replace(/ (?:evaluating|for) rule: refused$/, '');
  expect(shown).toBe(verdict);
});
