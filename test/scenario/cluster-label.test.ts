/** Goal: `kubectl get jobs -l switchyard.dev/cluster=NAME` lists what is placed on a cluster, at the cost of no call. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import type { JobStatus } from '../../shared/api/kubernetes.ts';
import { CLUSTER_LABEL, MANAGER_CONTROLLER_NAME, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { createDispatchWorld, NAMESPACE, type DispatchWorld } from './dispatch-world.ts';

let world: DispatchWorld;
beforeEach(async () => {
  world = await createDispatchWorld();
});
afterEach(() => world.close());

const rests: JobStatus = {
  active: 0,
  ready: 0,
  conditions: [
    { type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended', lastTransitionTime: '2026-01-01T00:00:03Z' },
  ],
};
const on = async (cluster: string): Promise<string[]> =>
  (await world.home.list(JOBS, { labelSelector: `${CLUSTER_LABEL}=${cluster}` })).items.map(({ metadata }) => metadata.name);
const setState = (name: string, state: string) =>
  world.home.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { spec: { state } } });

test('a Job is listed under the cluster that it is placed on, until its pods there have ended and it moves', async () => {
  await setState('us-2', 'Cordoned');
  await world.submit('sum');
  await world.settle(1_000);
  const [eu, us] = [world.worker('eu-1'), world.worker('us-2')];
  await eu.start('sum');
  await world.settle(1_000);
  expect([await on('eu-1'), await on('us-2')]).toEqual([['sum'], []]);
  expect((await eu.copy('sum'))?.metadata.labels).not.toHaveProperty([CLUSTER_LABEL]);

  await setState('us-2', 'Active');
  await setState('eu-1', 'Draining');
  await world.settle(5_000);
  expect((await world.job('sum')).spec.suspend).toBe(true);
  expect([await on('eu-1'), await on('us-2')]).toEqual([['sum'], []]);

  await eu.report('sum', rests);
  await world.settle(5_000);
  expect([await on('eu-1'), await on('us-2')]).toEqual([[], ['sum']]);
  expect((await us.copy('sum'))?.metadata.labels).not.toHaveProperty([CLUSTER_LABEL]);
});

test('a Job that admission has not placed loses the label with which it was made', async () => {
  const container = { name: 'main', image: 'busybox', command: ['true'] };
  await world.home.create(JOBS, {
    metadata: { namespace: NAMESPACE, name: 'forged', labels: { [QUEUE_NAME_LABEL]: 'main', [CLUSTER_LABEL]: 'us-2' } },
    spec: {
      suspend: false,
      managedBy: MANAGER_CONTROLLER_NAME,
      template: { spec: { restartPolicy: 'Never', containers: [container] } },
    },
  });
  await setState('eu-1', 'Cordoned');
  await setState('us-2', 'Cordoned');
  await world.settle(5_000);
  expect((await world.job('forged')).spec.suspend).toBe(true);
  expect(await on('us-2')).toEqual([]);
});
