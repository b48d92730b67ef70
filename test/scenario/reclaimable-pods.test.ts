/**
 * Goal: what a Job will not need again others may have, before it ends: as told at home and no sooner, without a write, and after a restart
 * as before it.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { createAdmissionWorld, NAMESPACE, type AdmissionWorld } from './admission-world.ts';

let world: AdmissionWorld;
beforeEach(async () => {
  world = await createAdmissionWorld();
  await world.flavor('default');
  await world.queue('main', { cpu: '10', spec: { reclaimablePods: 'Reclaim' } });
  await world.cluster('eu-1');
  await world.job('wide', { spec: { parallelism: 10, completions: 10 } });
  await world.settle(1_000);
  await world.job('next', { cpu: '6' });
  await world.settle(1_000);
  expect(await world.running()).toEqual(['wide']);
});
afterEach(() => world.close());

const tell = async (status: object): Promise<void> => {
  await world.client.patchStatus(JOBS, { namespace: NAMESPACE, name: 'wide' }, { type: 'merge', body: { status } });
  await world.settle(1_000);
};
const keep = async (reclaimablePods: 'Keep' | 'Reclaim'): Promise<void> => {
  const body = { spec: { reclaimablePods } };
  await world.client.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body });
  await world.settle(1_000);
};
const startTime = '2026-01-01T00:00:01Z';

test('pods that are done leave their quota to the next Job, once enough are, and nothing is written for that', async () => {
  await tell({ startTime, active: 5, succeeded: 5 });
  expect(await world.running()).toEqual(['wide']);
  const before = await world.record('wide');
  await tell({ active: 4, succeeded: 6 });
  expect(await world.running()).toEqual(['next', 'wide']);
  expect(await world.record('wide')).toEqual(before);
  expect(before?.requests).toEqual({ cpu: '10', pods: '10' });
});

test.each([
  ['pods that still run', { startTime, active: 10, succeeded: 6 }],
  ['pods that stop', { startTime, active: 4, terminating: 3, succeeded: 6 }],
  ['failures that are tried again', { startTime, active: 4, failed: 6 }],
])('%s hold what they hold, whatever else is told', async (_what, status) => {
  await tell(status);
  expect(await world.running()).toEqual(['wide']);
});

test('a queue that keeps it has the Job hold all of it, and may change its mind', async () => {
  await keep('Keep');
  await tell({ startTime, active: 2, succeeded: 8 });
  expect(await world.running()).toEqual(['wide']);
  await keep('Reclaim');
  expect(await world.running()).toEqual(['next', 'wide']);
});

test('the next manager counts the same', async () => {
  await world.stop();
  await world.client.patchStatus(
    JOBS,
    { namespace: NAMESPACE, name: 'wide' },
    { type: 'merge', body: { status: { startTime, active: 3, succeeded: 7 } } },
  );
  await world.restart();
  await world.settle(1_000);
  expect(await world.running()).toEqual(['next', 'wide']);
  await world.restart();
  await world.job('small', { cpu: '1' });
  await world.job('smaller', { cpu: '500m' });
  await world.settle(1_000);
  // Three of ten are used by the first, six by the second.
  expect(await world.running()).toEqual(['next', 'small', 'wide']);
});

test('a Job that is admitted anew asks for what is left of it, and may run all the same', async () => {
  await tell({ startTime, active: 2, succeeded: 8 });
  await world.client.patch(JOBS, { namespace: NAMESPACE, name: 'wide' }, { type: 'merge', body: { spec: { suspend: true } } });
  await world.settle(1_000);
  await world.rest('wide');
  await world.job('more', { cpu: '2' });
  await world.settle(1_000);
  // Two are left for the two that it still needs.
  expect(await world.running()).toEqual(['more', 'next']);
  const body = { metadata: { annotations: { 'switchyard.dev/hold': null } } };
  await world.client.patch(JOBS, { namespace: NAMESPACE, name: 'wide' }, { type: 'merge', body });
  await world.settle(1_000);
  expect(await world.running()).toEqual(['more', 'next', 'wide']);
  expect((await world.record('wide'))?.requests).toEqual({ cpu: '10', pods: '10' });
  await world.job('none', { cpu: '500m' });
  await world.settle(1_000);
  expect(await world.running()).toEqual(['more', 'next', 'wide']);
});
