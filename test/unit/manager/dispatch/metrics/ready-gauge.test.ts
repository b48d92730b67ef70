import { Gauge, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createReadyGauge } from '../../../../../manager/dispatch/metrics/ready-gauge.ts';

test('a cluster has one reason at a time, and none once it is ready or gone', async () => {
  const registers = [new Registry()];
  const clusterReady = new Gauge({ name: 'ready', help: 'ready', labelNames: ['cluster'], registers });
  const clusterNotReady = new Gauge({ name: 'not_ready', help: 'not ready', labelNames: ['cluster', 'reason'], registers });
  const gauge = createReadyGauge({ clusterReady, clusterNotReady });
  const measured = async () => [
    (await clusterReady.get()).values.map(({ value }) => value),
    (await clusterNotReady.get()).values.map(({ labels }) => labels['reason']),
  ];
  gauge.set('eu-1', { status: 'False', reason: 'Unauthorized' });
  gauge.set('eu-1', { status: 'False', reason: 'ClusterUnreachable' });
  expect(await measured()).toEqual([[0], ['ClusterUnreachable']]);
  gauge.set('eu-1', { status: 'True', reason: 'Connected' });
  expect(await measured()).toEqual([[1], []]);
  gauge.set('eu-1', { status: 'Unknown', reason: 'Connecting' });
  gauge.set('eu-1', undefined);
  expect(await measured()).toEqual([[0], []]);
});
