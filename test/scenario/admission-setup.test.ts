/** Goal: a Job that waits for how queues are set up is admitted as soon as they are set up otherwise. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { COHORTS } from '../../manager/api/cohort.ts';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { NAMESPACES } from '../../shared/api/resources.ts';
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
