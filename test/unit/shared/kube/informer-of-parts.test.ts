/** One cache over two resources of an embedded control plane, whose objects have different names. */
import { expect, onTestFinished, test } from 'vitest';
import type { KubeObject, ObjectKey } from '../../../../shared/api/kubernetes.ts';
import { CONFIG_MAPS, NAMESPACES, SECRETS, type Resource } from '../../../../shared/api/resources.ts';
import { createInformer, type Informer } from '../../../../shared/kube/informer.ts';
import { createInformerOfParts } from '../../../../shared/kube/informer-of-parts.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../../shared/runtime/random.ts';
import { startCluster, type EmbeddedCluster } from '../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const partOf = ({ name }: ObjectKey): string => (name.startsWith('secret-') ? 'secrets' : 'configmaps');

async function started(): Promise<{ cluster: EmbeddedCluster; clock: FakeClock; informer: Informer<KubeObject>; seen: string[] }> {
  const clock = new FakeClock();
  const cluster = await startCluster(clock);
  await cluster.client.create(NAMESPACES, { metadata: { name: 'a' } });
  const of = (resource: Resource<KubeObject>): Informer<KubeObject> =>
    createInformer({
      client: cluster.client,
      resource,
      clock,
      random: seededRandom(1),
      log: silentLogger,
      indexers: { name: ({ metadata }) => [metadata.name] },
    });
  const parts = new Map([
    ['configmaps', of(CONFIG_MAPS as Resource<KubeObject>)],
    ['secrets', of(SECRETS as Resource<KubeObject>)],
  ]);
  const informer = createInformerOfParts(CONFIG_MAPS as Resource<KubeObject>, parts, partOf);
  const seen: string[] = [];
  informer.addHandler({ added: ({ metadata }) => seen.push(metadata.name) });
  const stopping = new AbortController();
  const running = informer.run(stopping.signal);
  onTestFinished(async () => {
    stopping.abort(new Error('the test is over'));
    await running;
    await cluster.plane.close();
  });
  expect(informer.hasSynced()).toBe(false);
  await Promise.all([informer.waitForSync(), clock.settle()]);
  return { cluster, clock, informer, seen };
}

test('it has the objects of all parts, finds each by its key, and hands each event on', async () => {
  const { cluster, clock, informer, seen } = await started();
  await cluster.client.create(CONFIG_MAPS, { metadata: { namespace: 'a', name: 'map' } });
  await cluster.client.create(SECRETS, { metadata: { namespace: 'a', name: 'secret-one' } });
  await clock.settle();
  expect(informer.list('a').map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(['map', 'secret-one']));
  expect(informer.get({ namespace: 'a', name: 'map' })?.metadata.name).toBe('map');
  expect(informer.get({ namespace: 'a', name: 'secret-one' })?.metadata.name).toBe('secret-one');
  expect(informer.byIndex('name', 'secret-one')).toHaveLength(1);
  expect(seen).toEqual(expect.arrayContaining(['map', 'secret-one']));
});

test('a version is of the part that lags behind, but of the one that has the object where that is named', async () => {
  const { cluster, clock, informer } = await started();
  const { metadata } = await cluster.client.create(SECRETS, { metadata: { namespace: 'a', name: 'secret-one' } });
  await clock.settle();
  expect(Number(informer.lastResourceVersion())).toBeLessThan(Number(metadata.resourceVersion));
  expect(informer.lastResourceVersion('a', 'secret-one')).toBe(metadata.resourceVersion);
  expect(Number(informer.lastResourceVersion('a', 'map'))).toBeLessThan(Number(metadata.resourceVersion));
  expect(informer.lastResourceVersion('a', 'map')).toBe(informer.lastResourceVersion());
});
