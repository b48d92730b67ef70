/** Goal: `kubectl describe job` tells the way of a Job: where it waited, where it runs, when it moved, how it ended. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import type { JobStatus } from '../../shared/api/kubernetes.ts';
import { EVENTS } from '../../shared/api/resources.ts';
import { createDispatchWorld, NAMESPACE, type DispatchWorld } from './dispatch-world.ts';

let world: DispatchWorld;
beforeEach(async () => {
  world = await createDispatchWorld();
});
afterEach(() => world.close());

const setState = (name: string, state: string) =>
  world.home.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { spec: { state } } });
const story = async (): Promise<string[]> => {
  const { items } = await world.home.list(EVENTS, { namespace: NAMESPACE });
  const written = (nanos: string): bigint => BigInt(`0x${nanos.slice(nanos.lastIndexOf('.') + 1)}`);
  return items
    .toSorted((a, b) => (written(a.metadata.name) < written(b.metadata.name) ? -1 : 1))
    .map(({ reason, message }) => `${reason}: ${message}`);
};
const rests: JobStatus = {
  active: 0,
  ready: 0,
  conditions: [
    { type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended', lastTransitionTime: '2026-01-01T00:00:03Z' },
  ],
};

test('the way of a Job that moved from a cluster that is drained', async () => {
  await setState('us-2', 'Cordoned');
  await world.submit('sum');
  await world.settle(1_000);
  await world.worker('eu-1').start('sum');
  await world.settle(1_000);
  await setState('us-2', 'Active');
  await setState('eu-1', 'Draining');
  await world.settle(5_000);
  await world.worker('eu-1').report('sum', rests);
  await world.settle(5_000);
  await world.worker('us-2').start('sum');
  await world.settle(5_000);
  await world.worker('us-2').complete('sum');
  await world.settle(5_000);
  expect(await story()).toEqual([
    'Admitted: to cluster "eu-1" by ClusterQueue "main", cpu from default, after 0 s',
    'Dispatched: dispatched to cluster "eu-1" (placement 1)',
    'Evicted: cluster eu-1 is draining',
    'Queued: waits to be admitted again',
    'Pending: suspended after admission; quota is held until nothing runs any more',
    'Moved: from cluster "eu-1" to "us-2" (ClusterQueue "main", cpu from default, placement 2)',
    'Dispatched: dispatched to cluster "us-2" (placement 2)',
    'Started: started on cluster "us-2" (placement 2, admitted 2026-01-01T00:00:08Z)',
    'Finished: complete on cluster "us-2" in 17 s, of which it ran 16 s; pods: 1 succeeded, 0 failed',
  ]);
});

test('a manager that is started anew does not tell again what was told', async () => {
  await world.submit('sum');
  await world.settle(1_000);
  const before = await story();
  await world.stop();
  await world.start();
  await world.settle(5_000);
  expect(await story()).toEqual(before);
});
