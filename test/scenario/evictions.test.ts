/** Goal: a Job that is evicted runs nowhere else before its copy is known to rest. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import type { JobStatus } from '../../shared/api/kubernetes.ts';
import { conditionsOf, createDispatchWorld, NAMESPACE, type DispatchWorld } from './dispatch-world.ts';
import { JOBS } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';

let world: DispatchWorld;
beforeEach(async () => {
  world = await createDispatchWorld();
});
afterEach(() => world.close());

const lastTransitionTime = '2026-01-01T00:00:03Z';
const rests: JobStatus = {
  conditions: [{ type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended', lastTransitionTime }],
};
const set = (client: KubeClient, name: string, state: string) =>
  client.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { spec: { state } } });

test('a copy that has not told of any start, on a cluster that cannot be reached, keeps its Job from other clusters', async () => {
  await set(world.home, 'us-2', 'Cordoned');
  await world.submit('sum');
  await world.settle(1_000);
  expect(conditionsOf(await world.job('sum'))).toContain('Dispatched=True Dispatched');
  const eu = world.worker('eu-1');
  eu.line.state = 'swallowed';
  await set(world.home, 'us-2', 'Active');
  await set(world.home, 'eu-1', 'Draining');
  await world.settle(120_000);
  expect((await world.job('sum')).spec.suspend).toBe(true);
  expect(await world.worker('us-2').copy('sum')).toBeUndefined();

  eu.line.state = 'up';
  await world.settle(120_000);
  expect(await eu.copy('sum')).toMatchObject({ spec: { suspend: true } });
  expect(await world.worker('us-2').copy('sum')).toBeUndefined();
  await eu.report('sum', rests);
  await world.settle(120_000);
  expect(await world.worker('us-2').copy('sum')).toMatchObject({ spec: { suspend: false } });
  expect(await eu.copy('sum')).toBeUndefined();
});

test('a copy that was just resumed, on a cluster that cannot be reached, keeps its Job from other clusters though it last told that it rests', async () => {
  await set(world.home, 'us-2', 'Cordoned');
  await world.submit('sum');
  await world.settle(1_000);
  const eu = world.worker('eu-1');
  await set(world.home, 'eu-1', 'Draining');
  await world.settle(1_000);
  await eu.report('sum', rests);
  await world.settle(5_000);
  await set(world.home, 'eu-1', 'Active');
  await world.settle(5_000);
  expect(await eu.copy('sum')).toMatchObject({ spec: { suspend: false } });

  eu.line.state = 'swallowed';
  await set(world.home, 'us-2', 'Active');
  await set(world.home, 'eu-1', 'Draining');
  await world.settle(120_000);
  expect((await world.job('sum')).spec.suspend).toBe(true);
  expect(await world.worker('us-2').copy('sum')).toBeUndefined();

  eu.line.state = 'up';
  await world.settle(120_000);
  expect(await world.worker('us-2').copy('sum')).toBeUndefined();
  const suspended = { type: 'Suspended', status: 'True', lastTransitionTime: '2026-01-01T00:05:00Z' } as const;
  await eu.report('sum', { active: 0, ready: 0, conditions: [suspended] });
  await world.settle(5_000);
  expect(await world.worker('us-2').copy('sum')).toMatchObject({ spec: { suspend: false } });
  expect(await eu.copy('sum')).toBeUndefined();
});

test('a Job whose copy was never made is free at once', async () => {
  await set(world.home, 'us-2', 'Cordoned');
  world.worker('eu-1').line.state = 'refused';
  await world.submit('sum');
  await world.settle(1_000);
  await set(world.home, 'us-2', 'Active');
  const body = { metadata: { annotations: { 'switchyard.dev/hold': 'false' } }, spec: { suspend: true } };
  await world.home.patch(JOBS, { namespace: NAMESPACE, name: 'sum' }, { type: 'merge', body });
  await set(world.home, 'eu-1', 'Draining');
  await world.settle(60_000);
  expect(await world.worker('us-2').copy('sum')).toMatchObject({ spec: { suspend: false } });
});
