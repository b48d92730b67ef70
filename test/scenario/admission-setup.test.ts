/** Goal: a Job that waits for how queues are set up is admitted as soon as they are set up otherwise. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { COHORTS } from '../../manager/api/cohort.ts';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { JOBS, NAMESPACES } from '../../shared/api/resources.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { createAdmissionWorld, NAMESPACE, type AdmissionWorld } from './admission-world.ts';

let world: AdmissionWorld;
beforeEach(async () => {
  world = await createAdmissionWorld();
  await world.cluster('eu-1');
});
afterEach(() => world.close());

test('by a label of its namespace that the queue asks for, and no more without it', async () => {
  await world.flavor('default');
  await world.queue('main', { spec: { namespaceSelector: { matchLabels: { tier: 'batch' } } } });
  await world.job('a');
  await world.settle(5_000);
  expect(await world.running()).toEqual([]);
  const label = (tier: string | null) =>
    world.client.patch(NAMESPACES, { namespace: '', name: NAMESPACE }, { type: 'merge', body: { metadata: { labels: { tier } } } });
  await label('batch');
  await world.settle(1_000);
  expect(await world.running()).toEqual(['a']);
  await label(null);
  await world.settle(1_000);
  await world.job('b');
  await world.settle(5_000);
  expect(await world.running()).toEqual(['a']);
});

test('by a namespaceSelector that was absent, which Job and both queues name', async () => {
  await world.flavor('default');
  await world.queue('main', { spec: { namespaceSelector: undefined } });
  await world.job('a');
  await world.settle(5_000);
  expect(await world.running()).toEqual([]);
  const key = { namespace: '', name: 'main' };
  const local = { namespace: NAMESPACE, name: 'main' };
  const active = async () =>
    [await world.client.get(CLUSTER_QUEUES, key), await world.client.get(LOCAL_QUEUES, local)].map(({ status }) =>
      findCondition(status?.conditions, 'Active'),
    );
  const inactive = { status: 'False', reason: 'NoNamespaceSelected', message: expect.stringContaining('{} selects all') };
  expect(await active()).toMatchObject([inactive, inactive]);
  const { status } = await world.client.get(JOBS, { namespace: NAMESPACE, name: 'a' });
  expect(findCondition(status?.conditions, 'QuotaReserved')).toMatchObject({
    reason: 'NamespaceNotAllowed',
    message: expect.stringContaining('{} selects all'),
  });
  await world.client.patch(CLUSTER_QUEUES, key, {
    type: 'merge',
    body: { spec: { namespaceSelector: { matchLabels: { tier: 'batch' } } } },
  });
  await world.settle(2_000);
  expect(await active()).toMatchObject([{ status: 'True' }, { status: 'False', reason: 'NamespaceNotAllowed' }]);
  await world.client.patch(CLUSTER_QUEUES, key, { type: 'merge', body: { spec: { namespaceSelector: { matchLabels: null } } } });
  await world.settle(2_000);
  expect(await world.running()).toEqual(['a']);
  expect(await active()).toMatchObject([{ status: 'True' }, { status: 'True' }]);
});

test('by a flavor that was missing', async () => {
  await world.queue('main');
  await world.job('a');
  await world.settle(5_000);
  expect(await world.running()).toEqual([]);
  await world.flavor('default');
  await world.settle(1_000);
  expect(await world.running()).toEqual(['a']);
});

test('by more quota', async () => {
  await world.flavor('default');
  await world.queue('main', { cpu: '1' });
  await world.job('a', { cpu: '2' });
  await world.settle(5_000);
  expect(await world.running()).toEqual([]);
  const flavors = [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: '2' }] }];
  const body = { spec: { resourceGroups: [{ coveredResources: ['cpu'], flavors }] } };
  await world.client.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body });
  await world.settle(1_000);
  expect(await world.running()).toEqual(['a']);
});

test('by quota of its own that its cohort gets', async () => {
  await world.flavor('default');
  await world.queue('main', { cpu: '1', spec: { cohortName: 'all' } });
  await world.job('a', { cpu: '2' });
  await world.settle(5_000);
  expect(await world.running()).toEqual([]);
  const flavors = [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: '1' }] }];
  const spec = { resourceGroups: [{ coveredResources: ['cpu'], flavors }] };
  await world.client.create(COHORTS, { apiVersion: 'switchyard.dev/v1alpha1', kind: 'Cohort', metadata: { name: 'all' }, spec } as never);
  await world.settle(1_000);
  expect(await world.running()).toEqual(['a']);
});
