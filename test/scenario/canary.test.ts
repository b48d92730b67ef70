/** Goal: tiny Jobs try out the way to every cluster, one at a time, and accuse nobody who is not to blame. */
import { Registry } from 'prom-client';
import { afterEach, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { CANARY_LABEL } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { createDispatchWorld, NAMESPACE, type DispatchWorld } from './dispatch-world.ts';

const MINUTE = 60_000;
let world: DispatchWorld;
let registry: Registry;
afterEach(() => world.close());

async function aWorld(): Promise<void> {
  registry = new Registry();
  const canary = { namespace: NAMESPACE, queue: 'main', image: 'busybox', intervalMs: 10 * MINUTE, timeoutMs: 3 * MINUTE };
  world = await createDispatchWorld({ registry, canary });
}
const runs = async (): Promise<Record<string, number>> => {
  const { values = [] } = (await registry.getSingleMetric('switchyard_canary_runs_total')?.get()) ?? {};
  const counted = values.filter(({ value }) => value > 0);
  return Object.fromEntries(counted.map(({ labels, value }) => [`${labels['cluster']} ${labels['outcome']}`, value]));
};
const canaries = async (): Promise<string[]> =>
  (await world.home.list(JOBS, { namespace: NAMESPACE, labelSelector: CANARY_LABEL })).items
    .map(({ metadata }) => metadata.name)
    .toSorted();
const both = ['switchyard-canary-eu-1', 'switchyard-canary-us-2'];
const end = async (...clusters: string[]): Promise<void> => {
  for (const cluster of clusters) {
    await world.worker(cluster).start(`switchyard-canary-${cluster}`);
    await world.settle(2_000);
    await world.worker(cluster).complete(`switchyard-canary-${cluster}`);
  }
  await world.settle(2_000);
};
const cordon = (name: string, state: string) =>
  world.home.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { spec: { state } } });

test('every cluster has one canary, which comes through, is measured by stage, and goes before the next', async () => {
  await aWorld();
  expect(await canaries()).toEqual([]);
  await world.settle(70_000);
  expect(await canaries()).toEqual(both);
  const [first] = (await world.home.list(JOBS, { namespace: NAMESPACE })).items;
  expect(first?.metadata.annotations?.['switchyard.dev/clusters']).toBe('eu-1');
  await end('eu-1', 'us-2');
  expect(await runs()).toEqual({ 'eu-1 complete': 1, 'us-2 complete': 1 });
  const text = await registry.metrics();
  for (const stage of ['queued', 'admitted', 'dispatched', 'started', 'finished'])
    expect(text).toContain(`switchyard_canary_stage_seconds_count{cluster="eu-1",stage="${stage}"} 1`);
  expect(text).toContain('switchyard_canary_runs_total{cluster="eu-1",outcome="timeout"} 0');
  await world.settle(8 * MINUTE);
  expect((await world.home.list(JOBS, { namespace: NAMESPACE })).items.map(({ metadata }) => metadata.uid)).toContain(first?.metadata.uid);
  await world.settle(2 * MINUTE);
  const later = (await world.home.list(JOBS, { namespace: NAMESPACE })).items;
  expect(later.map(({ metadata }) => metadata.name).toSorted()).toEqual(both);
  expect(later.map(({ metadata }) => metadata.uid)).not.toContain(first?.metadata.uid);
});

test('a manager that dies leaves one canary behind, and the next takes it over', async () => {
  await aWorld();
  await world.settle(70_000);
  await world.stop();
  registry.clear();
  await world.start();
  await world.settle(70_000);
  expect(await canaries()).toEqual(both);
  await end('eu-1', 'us-2');
  expect(await runs()).toEqual({ 'eu-1 complete': 1, 'us-2 complete': 1 });
  expect(await registry.metrics()).not.toContain('switchyard_canary_stage_seconds_count{');
  // One that had ended before is not counted again, and tells when the next is due.
  await world.stop();
  registry.clear();
  await world.start();
  await world.settle(2 * MINUTE);
  expect(await runs()).toEqual({});
  expect(world.homeLine.sent.filter((line) => line === `POST /apis/batch/v1/namespaces/${NAMESPACE}/jobs`)).toHaveLength(2);
});

test('a cluster on which nothing starts is told of, and the canary does not pile up', async () => {
  await aWorld();
  await world.settle(70_000);
  await end('us-2');
  await world.settle(4 * MINUTE);
  expect(await runs()).toEqual({ 'eu-1 timeout': 1, 'us-2 complete': 1 });
  expect(await canaries()).toEqual(['switchyard-canary-us-2']);
  expect(await world.worker('eu-1').copy('switchyard-canary-eu-1')).toBeUndefined();
});

test('a cluster that is cordoned, or does not answer, is not accused', async () => {
  await aWorld();
  await cordon('us-2', 'Cordoned');
  await world.settle(70_000);
  expect(await canaries()).toEqual(['switchyard-canary-eu-1']);
  await cordon('eu-1', 'Cordoned');
  await world.settle(5_000);
  expect(await runs()).toEqual({ 'eu-1 withdrawn': 1 });
  await cordon('us-2', 'Active');
  world.worker('us-2').line.state = 'refused';
  await world.settle(30 * MINUTE);
  expect(Object.keys(await runs()).filter((run) => !run.endsWith('withdrawn'))).toEqual([]);
});

test('a canary whose creation was not answered is found, and counted once', async () => {
  await aWorld();
  let lost = false;
  world.homeLine.instead = async ({ method, path, body }) => {
    if (lost || method !== 'POST' || !path.endsWith('/jobs')) return undefined;
    lost = true;
    await world.home.create(JOBS, JSON.parse(String(body)) as never);
    throw new Error('the answer was lost');
  };
  await world.settle(70_000);
  world.homeLine.instead = undefined;
  await end('eu-1', 'us-2');
  expect(await runs()).toEqual({ 'eu-1 complete': 1, 'us-2 complete': 1 });
});

test('a Job of somebody else that has the name of a canary is left alone', async () => {
  await aWorld();
  await world.submit('switchyard-canary-eu-1');
  await world.settle(40 * MINUTE);
  expect((await world.job('switchyard-canary-eu-1')).metadata.deletionTimestamp).toBeUndefined();
  expect(Object.keys(await runs()).filter((run) => run.startsWith('eu-1'))).toEqual([]);
});
