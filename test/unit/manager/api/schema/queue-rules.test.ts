import { describe, expect, test } from 'vitest';
import { CLUSTER_QUEUE_SCHEMA, ClusterQueueSpecSchema } from '../../../../../manager/api/schema/cluster-queue.ts';
import { COHORT_SCHEMA, CohortSpecSchema } from '../../../../../manager/api/schema/cohort.ts';
import { PriorityBoundsSchema } from '../../../../../manager/api/schema/local-queue.ts';
import { compileCel, kubernetesEnvironment } from '../../../../../shared/cel/environment.ts';

type Rules = { readonly 'x-kubernetes-validations': readonly { readonly rule: string; readonly message: string }[] };

/** Messages of the rules that an object breaks. */
const broken = (schema: object, self: object): string[] =>
  (schema as Rules)['x-kubernetes-validations']
    .filter(({ rule }) => {
      const { value, error } = compileCel(kubernetesEnvironment.clone().registerVariable('self', 'dyn'), rule).run({ self });
      if (error !== undefined) throw new Error(`${rule}: ${error}`);
      return value !== true;
    })
    .map(({ message }) => message);

/** Quantities as text: from JSON the API server makes integers of numbers, which a plain object does not have. */
const groups = (limits: object) => [
  { coveredResources: ['cpu'], flavors: [{ name: 'f', resources: [{ name: 'cpu', nominalQuota: '1' }] }] },
  { coveredResources: ['memory'], flavors: [{ name: 'g', resources: [{ name: 'memory', nominalQuota: '1', ...limits }] }] },
];

describe.each([
  ['a ClusterQueue', ClusterQueueSpecSchema, 'cohortName'],
  ['a Cohort', CohortSpecSchema, 'parentName'],
])('%s', (_kind, schema, above) => {
  test.each(['borrowingLimit', 'lendingLimit'])(`has a %s only below another, whose name is in ${above}`, (limit) => {
    expect(broken(schema, { resourceGroups: groups({ [limit]: '1' }) })).toEqual([`${limit} must not be set without ${above}`]);
    expect(broken(schema, { [above]: 'all', resourceGroups: groups({ [limit]: '1' }) })).toEqual([]);
  });
  test('may be without limits, and without any quota', () => {
    expect(broken(schema, { resourceGroups: groups({}) })).toEqual([]);
    expect(broken(schema, {})).toEqual([]);
  });
});

test('a ClusterQueue needs a spec, a Cohort may be a name and nothing else', () => {
  expect([CLUSTER_QUEUE_SCHEMA.required, COHORT_SCHEMA.required]).toEqual([['spec'], []]);
});

test.each([
  [{}, true],
  [{ max: -5 }, true],
  [{ min: -5 }, true],
  [{ min: 1, max: 5 }, true],
  [{ min: 1 }, false],
  [{ min: 6, max: 5 }, false],
])('the priorities that a LocalQueue allows, %j, leave something to choose: %s', (bounds, allowed) => {
  expect(broken(PriorityBoundsSchema, bounds)).toEqual(allowed ? [] : ['min must not be greater than max, which is 0 where it is absent']);
});
