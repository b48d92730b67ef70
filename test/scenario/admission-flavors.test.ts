/**
 * Goal: a Job is admitted to a flavor on whose nodes its pods can run, on a cluster that offers it; and waits, saying why, where there is
 * none.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { RESOURCE_FLAVORS } from '../../manager/api/resource-flavor.ts';
import { createAdmissionWorld, type AdmissionWorld } from './admission-world.ts';

let world: AdmissionWorld;
beforeEach(async () => {
  world = await createAdmissionWorld();
});
afterEach(() => world.close());

const spot = { key: 'instance', value: 'spot', effect: 'NoSchedule' };
const pod = (spec: object, ofJob: object = {}) => ({
  spec: {
    ...ofJob,
    template: {
      spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '1' } } }], ...spec },
    },
  },
});
const ofType = (...values: string[]) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'type', operator: 'In', values }] }],
      },
    },
  },
});
const placeOf = async (name: string) => {
  const record = await world.record(name);
  return record === undefined ? undefined : `${record.flavors['cpu']} on ${record.cluster}`;
};
const waits = async (name: string) => {
  const { status } = await world.getJob(name);
  const condition = status?.conditions?.find(({ type }) => type === 'QuotaReserved');
  return condition?.status === 'False' ? { reason: condition.reason, message: condition.message } : undefined;
};

test('labels, affinity, taints and tolerations decide about the flavor, and the flavor about the cluster', async () => {
  await world.flavor('one', { nodeLabels: { type: 'one' }, clusterSelector: { matchLabels: { pool: 'one' } } });
  await world.flavor('spot', { nodeLabels: { type: 'two' }, nodeTaints: [spot], clusterSelector: { matchLabels: { pool: 'two' } } });
  await world.cluster('eu', { labels: { pool: 'one' } });
  await world.cluster('us', { labels: { pool: 'two' } });
  await world.queue('main', { flavors: ['one', 'spot'], cpu: '9' });
  await world.job('any', pod({}));
  const tolerations = [{ key: 'instance', operator: 'Exists' }];
  await world.job('two', pod({ ...ofType('two'), tolerations }));
  await world.job('either', pod({ ...ofType('two', 'one'), tolerations }));
  await world.job('timid', pod(ofType('two')));
  await world.settle(3_000);
  expect(await Promise.all(['any', 'two', 'either'].map(placeOf))).toEqual(['one on eu', 'spot on us', 'one on eu']);
  expect(await waits('timid')).toEqual({
    reason: 'NoMatchingFlavor',
    message:
      "cluster queue main: flavor one is for nodes with type=one, which the Job's required node affinity excludes; flavor spot has the taint instance=spot:NoSchedule, which the Job does not tolerate",
  });
  // The flavor tolerates its taint for its pods from now on.
  await world.client.patch(RESOURCE_FLAVORS, { namespace: '', name: 'spot' }, { type: 'merge', body: { spec: { tolerations } } });
  await world.settle(1_000);
  expect(await placeOf('timid')).toBe('spot on us');
});

test('a Job that matches no flavor blocks nobody behind it in a StrictFIFO queue', async () => {
  await world.flavor('default', { nodeLabels: { type: 'one' } });
  await world.cluster('eu');
  await world.queue('main', { spec: { queueingStrategy: 'StrictFIFO' } });
  await world.job('first', pod({ nodeSelector: { type: 'two' } }));
  await world.settle(1_000);
  await world.job('second', pod({}));
  await world.settle(3_000);
  expect(await world.running()).toEqual(['second']);
});

test('whether a flavor is borrowed or the next one taken is what the queue says, from when it says so', async () => {
  await world.flavor('one');
  await world.flavor('two');
  await world.cluster('eu');
  await world.queue('lender', { flavors: ['one', 'two'], cpu: '9', spec: { cohortName: 'all' } });
  await world.queue('main', { flavors: ['one', 'two'], cpu: '1', spec: { cohortName: 'all' } });
  await world.job('a', { queue: 'main' });
  await world.job('b', { queue: 'main' });
  await world.settle(1_000);
  expect(await Promise.all(['a', 'b'].map(placeOf))).toEqual(['one on eu', 'one on eu']);
  const body = { spec: { flavorFungibility: { whenCanBorrow: 'TryNextFlavor' } } };
  await world.client.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body });
  await world.settle(1_000);
  await world.job('c', { queue: 'main' });
  await world.settle(1_000);
  await world.job('d', { queue: 'main' });
  await world.settle(1_000);
  expect(await Promise.all(['c', 'd'].map(placeOf))).toEqual(['two on eu', 'one on eu']);
});

test('a Job that asks for what its queue has no quota for says so and how to go on, and is admitted once the queue ignores that', async () => {
  const requests = { cpu: '1', 'example.com/licence': '2' };
  const licensed = pod({
    containers: [{ name: 'main', image: 'busybox', resources: { requests, limits: { 'example.com/licence': '2' } } }],
  });
  await world.flavor('default');
  await world.cluster('eu');
  await world.queue('main', { cpu: '9' });
  await world.job('first', licensed);
  await world.settle(3_000);
  expect(await waits('first')).toEqual({
    reason: 'ExceedsQuota',
    message:
      'cluster queue main gives no quota for example.com/licence; add it to a resource group of the queue, or set quotaCheckStrategy: IgnoreUndeclared there',
  });
  const setQueue = (spec: object) => world.client.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body: { spec } });
  await setQueue({ quotaCheckStrategy: 'IgnoreUndeclared' });
  await world.settle(1_000);
  expect((await world.record('first'))?.flavors).toEqual({ cpu: 'default' });
  await setQueue({ quotaCheckStrategy: 'BlockUndeclared', excludeResourcePrefixes: ['example.com/'] });
  await world.job('second', licensed);
  await world.settle(3_000);
  expect(await placeOf('second')).toBe('default on eu');
  // Who was admitted under either rule is left alone.
  expect((await world.running()).toSorted()).toEqual(['first', 'second']);
});

test('a queue that counts slices of a device as credits charges those, and clusters have to have the slices', async () => {
  const MIG = 'nvidia.com/mig-1g.5gb';
  const CREDITS = 'example.com/credits';
  const sliced = (slices: string, parallelism = 1) =>
    pod(
      { containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '1', [MIG]: slices }, limits: { [MIG]: slices } } }] },
      { parallelism, completions: parallelism },
    );
  await world.flavor('default');
  await world.cluster('eu', { capacity: { cpu: '9', pods: '9', [MIG]: '5' } });
  const resources = [
    { name: 'cpu', nominalQuota: '9' },
    { name: CREDITS, nominalQuota: '40' },
  ];
  await world.queue('main', {
    spec: {
      resourceGroups: [{ coveredResources: ['cpu', CREDITS], flavors: [{ name: 'default', resources }] }],
      resourceTransformations: [{ input: MIG, strategy: 'Replace', outputs: { [CREDITS]: 10 } }],
    },
  });
  await world.job('first', sliced('1', 2));
  await world.job('dear', sliced('3'));
  await world.settle(3_000);
  expect(await world.record('first')).toMatchObject({
    flavors: { cpu: 'default', [CREDITS]: 'default' },
    requests: { cpu: '2', [MIG]: '2', pods: '2' },
    charged: { cpu: '2', [CREDITS]: '20', pods: '2' },
  });
  const { status } = await world.client.get(CLUSTER_QUEUES, { namespace: '', name: 'main' });
  expect(status?.flavorsUsage).toEqual([
    {
      name: 'default',
      resources: [
        { name: 'cpu', total: '2' },
        { name: CREDITS, total: '20' },
      ],
    },
  ]);
  expect((await waits('dear'))?.message).toContain(`short of 10 ${CREDITS}`);
  const outputs = { [CREDITS]: 5 };
  const body = { spec: { resourceTransformations: [{ input: MIG, strategy: 'Replace', outputs }] } };
  await world.client.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body });
  await world.settle(3_000);
  expect((await world.record('dear'))?.charged).toMatchObject({ [CREDITS]: '15' });
  expect((await world.record('first'))?.charged).toMatchObject({ [CREDITS]: '20' });
  // Quota is enough for one slice more, and the cluster has none left.
  await world.job('last', sliced('1'));
  await world.settle(3_000);
  expect((await waits('last'))?.message).toContain(`short of 1 ${MIG}`);
  await expect(
    world.client.patch(
      CLUSTER_QUEUES,
      { namespace: '', name: 'main' },
      { type: 'merge', body: { spec: { resourceTransformations: [{ input: 'pods' }] } } },
    ),
  ).rejects.toThrow(/pods are counted, not requested, and cannot be transformed/);
});

test('a floating resource is bounded by quota alone: the cluster has none of it, and a Job waits until another gives its licences back', async () => {
  const MATLAB = 'floating.switchyard.dev/matlab';
  await world.flavor('default');
  await world.cluster('eu', { capacity: { cpu: '9', pods: '9' } });
  await world.queue('main', { cpu: '9' });
  const licensed = { annotations: { 'switchyard.dev/requests': 'matlab=2' }, spec: { parallelism: 2, completions: 2 } };
  await world.job('first', licensed);
  await world.settle(3_000);
  expect((await waits('first'))?.message).toContain(`gives no quota for ${MATLAB}`);
  await world.flavor('licences');
  const quota = (resource: string, name: string, nominalQuota: string) => ({
    coveredResources: [resource],
    flavors: [{ name, resources: [{ name: resource, nominalQuota }] }],
  });
  const spec = { resourceGroups: [quota('cpu', 'default', '9'), quota(MATLAB, 'licences', '5')] };
  await world.client.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body: { spec } });
  await world.settle(1_000);
  expect((await world.record('first'))?.requests).toEqual({ cpu: '2', pods: '2', [MATLAB]: '4' });
  await world.job('second', licensed);
  await world.settle(3_000);
  expect((await waits('second'))?.message).toContain(`short of 3 ${MATLAB}`);
  await world.finish('first');
  await world.settle(1_000);
  expect(await world.running()).toEqual(['second']);
  await expect(world.job('garbled', { annotations: { 'switchyard.dev/requests': 'matlab' } })).rejects.toThrow(
    /switchyard\.dev\/requests.*it must name at most 16 resources/,
  );
});
