/** Goal: what is told of a cluster begins with its first connection and ends with its WorkerCluster. */
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { createDispatchWorld, type DispatchWorld } from './dispatch-world.ts';

let world: DispatchWorld;
let registry: Registry;
beforeEach(async () => {
  registry = new Registry();
  world = await createDispatchWorld({ workers: ['eu-1', 'us-2'], registry });
});
afterEach(() => world.close());

const seriesOf = async (cluster: string): Promise<readonly string[]> =>
  (await registry.metrics()).split('\n').filter((line) => line.includes(`cluster="${cluster}"`));

test('the first connection is no reconnect', async () => {
  await world.settle(5_000);
  expect(await seriesOf('eu-1')).toContain('switchyard_cluster_reconnects_total{cluster="eu-1"} 0');
});

test('a cluster that is deleted leaves no series of dispatch behind, and others keep theirs', async () => {
  await world.settle(5_000);
  expect((await seriesOf('eu-1')).length).toBeGreaterThan(3);
  await world.home.delete(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' }, { propagationPolicy: 'Background' });
  await world.settle(60_000);
  expect(await seriesOf('eu-1')).toEqual([]);
  expect((await seriesOf('us-2')).length).toBeGreaterThan(3);
});
