/** Goal: the API server refuses queues and clusters that contradict themselves, in words that help. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { COHORTS } from '../../manager/api/cohort.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { RESOURCE_FLAVORS } from '../../manager/api/resource-flavor.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import type { Resource } from '../../shared/api/resources.ts';
import { createAdmissionWorld, NAMESPACE, type AdmissionWorld } from './admission-world.ts';

let world: AdmissionWorld;
beforeEach(async () => {
  world = await createAdmissionWorld();
});
afterEach(() => world.close());

const create = (resource: Resource, spec: object) =>
  world.client.create(resource, {
    apiVersion: 'switchyard.dev/v1alpha1',
    kind: resource.kind,
    metadata: { name: 'x', ...(resource.namespaced ? { namespace: NAMESPACE } : {}) },
    spec,
  } as never);
const group = (resource: object, coveredResources = ['cpu']) => [
  { coveredResources, flavors: [{ name: 'default', resources: [resource] }] },
];
const secret = { namespace: 'switchyard', name: 'eu-1' };

test.each([
  ['no way to reach it', WORKER_CLUSTERS, {}, /exactly one of kubeconfigSecretRef and local: true must be set/],
  [
    'two ways to reach it',
    WORKER_CLUSTERS,
    { kubeconfigSecretRef: secret, local: true },
    /exactly one of kubeconfigSecretRef and local: true/,
  ],
  ['an unknown state', WORKER_CLUSTERS, { kubeconfigSecretRef: secret, state: 'Closed' }, /Unsupported value: "Closed"/],
  ['an unknown way with namespaces', WORKER_CLUSTERS, { kubeconfigSecretRef: secret, namespaces: 'Maybe' }, /Unsupported value: "Maybe"/],
  [
    'labels for namespaces that it does not make',
    WORKER_CLUSTERS,
    { kubeconfigSecretRef: secret, namespaceLabels: ['team'] },
    /namespaceLabels must not be set without namespaces: Create/,
  ],
  [
    'a pattern for labels that chooses all',
    WORKER_CLUSTERS,
    { kubeconfigSecretRef: secret, namespaces: 'Create', namespaceLabels: ['team', '*'] },
    /spec.namespaceLabels\[1\] in body should match/,
  ],
  [
    'namespaces to be made where all are there',
    WORKER_CLUSTERS,
    { local: true, namespaces: 'Create' },
    /namespaces: Create must not be set on a local cluster/,
  ],
  [
    'no namespace at all',
    WORKER_CLUSTERS,
    { kubeconfigSecretRef: secret, servedNamespaces: [] },
    /spec.servedNamespaces.* at least 1 items/,
  ],
  [
    'a namespace that is none',
    WORKER_CLUSTERS,
    { kubeconfigSecretRef: secret, servedNamespaces: ['a', 'b/c'] },
    /spec.servedNamespaces\[1\] in body should match/,
  ],
  ['a capacity that is no quantity', WORKER_CLUSTERS, { kubeconfigSecretRef: secret, capacity: { cpu: 'much' } }, /spec.capacity/],
  [
    'a borrowing limit without a cohort',
    CLUSTER_QUEUES,
    { resourceGroups: group({ name: 'cpu', nominalQuota: 1, borrowingLimit: 1 }) },
    /borrowingLimit must not be set without cohortName/,
  ],
  [
    'a lending limit without a parent',
    COHORTS,
    { resourceGroups: group({ name: 'cpu', nominalQuota: 1, lendingLimit: 1 }) },
    /lendingLimit must not be set without parentName/,
  ],
  [
    'quota for another resource than it covers',
    CLUSTER_QUEUES,
    { resourceGroups: group({ name: 'memory', nominalQuota: 1 }) },
    /every flavor must give quota for exactly the coveredResources/,
  ],
  [
    'an unknown way to preempt in flavors',
    CLUSTER_QUEUES,
    { flavorFungibility: { whenCanPreempt: 'Borrow' } },
    /spec.flavorFungibility.whenCanPreempt: Unsupported value: "Borrow": supported values: "MayStopSearch", "TryNextFlavor", "Preempt"/,
  ],
  [
    'a preference among flavors without a search for the next one',
    CLUSTER_QUEUES,
    { flavorFungibility: { whenCanBorrow: 'TryNextFlavor', whenCanPreempt: 'MayStopSearch', preference: 'PreemptionOverBorrowing' } },
    /preference is for queues whose whenCanBorrow and whenCanPreempt are both TryNextFlavor/,
  ],
  [
    'preemption by borrowers in a queue that gets nothing back',
    CLUSTER_QUEUES,
    { preemption: { borrowWithinCohort: { policy: 'LowerPriority' } } },
    /borrowWithinCohort is a part of reclaimWithinCohort, which is Never/,
  ],
  ['an unknown policy of preemption', CLUSTER_QUEUES, { preemption: { withinClusterQueue: 'Any' } }, /Unsupported value: "Any"/],
  [
    'a threshold that is no priority',
    CLUSTER_QUEUES,
    { preemption: { reclaimWithinCohort: 'Any', borrowWithinCohort: { policy: 'LowerPriority', maxPriorityThreshold: 3_000_000_000 } } },
    /maxPriorityThreshold/,
  ],
  [
    'an unknown way to search for flavors',
    CLUSTER_QUEUES,
    { flavorFungibility: { whenCanBorrow: 'Preempt' } },
    /Unsupported value: "Preempt": supported values: "MayStopSearch", "TryNextFlavor", "Borrow"/,
  ],
  [
    'more labels of nodes than eight',
    RESOURCE_FLAVORS,
    { nodeLabels: Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => [`label-${n}`, 'x'])) },
    /spec.nodeLabels: Too many: 9: must have at most 8 items/,
  ],
  ['a value of a label that is none', RESOURCE_FLAVORS, { nodeLabels: { a: 'x y' } }, /spec.nodeLabels.a in body should match/],
  [
    'a taint that says nothing of its effect',
    RESOURCE_FLAVORS,
    { nodeTaints: [{ key: 'gpu' }] },
    /spec.nodeTaints\[0\].effect: Required value/,
  ],
  ['a taint of an unknown effect', RESOURCE_FLAVORS, { nodeTaints: [{ key: 'gpu', effect: 'Never' }] }, /Unsupported value: "Never"/],
  [
    'a taint whose key is none',
    RESOURCE_FLAVORS,
    { nodeTaints: [{ key: 'gpu/', effect: 'NoSchedule' }] },
    /spec.nodeTaints\[0\].key in body should match/,
  ],
  [
    'the same taint twice',
    RESOURCE_FLAVORS,
    { nodeTaints: ['a', 'b'].map((value) => ({ key: 'gpu', value, effect: 'NoSchedule' })) },
    /taints must differ in key or effect/,
  ],
  [
    'more taints than eight',
    RESOURCE_FLAVORS,
    { nodeTaints: [1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => ({ key: `key-${n}`, effect: 'NoSchedule' })) },
    /spec.nodeTaints: Too many: 9: must have at most 8 items/,
  ],
  [
    'a toleration of all taints by their value',
    RESOURCE_FLAVORS,
    { tolerations: [{ value: 'x' }] },
    /operator must be Exists where key is absent/,
  ],
  [
    'a toleration by a value that does not count',
    RESOURCE_FLAVORS,
    { tolerations: [{ key: 'gpu', operator: 'Exists', value: 'x' }] },
    /value must not be set with the operator Exists/,
  ],
  [
    'a toleration for a while of what keeps pods from coming',
    RESOURCE_FLAVORS,
    { tolerations: [{ key: 'gpu', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 5 }] },
    /tolerationSeconds must not be set without effect: NoExecute/,
  ],
  ['no ClusterQueue', LOCAL_QUEUES, {}, /spec.clusterQueue: Required value/],
])('an object with %s is refused', async (_what, resource, spec, message) => {
  await expect(create(resource, spec)).rejects.toThrow(message);
});

test('defaults are filled in, and the ClusterQueue of a LocalQueue stays', async () => {
  await world.cluster('eu-1');
  expect((await world.client.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' })).spec).toEqual({
    jobController: 'switchyard.dev/worker',
    kubeconfigSecretRef: { namespace: 'switchyard', name: 'eu-1', key: 'kubeconfig' },
    leaseNamespace: 'switchyard-system',
    local: false,
    namespaces: 'Require',
    preference: 0,
    state: 'Active',
  });
  const named = { namespaces: 'Create', namespaceLabels: ['team', 'a.b/*', 'a/b.c'], servedNamespaces: ['a', 'b'] };
  const changed = await world.client.patch(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' }, { type: 'merge', body: { spec: named } });
  expect(changed.spec).toMatchObject(named);
  await world.queue('main');
  const move = world.client.patch(
    LOCAL_QUEUES,
    { namespace: NAMESPACE, name: 'main' },
    { type: 'merge', body: { spec: { clusterQueue: 'other' } } },
  );
  await expect(move).rejects.toThrow(/clusterQueue is immutable/);
});

test('a flavor may say all that Kueue lets it say of nodes', async () => {
  const spec = {
    nodeLabels: { 'cloud.example.com/type': 'spot', zone: '' },
    nodeTaints: [
      { key: 'cloud.example.com/spot', value: 'true', effect: 'NoSchedule' },
      { key: 'cloud.example.com/spot', value: 'true', effect: 'NoExecute' },
    ],
    tolerations: [
      { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
      { key: 'cloud.example.com/spot', operator: 'Equal', value: 'true', effect: 'NoSchedule' },
      { key: 'a' },
    ],
  };
  expect(await create(RESOURCE_FLAVORS, spec)).toMatchObject({ spec });
});

test('how a ClusterQueue searches for flavors has defaults, and is called as Kueue calls it now or did before', async () => {
  expect(await create(CLUSTER_QUEUES, { flavorFungibility: {} })).toMatchObject({
    spec: { flavorFungibility: { whenCanBorrow: 'MayStopSearch', whenCanPreempt: 'TryNextFlavor' } },
  });
  for (const whenCanBorrow of ['Borrow', 'TryNextFlavor']) {
    const body = { spec: { flavorFungibility: { whenCanBorrow } } };
    const changed = await world.client.patch(CLUSTER_QUEUES, { namespace: '', name: 'x' }, { type: 'merge', body });
    expect(changed.spec.flavorFungibility?.whenCanBorrow).toBe(whenCanBorrow);
  }
});

test('a ClusterQueue that says something of preemption says Never of the rest', async () => {
  expect(await create(CLUSTER_QUEUES, { preemption: { borrowWithinCohort: {} } })).toMatchObject({
    spec: { preemption: { withinClusterQueue: 'Never', reclaimWithinCohort: 'Never', borrowWithinCohort: { policy: 'Never' } } },
  });
  const preemption = {
    withinClusterQueue: 'LowerOrNewerEqualPriority',
    reclaimWithinCohort: 'LowerPriority',
    borrowWithinCohort: { policy: 'LowerPriority', maxPriorityThreshold: -5 },
  } as const;
  const flavorFungibility = {
    whenCanBorrow: 'TryNextFlavor',
    whenCanPreempt: 'TryNextFlavor',
    preference: 'PreemptionOverBorrowing',
  } as const;
  const body = { spec: { preemption, flavorFungibility } };
  const changed = await world.client.patch(CLUSTER_QUEUES, { namespace: '', name: 'x' }, { type: 'merge', body });
  expect(changed.spec).toMatchObject({ preemption, flavorFungibility });
});

test('a ClusterQueue reads back as it was written', async () => {
  await world.flavor('default');
  await world.queue('main', { spec: { cohortName: 'all' } });
  const { spec } = await world.client.get(CLUSTER_QUEUES, { namespace: '', name: 'main' });
  expect(spec).toMatchObject({ cohortName: 'all', queueingStrategy: 'BestEffortFIFO', stopPolicy: 'None', namespaceSelector: {} });
});
