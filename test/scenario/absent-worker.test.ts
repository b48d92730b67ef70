/** Goal: a cluster that has no worker keeps no Job that nothing was begun for, and a Job whose worker died says so, and how to go on. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import type { Job, Pod } from '../../shared/api/kubernetes.ts';
import { CLUSTERS_ANNOTATION, HOLD_ANNOTATION } from '../../shared/api/names.ts';
import { JOBS, PODS } from '../../shared/api/resources.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { conditionsOf, createDispatchWorld, NAMESPACE, type DispatchWorld, type WorkerSide } from './dispatch-world.ts';
import { announceWorker, withoutWorkerLease } from '../support/worker-presence.ts';

const SUM = { namespace: NAMESPACE, name: 'sum' };
const MINUTE = 60_000;

let world: DispatchWorld;
let eu: WorkerSide;
let us: WorkerSide;
beforeEach(async () => {
  world = await createDispatchWorld();
  eu = world.worker('eu-1');
  us = world.worker('us-2');
});
afterEach(() => world.close());

const patchAtHome = (body: object) => world.home.patch(JOBS, SUM, { type: 'merge', body });
const hold = (word: string | null) => patchAtHome({ metadata: { annotations: { [HOLD_ANNOTATION]: word } } });
const messageAtHome = async (): Promise<string> =>
  (await world.job('sum')).status?.conditions?.find(({ type }) => type === 'Dispatched')?.message ?? '';
const isThere = async (worker: WorkerSide): Promise<boolean> => (await worker.copy('sum')) !== undefined;

/** A Job that prefers eu-1, whose worker is gone a moment after the copy was made. */
async function onDeadCluster(parts: { readonly started: boolean }): Promise<Job> {
  await world.submit('sum', { annotations: { [CLUSTERS_ANNOTATION]: 'eu-1' } });
  await world.settle(1_000);
  if (parts.started) await eu.start('sum');
  await withoutWorkerLease(eu.client);
  await world.settle(2 * MINUTE);
  const copy = await eu.copy('sum');
  if (copy === undefined) throw new Error('no copy');
  return copy;
}

/** A pod that the worker of the cluster made before it died. */
function podOf({ spec: { template } }: Job): Promise<Pod> {
  const { metadata, spec = { containers: [] } } = template;
  return eu.client.create(PODS, {
    metadata: { namespace: NAMESPACE, name: 'sum-abcde', ...omitUndefined({ labels: metadata?.labels }) },
    spec,
  });
}

test('a Job that nothing was begun for is let go: held, it rests, and released it waits for a cluster with a worker', async () => {
  await onDeadCluster({ started: false });
  await hold('true');
  await world.settle(2 * MINUTE);
  expect(await isThere(eu)).toBe(false);
  expect(conditionsOf(await world.job('sum'))).toContain('Dispatched=False AtRest');
  await hold(null);
  await world.settle(MINUTE);
  expect(await isThere(eu)).toBe(false);
  await announceWorker(eu.client, world.clock);
  await world.settle(MINUTE);
  expect(await isThere(eu)).toBe(true);
});

test('a Job that is not bound to the cluster runs elsewhere after its start timeout', async () => {
  await world.home.patch(WORKER_CLUSTERS, { namespace: '', name: 'us-2' }, { type: 'merge', body: { spec: { state: 'Cordoned' } } });
  await world.submit('sum', { annotations: { 'switchyard.dev/start-timeout': '3m' } });
  await world.settle(1_000);
  expect(await isThere(eu)).toBe(true);
  await withoutWorkerLease(eu.client);
  await world.home.patch(WORKER_CLUSTERS, { namespace: '', name: 'us-2' }, { type: 'merge', body: { spec: { state: 'Active' } } });
  await world.settle(6 * MINUTE);
  expect([await isThere(eu), await isThere(us)]).toEqual([false, true]);
});

test('pods that the worker has made without saying so keep the Job from counting as at rest', async () => {
  const pod = await podOf(await onDeadCluster({ started: false }));
  await hold('true');
  await world.settle(3 * MINUTE);
  expect(conditionsOf(await world.job('sum'))).not.toContain('Dispatched=False AtRest');
  expect(await messageAtHome()).toContain('kubectl delete pod -n team sum-abcde');
  await eu.client.patchStatus(
    PODS,
    { namespace: NAMESPACE, name: pod.metadata.name },
    { type: 'merge', body: { status: { phase: 'Failed' } } },
  );
  await world.settle(MINUTE);
  expect(conditionsOf(await world.job('sum'))).toContain('Dispatched=False AtRest');
});

test('a Job that runs says that its cluster has no worker, and both ways out; with its worker back it says so no more', async () => {
  await onDeadCluster({ started: true });
  expect(await messageAtHome()).toMatch(/no worker runs it on cluster "eu-1": no worker has announced itself/);
  expect(await messageAtHome()).toContain('kubectl delete job -n team sum --cascade=background');
  await announceWorker(eu.client, world.clock);
  await world.settle(MINUTE);
  expect(await messageAtHome()).toBe('dispatched to cluster "eu-1" (placement 1)');
});

test('a Job that is held goes on saying so while its pods may run, and rests once a user has deleted the copy and no pod is left', async () => {
  const pod = await podOf(await onDeadCluster({ started: true }));
  await hold('true');
  await world.settle(5 * MINUTE);
  expect(await isThere(eu)).toBe(true);
  expect(conditionsOf(await world.job('sum'))).not.toContain('Dispatched=False AtRest');
  expect(await messageAtHome()).toContain('kubectl delete job -n team sum --cascade=background');
  await eu.client.delete(JOBS, SUM, { propagationPolicy: 'Background' });
  await eu.client.patchStatus(
    PODS,
    { namespace: NAMESPACE, name: pod.metadata.name },
    { type: 'merge', body: { status: { phase: 'Failed' } } },
  );
  await world.settle(2 * MINUTE);
  expect(conditionsOf(await world.job('sum'))).toContain('Dispatched=False AtRest');
});

test('a Job that is deleted at home says what it waits for, and goes once the copy is gone and no pod is left', async () => {
  await onDeadCluster({ started: true });
  await eu.client.patch(JOBS, SUM, { type: 'merge', body: { metadata: { finalizers: ['test/stays'] } } });
  await world.home.delete(JOBS, SUM);
  await world.settle(MINUTE);
  expect(await messageAtHome()).toContain('no worker runs it on cluster "eu-1"');
  await eu.client.patch(JOBS, SUM, { type: 'merge', body: { metadata: { finalizers: null } } });
  await world.settle(2 * MINUTE);
  await expect(world.job('sum')).rejects.toMatchObject({ code: 404 });
});
