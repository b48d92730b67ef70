import { expect, test } from 'vitest';
import type { WorkerCluster } from '../../../../manager/api/worker-cluster.ts';
import { clusterGauges } from '../../../../manager/metrics/cluster-gauges.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

test('a cluster is what it tells of itself, what is charged there, and when it was heard of by the time of day', async () => {
  const clock = new FakeClock();
  await clock.advance(5_000);
  const heardMs = clock.monotonic();
  await clock.advance(60_000);
  const cluster = {
    apiVersion: 'switchyard.dev/v1alpha1',
    kind: 'WorkerCluster',
    metadata: { name: 'east', namespace: '', uid: 'u', resourceVersion: '1' },
    spec: { capacity: { memory: '1Gi' } },
    status: {
      allocatable: { cpu: '2500m' },
      conditions: [{ type: 'Ready', status: 'True', reason: '', message: '', lastTransitionTime: '' }],
    },
  } as unknown as WorkerCluster;
  const charged = new Map([['cpu', 1.5]]);
  const world = { usedOn: (_: string, resource: string) => charged.get(resource) ?? 0, heardMs: () => heardMs, clock };
  expect([...clusterGauges([cluster], world)]).toEqual([
    {
      name: 'east',
      conditions: cluster.status?.conditions,
      allocatable: new Map([
        ['cpu', 2.5],
        ['memory', 2 ** 30],
      ]),
      used: new Map([
        ['cpu', 1.5],
        ['memory', 0],
      ]),
      heardSeconds: clock.now() / 1000 - 60,
    },
  ]);
});
