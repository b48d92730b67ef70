import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  contactIn,
  createInformerOfServed,
  type InformerOfServed,
  servedBy,
} from '../../../../../manager/dispatch/connection/informer-of-served.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { JOBS, NAMESPACES } from '../../../../../shared/api/resources.ts';
import { ApiError } from '../../../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../../../shared/kube/client.ts';
import { createInformer } from '../../../../../shared/kube/informer.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../../../shared/runtime/random.ts';
import { startCluster, type EmbeddedCluster } from '../../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

/** A cluster that serves Jobs and no other kind. */
const JOBS_ALONE = { names: () => [], isServed: (qualifier: string | undefined) => qualifier === undefined };
const inA = { namespace: 'a', name: 'job' };
const NAMED = ['a', 'b'];

let clock: FakeClock;
let cluster: EmbeddedCluster;
let forbidden: Set<string>;
let changes: string[];
let informer: InformerOfServed<Job>;
let stop: () => Promise<void>;

const submit = (namespace: string, name: string): Promise<Job> =>
  cluster.client.create(JOBS, {
    metadata: { namespace, name },
    spec: { suspend: true, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
  });
/** What API servers answer without a Role; watches that are open go on. */
const withRoles = (client: KubeClient): Pick<KubeClient, 'get' | 'list' | 'watch'> => {
  const judge = (namespace = ''): void => {
    if (forbidden.has(namespace)) throw new ApiError(403, { reason: 'Forbidden', message: 'no' });
  };
  return {
    get: (...question) => client.get(...question),
    async list(resource, options) {
      judge(options?.namespace);
      return client.list(resource, options);
    },
    async watch(resource, options) {
      judge(options.namespace);
      return client.watch(resource, options);
    },
  };
};
const pass = async (seconds: number): Promise<void> => {
  for (let step = 0; step < seconds; step += 5) await clock.advance(5_000);
};

async function start(...refused: readonly string[]): Promise<void> {
  forbidden = new Set(refused);
  changes = [];
  informer = createInformerOfServed(
    JOBS,
    NAMED,
    withRoles(cluster.client),
    (namespace, client) => createInformer({ client, resource: JOBS, namespace, clock, random: seededRandom(1), log: silentLogger }),
    () => changes.push(informer.unreadable().join()),
  );
  const stopping = new AbortController();
  const running = informer.run(stopping.signal);
  stop = async () => {
    stopping.abort(new Error('the test is over'));
    await running;
  };
  await clock.advance(1_000);
}

beforeEach(async () => {
  clock = new FakeClock();
  cluster = await startCluster(clock);
  for (const name of NAMED) {
    await cluster.client.create(NAMESPACES, { metadata: { name } });
    await submit(name, 'early');
  }
});
afterEach(async () => {
  await stop();
  await cluster.plane.close();
});

test('a namespace that is refused holds up no other, and is taken in when it may be read', async () => {
  await start('a');
  await informer.waitForSync();
  const served = servedBy(informer, [informer], NAMED, JOBS_ALONE);
  expect([informer.hasSynced(), informer.unreadable(), changes]).toEqual([true, ['a'], ['a']]);
  expect([informer.isKnown('a'), informer.isKnown('b'), informer.isKnown('c')]).toEqual([false, true, false]);
  expect(informer.list().map(({ metadata }) => metadata.namespace)).toEqual(['b']);
  expect(['Ready', 'Lost', 'Connecting'].map((contact) => contactIn(served, inA, contact as 'Ready'))).toEqual([
    'Unreadable',
    'Lost',
    'Connecting',
  ]);
  expect(contactIn(served, { namespace: 'b', name: 'job' }, 'Ready')).toBe('Ready');
  const heardMs = informer.lastHeardMs();
  await pass(120);
  expect(informer.lastHeardMs()).toBeGreaterThan(heardMs);
  forbidden.clear();
  await pass(90);
  expect([informer.unreadable(), informer.isKnown('a'), contactIn(served, inA, 'Ready')]).toEqual([[], true, 'Ready']);
  expect(informer.list().map(({ metadata }) => metadata.namespace)).toEqual(['a', 'b']);
  // Readable is told first, and that it is known once its first list is complete.
  expect(changes).toEqual(['a', '', '']);
});

test('what was there last stays, and is told of as unlisted, when a namespace that was known is refused', async () => {
  await start();
  const served = servedBy(informer, [informer], NAMED, JOBS_ALONE);
  expect([served.unlisted(), served.unreadable()]).toEqual([[], []]);
  forbidden.add('a');
  // A watch that is open ends after some minutes, and is not opened again.
  await pass(900);
  expect(served.unlisted().map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual(['a/early']);
  expect([informer.hasSynced(), informer.isKnown('a'), contactIn(served, inA, 'Ready')]).toEqual([true, false, 'Unreadable']);
  expect([...served.versions().keys()]).toEqual(NAMED);
});

test('none that may be read is no cache at all', async () => {
  await start('a', 'b');
  await pass(30);
  expect([informer.hasSynced(), informer.unreadable()]).toEqual([false, ['a', 'b']]);
});

test('a cluster without a list of namespaces has none that is refused', async () => {
  await start();
  const all = createInformer({ client: cluster.client, resource: JOBS, clock, random: seededRandom(1), log: silentLogger });
  const served = servedBy(all, [all], undefined, JOBS_ALONE);
  expect([served.unreadable(), served.unlisted(), served.isKnown('a'), [...served.versions().keys()]]).toEqual([[], [], false, ['']]);
});

test('an object of a kind that the cluster does not serve cannot be read there', () => {
  const served = { kinds: JOBS_ALONE, isKnown: () => true, unreadable: () => [] } as unknown as ReturnType<typeof servedBy>;
  const ofCrew = { namespace: 'a', name: 'crews.example.com:argo' };
  expect([contactIn(served, inA, 'Ready'), contactIn(served, ofCrew, 'Ready'), contactIn(served, ofCrew, 'Lost')]).toEqual([
    'Ready',
    'Unreadable',
    'Lost',
  ]);
});
