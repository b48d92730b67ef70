/**
 * Goal: what Kueue's webhooks and definitions refuse of queues, flavors and cohorts, the API server refuses here by the definitions alone.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { COHORTS } from '../../manager/api/cohort.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { RESOURCE_FLAVORS } from '../../manager/api/resource-flavor.ts';
import { WORKLOAD_PRIORITY_CLASSES } from '../../manager/api/workload-priority-class.ts';
import type { Resource } from '../../shared/api/resources.ts';
import { createKindsPlane } from '../support/kinds-plane.ts';

let plane: Awaited<ReturnType<typeof createKindsPlane>>;
beforeAll(async () => {
  plane = await createKindsPlane();
});
afterAll(() => plane.close());

let made = 0;
const create = (resource: Resource, fields: object, name = `x-${made++}`) =>
  plane.client.create(
    resource,
    {
      apiVersion: 'switchyard.dev/v1alpha1',
      kind: resource.kind,
      metadata: { name, ...(resource.namespaced ? { namespace: 'default' } : {}) },
      ...fields,
    } as never,
    { fieldValidation: 'Strict' },
  );
const withSpec = (resource: Resource, spec: object, name?: string) => create(resource, { spec }, name);

const quota = (name: string, limits: object = {}) => ({ name, nominalQuota: 1, ...limits });
const group = (coveredResources: string[], flavors: string[], limits: object = {}) => ({
  coveredResources,
  flavors: flavors.map((name) => ({ name, resources: coveredResources.map((resource) => quota(resource, limits)) })),
});
const queueOf = (...resourceGroups: object[]) => ({ cohortName: 'all', resourceGroups });
const cohortOf = (...resourceGroups: object[]) => ({ parentName: 'root', resourceGroups });
const cpu = (limits: object) => group(['cpu'], ['f'], limits);
const names = (count: number, prefix = 'f') => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
/** As many groups as there are, each with `flavors` flavors and `resources` resources of its own. */
const fullGroups = (groups: number, flavors: number, resources: number) =>
  names(groups, 'g').map((each) => group(names(resources, `${each}-r`), names(flavors, `${each}-f`)));

const QUOTAS = 'spec.resourceGroups[0].flavors[0].resources[0]';

describe.each([
  ['a ClusterQueue', CLUSTER_QUEUES, queueOf],
  ['a Cohort', COHORTS, cohortOf],
])('the quotas of %s', (_kind, resource, specOf) => {
  test.each(['nominalQuota', 'borrowingLimit', 'lendingLimit'])('have no negative %s, as a number or as text', async (field) => {
    for (const negative of [-1, '-1', '-500m']) {
      await expect(withSpec(resource, specOf(cpu({ [field]: negative })))).rejects.toThrow(
        `${QUOTAS}.${field}: Invalid value: ${typeof negative === 'number' ? negative : `"${negative}"`}: ${field} must not be negative; write 0 or more`,
      );
    }
    const limits = { nominalQuota: 1, [field]: 0 };
    await withSpec(resource, specOf(cpu(limits)));
    await withSpec(resource, specOf(cpu({ ...limits, [field]: '0' })));
  });

  test.each<[string, object[], string]>([
    [
      'a resource in two groups',
      [group(['cpu', 'memory'], ['a']), group(['memory'], ['b'])],
      'a resource must not be in the coveredResources of two groups',
    ],
    ['a flavor in two groups', [group(['cpu'], ['a']), group(['memory'], ['a'])], 'a flavor of group 1 is in a group before it, too'],
    [
      'a flavor in its first and in its last group',
      [...fullGroups(15, 2, 1), group(['cpu'], ['new', 'g-0-f-1'])],
      'a flavor of group 15 is in a group before it, too; name each flavor in one group only',
    ],
    ['a flavor twice in one group', [group(['cpu'], ['a', 'a'])], 'Duplicate value: {"name":"a"}'],
    ['a resource twice in one group', [group(['cpu', 'cpu'], ['a'])], 'Duplicate value: {"name":"cpu"}'],
    ['more than 64 flavors in a group', [group(['cpu'], names(65))], 'spec.resourceGroups[0].flavors: Too many: 65: must have at most 64'],
    ['more than 16 groups', fullGroups(17, 1, 1), 'spec.resourceGroups: Too many: 17: must have at most 16'],
    ['more than 256 flavors in all', [...fullGroups(4, 64, 1), group(['cpu'], ['a'])], 'must not have more than 256 flavors together'],
    ['more than 256 resources in all', [...fullGroups(4, 1, 64), group(['cpu'], ['a'])], 'must not cover more than 256 resources together'],
    ['more than 512 quotas in a group', [group(names(9, 'r'), names(57))], 'must not be more than 512 in a group'],
    ['a flavor that lacks a resource', [{ ...group(['cpu'], ['a']), coveredResources: ['cpu', 'memory'] }], 'exactly the coveredResources'],
    [
      'a resource whose name is none',
      [group(['a b'], ['a'])],
      'spec.resourceGroups[0].coveredResources[0]: Invalid value: "a b": spec.resourceGroups[0].coveredResources[0] in body should match',
    ],
    [
      'a flavor whose name is none',
      [group(['cpu'], ['A_b'])],
      'spec.resourceGroups[0].flavors[0].name: Invalid value: "A_b": spec.resourceGroups[0].flavors[0].name in body should match',
    ],
    ['an amount that is none', [cpu({ nominalQuota: 'four' })], `${QUOTAS}.nominalQuota in body should match`],
    ['no flavor', [{ coveredResources: ['cpu'], flavors: [] }], 'spec.resourceGroups[0].flavors in body should have at least 1 items'],
    [
      'no resource',
      [{ coveredResources: [], flavors: [] }],
      'spec.resourceGroups[0].coveredResources in body should have at least 1 items',
    ],
  ])('have not %s', async (_what, groups, message) => {
    await expect(withSpec(resource, specOf(...groups))).rejects.toThrow(message);
  });

  test.each<[string, object[]]>([
    ['64 flavors in a group', [group(['cpu'], names(64))]],
    ['256 flavors in four groups', fullGroups(4, 64, 2)],
    ['16 flavors in each of 16 groups', fullGroups(16, 16, 16)],
    ['64 resources in a group', [group(names(64, 'r'), names(8))]],
    [
      'resources of other vendors, and amounts of every kind',
      [group(['nvidia.com/gpu', 'pods', 'hugepages-2Mi'], ['a'], { nominalQuota: '1.5Ki' })],
    ],
    ['no amount at all', [cpu({ nominalQuota: 0 })]],
  ])('may have %s', async (_what, groups) => {
    await withSpec(resource, specOf(...groups));
  });
});

describe('what is lent', () => {
  const lending = (nominalQuota: string | number, lendingLimit: string | number) => queueOf(cpu({ nominalQuota, lendingLimit }));
  test.each<[string | number, string | number]>([
    [1, 2],
    [1, '1001m'],
    ['1Ki', 1025],
    ['1Gi', '2G'],
    [0, '1m'],
  ])('of a nominal quota of %s is not %s', async (nominal, limit) => {
    await expect(withSpec(CLUSTER_QUEUES, lending(nominal, limit))).rejects.toThrow(
      'lendingLimit must not be greater than nominalQuota; lower it, or leave it out to lend all',
    );
  });
  test.each<[string | number, string | number]>([
    [1, 1],
    [2, '2000m'],
    ['2G', '1Gi'],
    ['1.5', 1],
  ])('of a nominal quota of %s may be %s', async (nominal, limit) => {
    await withSpec(CLUSTER_QUEUES, lending(nominal, limit));
  });
  test('by a Cohort may be more than its own, as its members lend to it', async () => {
    await withSpec(COHORTS, cohortOf(cpu({ nominalQuota: 1, lendingLimit: 5 })));
  });
});

test('limits need somebody above to borrow from', async () => {
  const { resourceGroups } = queueOf(cpu({ borrowingLimit: 1 }));
  await expect(withSpec(CLUSTER_QUEUES, { resourceGroups })).rejects.toThrow('borrowingLimit must not be set without cohortName');
  await expect(withSpec(COHORTS, { resourceGroups })).rejects.toThrow('borrowingLimit must not be set without parentName');
});

test('a Cohort is not its own parent, on its birth or later', async () => {
  const message = 'spec.parentName must not be the name of the Cohort itself; name another one, or leave it out';
  await expect(withSpec(COHORTS, { parentName: 'loop' }, 'loop')).rejects.toThrow(message);
  await withSpec(COHORTS, { parentName: 'root' }, 'loop');
  const patch = { type: 'merge' as const, body: { spec: { parentName: 'loop' } } };
  await expect(plane.client.patch(COHORTS, { namespace: '', name: 'loop' }, patch)).rejects.toThrow(message);
  await create(COHORTS, {});
});

describe.each<[string, Resource, (selector: object) => object]>([
  ['the namespaces of a ClusterQueue', CLUSTER_QUEUES, (namespaceSelector) => ({ namespaceSelector })],
  ['the clusters of a ResourceFlavor', RESOURCE_FLAVORS, (clusterSelector) => ({ clusterSelector })],
])('a selector of %s', (_what, resource, specOf) => {
  const requirement = (parts: object) => specOf({ matchExpressions: [parts] });
  test.each<[string, object, string]>([
    ['In without values', requirement({ key: 'a', operator: 'In' }), 'values must not be empty with the operators In and NotIn'],
    [
      'NotIn of nothing',
      requirement({ key: 'a', operator: 'NotIn', values: [] }),
      'values must not be empty with the operators In and NotIn',
    ],
    [
      'Exists with values',
      requirement({ key: 'a', operator: 'Exists', values: ['b'] }),
      'values must not be set with the operators Exists',
    ],
    ['an operator that is none', requirement({ key: 'a', operator: 'Gt', values: ['1'] }), 'Unsupported value: "Gt"'],
    ['a key that is none', requirement({ key: 'a b', operator: 'Exists' }), 'matchExpressions[0].key in body should match'],
    [
      'a value that is none',
      requirement({ key: 'a', operator: 'In', values: ['b c'] }),
      'matchExpressions[0].values[0] in body should match',
    ],
    ['a label whose value is none', specOf({ matchLabels: { a: 'b c' } }), 'matchLabels.a in body should match'],
    ['a label without a key', specOf({ matchLabels: { '': 'b' } }), 'the key of a label must have 1 to 317 characters'],
  ])('has not %s', async (_problem, spec, message) => {
    await expect(withSpec(resource, spec)).rejects.toThrow(message);
  });
  test('may have labels and every operator, or nothing', async () => {
    const matchExpressions = [
      { key: 'e.com/a', operator: 'In', values: ['x', ''] },
      { key: 'b', operator: 'NotIn', values: ['y'] },
      { key: 'c', operator: 'Exists' },
      { key: 'd', operator: 'DoesNotExist', values: [] },
    ];
    await withSpec(resource, specOf({ matchLabels: { team: 'a', 'e.com/b': '' }, matchExpressions }));
    await withSpec(resource, specOf({}));
  });
});

describe('a ResourceFlavor', () => {
  const tolerating = (...tolerations: object[]) => ({ tolerations });
  test.each<[string, object, string]>([
    ['a toleration of nothing in particular', tolerating({ effect: 'NoSchedule' }), 'operator must be Exists where key is absent'],
    [
      'a value where none is compared',
      tolerating({ key: 'a', operator: 'Exists', value: 'b' }),
      'value must not be set with the operator Exists',
    ],
    [
      'seconds without NoExecute',
      tolerating({ key: 'a', tolerationSeconds: 5 }),
      'tolerationSeconds must not be set without effect: NoExecute',
    ],
    ['an operator that is none', tolerating({ key: 'a', operator: 'Like' }), 'spec.tolerations[0].operator: Unsupported value: "Like"'],
    ['an effect that is none', tolerating({ key: 'a', effect: 'Never' }), 'spec.tolerations[0].effect: Unsupported value: "Never"'],
    ['a key that is none', tolerating({ key: 'a b' }), 'spec.tolerations[0].key in body should match'],
    ['a value that is none', tolerating({ key: 'a', value: 'b c' }), 'spec.tolerations[0].value in body should match'],
    ['more than 8 tolerations', tolerating(...names(9).map((key) => ({ key }))), 'spec.tolerations: Too many: 9: must have at most 8'],
    ['a label whose value is none', { nodeLabels: { a: '-' } }, 'spec.nodeLabels.a in body should match'],
    ['a label whose key is too long', { nodeLabels: { ['a'.repeat(318)]: 'b' } }, 'the key of a label must have 1 to 317 characters'],
    [
      'more than 8 labels',
      { nodeLabels: Object.fromEntries(names(9).map((key) => [key, 'x'])) },
      'spec.nodeLabels: Too many: 9: must have at most 8',
    ],
  ])('has not %s', async (_problem, spec, message) => {
    await expect(withSpec(RESOURCE_FLAVORS, spec)).rejects.toThrow(message);
  });
  test('may tolerate all taints, some for a while, and name its nodes', async () => {
    const tolerations = [
      { operator: 'Exists' },
      { key: 'e.com/spot', value: 'true', effect: 'NoSchedule' },
      { key: 'gone', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
    ];
    await withSpec(RESOURCE_FLAVORS, { nodeLabels: { 'e.com/type': 'spot', zone: '' }, tolerations });
  });
});

describe('a LocalQueue', () => {
  test.each<[object, string]>([
    [{ clusterQueue: 'A_b' }, 'spec.clusterQueue in body should match'],
    [{}, 'spec.clusterQueue: Required value'],
    [{ clusterQueue: 'a', stopPolicy: 'Never' }, 'spec.stopPolicy: Unsupported value: "Never"'],
  ])('is not %j', async (spec, message) => {
    await expect(withSpec(LOCAL_QUEUES, spec)).rejects.toThrow(message);
  });
  test('keeps its ClusterQueue', async () => {
    await withSpec(LOCAL_QUEUES, { clusterQueue: 'a' }, 'kept');
    const key = { namespace: 'default', name: 'kept' };
    const move = plane.client.patch(LOCAL_QUEUES, key, { type: 'merge', body: { spec: { clusterQueue: 'b' } } });
    await expect(move).rejects.toThrow('spec.clusterQueue: Invalid value: "b": clusterQueue is immutable');
  });
});

test.each<[object, string]>([
  [{}, 'value: Required value'],
  [{ value: 2 ** 31 }, 'must be of type integer with format int32'],
  [{ value: 1, description: 'a'.repeat(2049) }, 'description: Too long: may not be more than 2048'],
])('a WorkloadPriorityClass is not %j', async (fields, message) => {
  await expect(create(WORKLOAD_PRIORITY_CLASSES, fields)).rejects.toThrow(message);
});
