/**
 * Goal: whoever begins to lead where all is settled writes nothing but its Leases, and admits nothing by what the leader before it has
 * found.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { createWholeWorld, type RunningProgram, type WholeWorld } from './whole-world.ts';

let world: WholeWorld;
let first: RunningProgram;
/** Two Jobs run, one waits for their quota, one has ended. */
beforeEach(async () => {
  world = await createWholeWorld({
    clusters: ['eu-1', 'us-1'],
  });
  await setQuota('200m');
  for (const cluster of ['eu-1', 'us-1']) world.startWorker(cluster, `worker-${cluster}`, { fenceAfterMs: 60_000 });
  first = world.startManager('first');
  await world.clock.advance(15_000);
  await world.submit('ended', { seconds: 1 });
  await world.clock.advance(20_000);
  for (const name of ['runs-1', 'runs-2', 'waits']) {
    await world.submit(name, { seconds: 3_600 });
    await world.clock.advance(1_000);
  }
  await world.clock.advance(30_000);
});
afterEach(() => world.close());

const setQuota = async (cpu: string): Promise<void> => {
  const resourceGroups = [{ coveredResources: ['cpu'], flavors: [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: cpu }] }] }];
  await world.home.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body: { spec: { resourceGroups } } });
};
const written = ({ line }: RunningProgram): string[] =>
  line.sent
    .filter(({ verb, resource }) => !['get', 'list', 'watch'].includes(verb) && !resource.endsWith('/leases'))
    .map(({ cluster, path }) => `${cluster} ${path}`);

test('a manager that starts where another has stopped, or has been killed, writes nothing but its Leases', async () => {
  first.terminate();
  const second = world.startManager('second');
  await world.clock.advance(60_000);
  expect(written(second)).toEqual([]);
  second.kill();
  const third = world.startManager('third');
  await world.clock.advance(90_000);
  expect(written(third)).toEqual([]);
  await setQuota('300m');
  await world.clock.advance(5_000);
  expect((await world.job('waits')).status?.active).toBe(1);
});

test('where a cluster went while nobody led, that is said before a Job could be admitted to it', async () => {
  first.terminate();
  await world.clock.advance(1_000);
  await setQuota('1000m');
  for (const name of ['a', 'b', 'c']) await world.submit(name, { seconds: 3_600 });
  const refused = {
    send: () => Promise.reject(new Error('refused')),
    stream: () => Promise.reject(new Error('refused')),
    close: async () => undefined,
  };
  const { clock } = world;
  world.startManager('second', {
    parts: {
      connectCluster: (cluster) =>
        cluster === 'us-1'
          ? createKubeClient(refused, { userAgent: 'test', clock })
          : createKubeClient(world.plane(cluster).transport(), { userAgent: 'test', clock }),
    },
  });
  await world.clock.advance(20_000);
  const { status } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'us-1' });
  expect(status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'False', reason: 'ConnectionFailed' });
  const { items } = await world.home.list(JOBS, { labelSelector: 'switchyard.dev/cluster' });
  const places = new Map(items.map(({ metadata }) => [metadata.name, metadata.labels?.['switchyard.dev/cluster']]));
  for (const name of ['waits', 'a', 'b', 'c']) expect(places.get(name), name).toBe('eu-1');
});

test('a Job that started while nobody led keeps its place, though nobody has seen that it started in time', async () => {
  await setQuota('1000m');
  const main = { namespace: '', name: 'main' };
  await world.home.patch(CLUSTER_QUEUES, main, { type: 'merge', body: { spec: { startTimeout: '60s' } } });
  await world.submit('starts', { seconds: 3_600 });
  const copies = async () =>
    [...(await world.jobsOn('eu-1')), ...(await world.jobsOn('us-1'))].filter(({ metadata }) => metadata.name === 'starts');
  for (let waitedMs = 0; waitedMs < 2_000 && (await copies()).length === 0; waitedMs += 10) await world.clock.advance(10);
  first.kill();
  const [copy] = await copies();
  await world.clock.advance(300_000);
  expect((await world.job('starts')).status?.active).toBeUndefined();
  const second = world.startManager('second');
  await world.clock.advance(30_000);
  const { spec, status } = await world.job('starts');
  expect({ suspend: spec.suspend, active: status?.active }).toEqual({ suspend: false, active: 1 });
  expect((await copies()).map(({ metadata }) => metadata.uid)).toEqual([copy?.metadata.uid]);
  expect(written(second).filter((call) => !call.startsWith('home'))).toEqual([]);
});
