import { expect, test } from 'vitest';
import { costProblem } from '../../../../../shared/controlplane/crd/cost-limits.ts';
import { createCostTotal } from '../../../../../shared/controlplane/crd/cost-total.ts';
import type { Crd } from '../../../../../shared/controlplane/crd/crd.ts';
import { validateCrdUpdate } from '../../../../../shared/controlplane/crd/crd-validation.ts';
import { ruleCostCheck, timesInside } from '../../../../../shared/controlplane/crd/rule-cost.ts';
import { sizedTypeOf } from '../../../../../shared/controlplane/crd/sized-type.ts';

test('the factor is shown more exactly the nearer it is to the limit', () => {
  expect(costProblem('cost', 12_345_678, 10_000_000)).toContain('by factor of 1.234568x (try');
  expect(costProblem('cost', 25_000_000, 10_000_000)).toContain('by factor of 2.5x (try');
  expect(costProblem('cost', Infinity, 10_000_000)).toContain('by factor of more than 100x (try');
});

test('of rules that are too much together the four that cost most are named', () => {
  const total = createCostTotal();
  for (const cost of [9, 8, 7, 10, 6, 70].map((millions) => millions * 1_000_000)) total.observe(`rule of ${cost}`, cost);
  expect(total.problems('schema').map(({ field }) => field)).toEqual([
    'rule of 70000000',
    'rule of 10000000',
    'rule of 9000000',
    'rule of 8000000',
    'schema',
  ]);
});

test('what is inside of lists and maps is there as often as these let it', () => {
  expect(timesInside({ type: 'array', maxItems: 5 }, 3)).toBe(15);
  expect(timesInside({ type: 'object', additionalProperties: {} }, 3)).toBeUndefined();
  expect(timesInside({ type: 'object' }, undefined)).toBeUndefined();
});

test('without a limit there are as many values as a request has room for', () => {
  expect(sizedTypeOf({ type: 'array', items: { type: 'string' } }, false)?.maxElements).toBe(Math.floor((3 * 1024 * 1024 - 2) / 3));
  expect(sizedTypeOf({ 'x-kubernetes-int-or-string': true, maxLength: 20 }, false)?.maxElements).toBe(80);
});

test('a rule that did not compile costs nothing', () => {
  const check = ruleCostCheck({ type: 'string' }, false, 1, { total: createCostTotal(), anyOfOne: false });
  expect(check({ problems: [], rule: undefined, message: undefined }, 'rules[0]')).toEqual([]);
});

const costly = (rule: string): Crd =>
  ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'as.x.dev', resourceVersion: '1' },
    spec: {
      group: 'x.dev',
      scope: 'Namespaced',
      names: { plural: 'as', singular: 'a', kind: 'A', listKind: 'AList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schemaWith(rule) } }],
    },
    status: { storedVersions: ['v1'] },
  }) as unknown as Crd;
const schemaWith = (rule: string): object => ({
  type: 'object',
  properties: { a: { type: 'array', maxItems: 64, items: { type: 'string', 'x-kubernetes-validations': [{ rule }] } } },
});

test('a rule that cost too much before may go on so, in a schema that stays', () => {
  expect(validateCrdUpdate(costly('self == self'), costly('self == self'))).toEqual([]);
  expect(validateCrdUpdate(costly('self == self'), costly('true')).map(({ body }) => body)).toEqual([
    expect.stringContaining('estimated rule cost exceeds budget by factor of 2.0x'),
  ]);
});
