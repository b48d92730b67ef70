import { expect, test } from 'vitest';
import { formatType } from '../../../../../shared/cel/checker/static-type.ts';
import { declaredType } from '../../../../../shared/controlplane/crd/declared-type.ts';

test.each([
  [{ type: 'array', items: { type: 'integer' } }, 'list(int)'],
  [{ type: 'object', additionalProperties: { type: 'string', format: 'date-time' } }, 'map(string, timestamp)'],
  [{ 'x-kubernetes-int-or-string': true }, 'dyn'],
])('a schema has a type for rules: %j', (schema, type) => {
  const found = declaredType(schema, false);
  expect(found === undefined ? undefined : formatType(found)).toBe(type);
});

test('what a schema does not describe is not there for rules', () => {
  const type = declaredType(
    { type: 'object', properties: { a: { type: 'string' }, b: { 'x-kubernetes-preserve-unknown-fields': true } } },
    true,
  );
  expect([...(type?.fields?.keys() ?? [])]).toEqual(['a', 'apiVersion', 'kind', 'metadata']);
  expect(declaredType({ 'x-kubernetes-preserve-unknown-fields': true }, false)).toBeUndefined();
});
