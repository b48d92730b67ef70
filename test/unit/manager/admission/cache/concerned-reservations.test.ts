import { expect, test } from 'vitest';
import { concernedByClusters, concernedByQueues } from '../../../../../manager/admission/cache/concerned-reservations.ts';
import type { ClusterState } from '../../../../../manager/admission/quota/cluster-state.ts';
import { buildQueueingSetup } from '../../../../../manager/admission/snapshot/snapshot.ts';
import type { Reservation } from '../../../../../manager/admission/workload/reservation.ts';
import { aRecord } from '../../../../support/jobs.ts';
import { aCluster, aClusterQueue, aWorkload, objects } from '../setup.ts';

const placed = (clusterQueue: string, cluster = 'eu-1'): Reservation => ({
  workload: aWorkload('job', {}, { queue: clusterQueue }),
  record: aRecord({ clusterQueue, cluster }),
  held: new Map(),
  assumed: false,
});
const setup = (parts: Parameters<typeof aClusterQueue>[2] = {}, quota = '9', ...others: string[]) =>
  buildQueueingSetup(
    objects({
      clusterQueues: [
        aClusterQueue('a', { default: quota }, parts),
        ...['b', ...others].map((name) => aClusterQueue(name, { default: '9' })),
      ],
    }),
  );

test('another timeout of a ClusterQueue concerns its reservations alone, and another quota none', () => {
  const concerned = concernedByQueues(setup(), setup({ startTimeout: '3m' }));
  expect(['a', 'b'].map((queue) => concerned?.(placed(queue)))).toEqual([true, false]);
  expect(concernedByQueues(setup(), setup({}, '5'))).toBeUndefined();
});

test('a ClusterQueue that comes or goes concerns its reservations', () => {
  for (const concerned of [concernedByQueues(setup(), setup({}, '9', 'c')), concernedByQueues(setup({}, '9', 'c'), setup())])
    expect(['a', 'c'].map((queue) => concerned?.(placed(queue)))).toEqual([false, true]);
});

test('a cluster that is lost, reachable since another time, or new concerns its reservations, and other changes none', () => {
  const clusters = (...states: ClusterState[]) => new Map(states.map((state) => [state.name, state]));
  const before = clusters(aCluster('eu-1'), aCluster('us-1'));
  for (const other of [{ lost: true }, { reachableSinceMs: 1 }]) {
    const concerned = concernedByClusters(before, clusters(aCluster('eu-1', other), aCluster('us-1')));
    expect(['eu-1', 'us-1'].map((cluster) => concerned?.(placed('a', cluster)))).toEqual([true, false]);
  }
  expect(concernedByClusters(before, clusters(aCluster('us-1')))?.(placed('a'))).toBe(true);
  expect(concernedByClusters(before, clusters(aCluster('eu-1', { draining: true }), aCluster('us-1')))).toBeUndefined();
});
