import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ConfigMap, OwnerReference } from '../../../../../shared/api/kubernetes.ts';
import { CONFIG_MAPS, EVENTS, JOBS, NODES, PODS } from '../../../../../shared/api/resources.ts';
import { createGarbageCollector } from '../../../../../shared/controlplane/controllers/garbage-collector.ts';
import { decideFate } from '../../../../../shared/controlplane/controllers/garbage-collector/decide-fate.ts';
import type { GraphObject } from '../../../../../shared/controlplane/controllers/garbage-collector/owner-graph.ts';
import { anEmbeddedCluster, createPod, type EmbeddedCluster } from './embedded-cluster.ts';

describe('the fate of an object with owners', () => {
  const object = (owners: string[], more: Partial<GraphObject> = {}): GraphObject => ({
    uid: 'self',
    resource: CONFIG_MAPS,
    namespace: 'ns',
    name: 'self',
    resourceVersion: '1',
    owners: owners.map((uid) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: uid, uid })),
    deleting: false,
    finalizers: [],
    ...more,
  });
  const waiting = object([], { uid: 'd', deleting: true, finalizers: ['foregroundDeletion'] });

  test('it stays while its owners are there', () => {
    expect(decideFate(object(['a', 'b']), ['solid', 'solid'], [])).toEqual({ kind: 'keep' });
  });
  test('it goes in the background when all are gone', () => {
    expect(decideFate(object(['a', 'b']), ['absent', 'absent'], [waiting])).toEqual({
      kind: 'delete',
      policy: 'Background',
      unblockFirst: false,
    });
  });
  test('it only loses the references to owners that are gone or waiting while another one is there', () => {
    expect(decideFate(object(['a', 'b', 'c']), ['absent', 'solid', 'awaiting-dependents'], [])).toEqual({
      kind: 'detach',
      ownerUids: ['a', 'c'],
    });
  });
  test('its own dependents go first when an owner waits for it', () => {
    const dependent = object(['self'], { uid: 'd' });
    expect(decideFate(object(['a']), ['awaiting-dependents'], [dependent])).toEqual({
      kind: 'delete',
      policy: 'Foreground',
      unblockFirst: false,
    });
    expect(decideFate(object(['a']), ['awaiting-dependents'], [])).toEqual({ kind: 'delete', policy: 'Background', unblockFirst: false });
  });
  test('a circle of waiting objects is broken', () => {
    expect(decideFate(object(['a']), ['awaiting-dependents'], [waiting])).toEqual({
      kind: 'delete',
      policy: 'Foreground',
      unblockFirst: true,
    });
  });
  test('the manner that its finalizer asks for is kept', () => {
    expect(decideFate(object(['a'], { finalizers: ['orphan'] }), ['absent'], [])).toMatchObject({ policy: 'Orphan' });
  });
});

describe('the garbage collector', () => {
  let cluster: EmbeddedCluster;
  beforeEach(async () => {
    cluster = await anEmbeddedCluster();
    await cluster.start(createGarbageCollector(cluster.deps));
  });
  afterEach(() => cluster.close());

  const create = (name: string, owners: OwnerReference[] = [], finalizers: string[] = []): Promise<ConfigMap> =>
    cluster.client.create(CONFIG_MAPS, { metadata: { name, namespace: 'default', ownerReferences: owners, finalizers } });
  const ownedBy = ({ metadata }: ConfigMap, more: Partial<OwnerReference> = {}): OwnerReference => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: metadata.name,
    uid: metadata.uid,
    ...more,
  });
  const key = (name: string) => ({ namespace: 'default', name });
  const names = async (): Promise<string[]> =>
    (await cluster.client.list(CONFIG_MAPS, { namespace: 'default' })).items.map(({ metadata }) => metadata.name);

  test('deletes what an owner deleted in the background leaves, through generations', async () => {
    const owner = await create('owner');
    const child = await create('child', [ownedBy(owner)]);
    await create('grandchild', [ownedBy(child)]);
    const other = await create('other');
    await create('shared', [ownedBy(owner), ownedBy(other)]);
    await cluster.client.delete(CONFIG_MAPS, key('owner'), { propagationPolicy: 'Background' });
    await cluster.clock.advance(1000);
    expect(await names()).toEqual(['other', 'shared']);
    expect((await cluster.find(CONFIG_MAPS, 'shared'))?.metadata.ownerReferences).toEqual([ownedBy(other)]);
  });

  test('deletes an object whose owner never existed, or is another one of that name', async () => {
    const owner = await create('owner');
    await create('dangling', [ownedBy(owner, { uid: '6ba7b810-9dad-11d1-80b4-00c04fd430c8' })]);
    await cluster.clock.advance(1000);
    expect(await names()).toEqual(['owner']);
  });

  test('deletes an object whose reference has the UID of an owner and something else wrong', async () => {
    const owner = await create('owner');
    await create('other-name', [ownedBy(owner, { name: 'zzz' })]);
    await create('other-kind', [ownedBy(owner, { kind: 'Secret' })]);
    await create('right', [ownedBy(owner)]);
    await cluster.clock.advance(1000);
    expect(await names()).toEqual(['owner', 'right']);
  });

  test('keeps an object whose owner is of a version that is not served', async () => {
    const owner = await create('owner');
    await create('dependent', [ownedBy(owner, { apiVersion: 'v9', uid: '6ba7b810-9dad-11d1-80b4-00c04fd430c8' })]);
    await cluster.clock.advance(1000);
    expect(await names()).toEqual(['dependent', 'owner']);
  });

  test('deletes an object whose owner is in another namespace, and tells of it by an Event', async () => {
    const owner = await create('owner');
    const metadata = { name: 'dependent', namespace: 'kube-public', ownerReferences: [ownedBy(owner)] };
    await cluster.client.create(CONFIG_MAPS, { metadata });
    await cluster.clock.advance(1000);
    expect((await cluster.client.list(CONFIG_MAPS, { namespace: 'kube-public' })).items).toEqual([]);
    const [event] = (await cluster.client.list(EVENTS, { namespace: 'kube-public' })).items;
    expect([event?.type, event?.reason, event?.message]).toEqual([
      'Warning',
      'OwnerRefInvalidNamespace',
      `ownerRef [v1/ConfigMap, namespace: kube-public, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "kube-public"`,
    ]);
  });

  test('keeps a cluster-scoped object with a namespaced owner, also when another owner is gone', async () => {
    const owner = await create('owner');
    const gone = { apiVersion: 'v1', kind: 'Node', name: 'gone', uid: '6ba7b810-9dad-11d1-80b4-00c04fd430c8' };
    await cluster.client.create(NODES, { metadata: { name: 'kept', ownerReferences: [ownedBy(owner), gone] } });
    await cluster.clock.advance(1000);
    expect((await cluster.find(NODES, 'kept'))?.metadata.ownerReferences).toHaveLength(2);
  });

  test('a foreground deletion waits for the dependents that block it', async () => {
    const owner = await create('owner');
    await create('blocking', [ownedBy(owner, { blockOwnerDeletion: true })], ['example.com/held']);
    await create('free', [ownedBy(owner)]);
    await cluster.client.delete(CONFIG_MAPS, key('owner'), { propagationPolicy: 'Foreground' });
    await cluster.clock.advance(1000);
    expect(await names()).toEqual(['blocking', 'owner']);
    expect((await cluster.find(CONFIG_MAPS, 'blocking'))?.metadata.deletionTimestamp).toBeDefined();
    await cluster.client.patch(CONFIG_MAPS, key('blocking'), { type: 'merge', body: { metadata: { finalizers: null } } });
    await cluster.clock.advance(1000);
    expect(await names()).toEqual([]);
  });

  test('a foreground deletion of a circle ends', async () => {
    const first = await create('first');
    const second = await create('second', [ownedBy(first, { blockOwnerDeletion: true })]);
    const ownerReferences = [ownedBy(second, { blockOwnerDeletion: true })];
    await cluster.client.patch(CONFIG_MAPS, key('first'), { type: 'merge', body: { metadata: { ownerReferences } } });
    await cluster.client.delete(CONFIG_MAPS, key('first'), { propagationPolicy: 'Foreground' });
    await cluster.clock.advance(5000);
    expect(await names()).toEqual([]);
  });

  test('a Job deleted without a policy leaves its pods, without owner', async () => {
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] } };
    const job = await cluster.client.create(JOBS, { metadata: { name: 'j', namespace: 'default' }, spec: { template } });
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: job.metadata.uid, controller: true, blockOwnerDeletion: true };
    await createPod(cluster.client, 'p', { metadata: { ownerReferences: [owner] } });
    await cluster.client.delete(JOBS, key('j'));
    await cluster.clock.advance(1000);
    expect(await cluster.find(JOBS, 'j')).toBeUndefined();
    expect((await cluster.find(PODS, 'p'))?.metadata.ownerReferences).toBeUndefined();
  });
});
