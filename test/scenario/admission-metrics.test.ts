/** Goal: the metrics of admission tell how queues and Jobs stand, queue by queue, and forget queues that are gone. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { createAdmissionWorld, type AdmissionWorld } from './admission-world.ts';

let world: AdmissionWorld;
beforeEach(async () => {
  world = await createAdmissionWorld();
  await world.flavor('default');
  await world.queue('main', { cpu: '2' });
  await world.queue('spare', { cpu: '500m' });
  await world.cluster('eu-1');
});
afterEach(() => world.close());

const ofMain = { cluster_queue: 'main' };

test('a queue tells how many wait, how many run, and what of its quota is used', async () => {
  for (const name of ['a', 'b', 'c', 'd']) await world.job(name, { cpu: '1' });
  await world.job('e', { cpu: '3' });
  await world.settle(3_000);
  expect(await world.metric('switchyard_pending_workloads', { ...ofMain, status: 'inadmissible' })).toBe(3);
  expect(await world.metric('switchyard_pending_workloads', { ...ofMain, status: 'active' })).toBe(0);
  expect(await world.metric('switchyard_admitted_active_workloads', ofMain)).toBe(2);
  const cpu = { flavor: 'default', resource: 'cpu' };
  expect(await world.metric('switchyard_cluster_queue_nominal_quota', { ...ofMain, ...cpu })).toBe(2);
  expect(await world.metric('switchyard_cluster_queue_resource_usage', { ...ofMain, ...cpu })).toBe(2);
  expect(await world.metric('switchyard_cluster_queue_nominal_quota', { cluster_queue: 'spare', ...cpu })).toBe(0.5);
  expect(await world.metric('switchyard_cluster_queue_resource_usage', { cluster_queue: 'spare', ...cpu })).toBe(0);
});

test('a Job counts once when it is admitted, by queue and cluster, and once when it ends, by its result', async () => {
  await world.job('good');
  await world.job('bad');
  await world.settle(3_000);
  expect(await world.metric('switchyard_admitted_workloads_total', { ...ofMain, cluster: 'eu-1' })).toBe(2);
  expect(await world.metric('switchyard_admission_wait_time_seconds', ofMain)).toBe(2);
  await world.finish('good');
  await world.finish('bad', 'Failed');
  await world.settle(3_000);
  expect(await world.metric('switchyard_finished_workloads_total', { ...ofMain, result: 'Complete' })).toBe(1);
  expect(await world.metric('switchyard_finished_workloads_total', { ...ofMain, result: 'Failed' })).toBe(1);
  expect(await world.metric('switchyard_admitted_active_workloads', ofMain)).toBe(0);
});

test('a queue that is gone leaves no series behind', async () => {
  await world.settle(3_000);
  await world.client.delete(CLUSTER_QUEUES, { namespace: '', name: 'spare' }, { propagationPolicy: 'Background' });
  await world.settle(3_000);
  expect(await world.metric('switchyard_cluster_queue_nominal_quota', { cluster_queue: 'spare' })).toBeUndefined();
  expect(await world.metric('switchyard_cluster_queue_nominal_quota', ofMain)).toBe(2);
});
