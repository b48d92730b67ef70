/** One cache over two of the three namespaces of an embedded control plane. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ConfigMap } from '../../../../shared/api/kubernetes.ts';
import { CONFIG_MAPS, NAMESPACES } from '../../../../shared/api/resources.ts';
import { createInformer, type Informer } from '../../../../shared/kube/informer.ts';
import { createInformerOfNamespaces } from '../../../../shared/kube/informer-of-namespaces.ts';
import { createKubeClient } from '../../../../shared/kube/kube-client.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../../shared/runtime/random.ts';
import { startCluster, type EmbeddedCluster } from '../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { createLine, onLine, type Line } from '../../../support/line.ts';

let clock: FakeClock;
let cluster: EmbeddedCluster;
let informer: Informer<ConfigMap>;
let seen: string[];
let line: Line;
let stop: () => Promise<void>;

const put = (namespace: string, name: string): Promise<ConfigMap> =>
  cluster.client.create(CONFIG_MAPS, { metadata: { namespace, name, labels: { name } } });
const nameOf = ({ metadata }: { readonly metadata: { readonly namespace: string; readonly name: string } }): string =>
  `${metadata.namespace}/${metadata.name}`;

beforeEach(async () => {
  clock = new FakeClock();
  line = createLine();
  cluster = await startCluster(clock);
  for (const name of ['a', 'b', 'c']) await cluster.client.create(NAMESPACES, { metadata: { name } });
  for (const namespace of ['a', 'b', 'c']) await put(namespace, 'early');
  const client = createKubeClient(onLine(cluster.plane.transport(), line, 'it'), { userAgent: 'test', clock });
  informer = createInformerOfNamespaces(CONFIG_MAPS, ['a', 'b', 'a'], (namespace) =>
    createInformer({
      client,
      resource: CONFIG_MAPS,
      namespace,
      clock,
      random: seededRandom(1),
      log: silentLogger,
      indexers: { name: ({ metadata }) => [metadata.name] },
    }),
  );
  seen = [];
  informer.addHandler({ added: (each) => seen.push(`+ ${nameOf(each)}`), deleted: (each) => seen.push(`- ${nameOf(each)}`) });
  expect(informer.hasSynced()).toBe(false);
  const stopping = new AbortController();
  const running = informer.run(stopping.signal);
  stop = async () => {
    stopping.abort(new Error('the test is over'));
    await running;
  };
  await Promise.all([informer.waitForSync(), clock.settle()]);
});
afterEach(async () => {
  await stop();
  await cluster.plane.close();
});

test('it holds what is in these namespaces, each asked for once, and nothing else', async () => {
  await put('a', 'late');
  await put('c', 'late');
  await cluster.client.delete(CONFIG_MAPS, { namespace: 'b', name: 'early' });
  await clock.settle();
  expect(informer.hasSynced()).toBe(true);
  expect(seen).toEqual(['+ a/early', '+ b/early', '+ a/late', '- b/early']);
  expect(informer.list().map(nameOf)).toEqual(['a/early', 'a/late']);
  expect(['a', 'b', 'c'].map((namespace) => informer.list(namespace).length)).toEqual([2, 0, 0]);
  expect(informer.byIndex('name', 'late').map(nameOf)).toEqual(['a/late']);
  expect([informer.get({ namespace: 'a', name: 'late' })?.metadata.name, informer.get({ namespace: 'c', name: 'late' })]).toEqual([
    'late',
    undefined,
  ]);
  expect([...new Set(line.sent.map(({ path }) => path))].toSorted()).toEqual([
    'GET /api/v1/namespaces/a/configmaps',
    'GET /api/v1/namespaces/b/configmaps',
  ]);
  expect(line.sent.filter(({ verb }) => verb === 'list')).toHaveLength(2);
});

test('how far it has come is known for each namespace, because one may be behind the other', async () => {
  const { metadata } = await put('a', 'late');
  await clock.settle();
  expect(informer.lastResourceVersion('a')).toBe(metadata.resourceVersion);
  expect(Number(informer.lastResourceVersion('b'))).toBeLessThan(Number(metadata.resourceVersion));
  expect(informer.lastResourceVersion('c')).toBe('');
});

test('it catches up with one of them by a watch there, with all by one in each, and with one that it does not hold at once', async () => {
  const { signal } = new AbortController();
  line.holdWatches();
  await put('a', 'late');
  await put('b', 'late');
  await clock.settle();
  expect(informer.byIndex('name', 'late')).toEqual([]);
  const caughtUp = async (namespace?: string): Promise<string[]> => {
    const from = line.sent.length;
    await Promise.all([informer.catchUp(signal, namespace), clock.advance(30_000)]);
    return [...new Set(line.sent.slice(from).map(({ path }) => path))].toSorted();
  };
  expect(await caughtUp('c')).toEqual([]);
  expect(await caughtUp('a')).toEqual(['GET /api/v1/namespaces/a/configmaps']);
  expect(informer.byIndex('name', 'late').map(nameOf)).toEqual(['a/late']);
  expect(await caughtUp()).toEqual(['GET /api/v1/namespaces/a/configmaps', 'GET /api/v1/namespaces/b/configmaps']);
  expect(informer.byIndex('name', 'late').map(nameOf)).toEqual(['a/late', 'b/late']);
});
