import { afterEach, beforeEach, expect, test } from 'vitest';
import { CONFIG_MAPS, NAMESPACES, PODS } from '../../../../../shared/api/resources.ts';
import { createNamespaceController } from '../../../../../shared/controlplane/controllers/namespace-controller.ts';
import { deletionConditions, mergeConditions } from '../../../../../shared/controlplane/controllers/namespace-conditions.ts';
import { anEmbeddedCluster, createPod, type EmbeddedCluster } from './embedded-cluster.ts';

let cluster: EmbeddedCluster;
beforeEach(async () => {
  cluster = await anEmbeddedCluster();
  await cluster.start(createNamespaceController(cluster.deps));
});
afterEach(() => cluster.close());

test('a deleted namespace goes when all that was in it is gone', async () => {
  const { client, clock, find } = cluster;
  await client.create(NAMESPACES, { metadata: { name: 'team' } });
  await client.create(CONFIG_MAPS, { metadata: { name: 'free', namespace: 'team' } });
  await client.create(CONFIG_MAPS, { metadata: { name: 'held', namespace: 'team', finalizers: ['example.com/a'] } });
  await createPod(client, 'p', { metadata: { namespace: 'team' } });
  await client.delete(NAMESPACES, { namespace: '', name: 'team' });
  await clock.advance(1000);
  expect(await find(PODS, 'p', 'team')).toBeUndefined();
  expect(await find(CONFIG_MAPS, 'free', 'team')).toBeUndefined();
  const ending = await find(NAMESPACES, 'team');
  expect(ending?.spec?.finalizers).toEqual(['kubernetes']);
  expect(ending?.status).toMatchObject({ phase: 'Terminating' });
  expect(ending?.status?.conditions).toContainEqual(
    expect.objectContaining({
      type: 'NamespaceFinalizersRemaining',
      status: 'True',
      message: 'Some content in the namespace has finalizers remaining: example.com/a in 1 resource instances',
    }),
  );
  await client.patch(CONFIG_MAPS, { namespace: 'team', name: 'held' }, { type: 'merge', body: { metadata: { finalizers: null } } });
  await clock.advance(5000);
  expect(await find(NAMESPACES, 'team')).toBeUndefined();
});

test('pods go before everything else', async () => {
  const { client, clock, find } = cluster;
  await client.create(NAMESPACES, { metadata: { name: 'team' } });
  await client.create(CONFIG_MAPS, { metadata: { name: 'settings', namespace: 'team' } });
  await createPod(client, 'p', { metadata: { namespace: 'team', finalizers: ['example.com/a'] } });
  await client.delete(NAMESPACES, { namespace: '', name: 'team' });
  await clock.advance(3000);
  expect(await find(CONFIG_MAPS, 'settings', 'team')).toBeDefined();
  await client.patch(PODS, { namespace: 'team', name: 'p' }, { type: 'merge', body: { metadata: { finalizers: null } } });
  await clock.advance(5000);
  expect(await find(NAMESPACES, 'team')).toBeUndefined();
});

test('conditions keep their time while their status stays, and are not written when nothing differs', () => {
  const remaining = [{ resource: PODS, count: 2, finalizers: ['a', 'a'] }];
  const first = mergeConditions([], deletionConditions(remaining), 'T1');
  expect(mergeConditions(first, deletionConditions(remaining), 'T2')).toBe(first);
  const second = mergeConditions(first, deletionConditions([{ resource: PODS, count: 1, finalizers: [] }]), 'T2');
  expect(second.find(({ type }) => type === 'NamespaceContentRemaining')).toMatchObject({
    lastTransitionTime: 'T1',
    message: 'Some resources are remaining: pods. has 1 resource instances',
  });
  expect(second.find(({ type }) => type === 'NamespaceFinalizersRemaining')).toMatchObject({ status: 'False', lastTransitionTime: 'T2' });
});
