/** Goal: what a leading manager tells at a scrape answers how queues and clusters stand now, and forgets those that are gone. */
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CLUSTERS_ANNOTATION } from '../../shared/api/names.ts';
import { createDispatchWorld, type DispatchWorld } from './dispatch-world.ts';

let world: DispatchWorld;
let registry: Registry;
beforeEach(async () => {
  registry = new Registry();
  world = await createDispatchWorld({ workers: ['eu-1'], registry });
});
afterEach(() => world.close());

async function value(name: string, labels: Readonly<Record<string, string>>): Promise<number | undefined> {
  const all = await registry.getMetricsAsJSON();
  const values = all.flatMap((metric) => metric.values.map((each) => ({ name: metric.name, ...each })));
  const isOf = (each: { labels: object }): boolean =>
    Object.entries(labels).every(([label, text]) => Reflect.get(each.labels, label) === text);
  return values.find((each) => ('metricName' in each ? each.metricName : each.name) === name && isOf(each))?.value;
}

test('a cluster and its Jobs, a queue and its LocalQueue are told of', async () => {
  const on = (cluster: string) => ({ annotations: { [CLUSTERS_ANNOTATION]: cluster } });
  await world.submit('runs', on('eu-1'));
  await world.settle(1_000);
  await world.worker('eu-1').start('runs');
  await world.submit('waits', on('nowhere'));
  await world.settle(20_000);
  const queue = { cluster_queue: 'main' };
  const local = { namespace: 'team', local_queue: 'main' };
  expect(await value('switchyard_cluster_condition', { cluster: 'eu-1', condition: 'Ready' })).toBe(1);
  expect(await value('switchyard_cluster_last_watch_event_seconds', { cluster: 'eu-1' })).toBeGreaterThan(1_700_000_000);
  expect(await value('switchyard_pending_workloads_by_reason', { ...queue, reason: 'NoClusterFits' })).toBe(1);
  expect(await value('switchyard_admission_head_waiting_seconds', queue)).toBeGreaterThanOrEqual(19);
  expect(await value('switchyard_local_queue_pending_workloads', local)).toBe(1);
  expect(await value('switchyard_local_queue_admitted_active_workloads', local)).toBe(1);
  expect(await value('switchyard_status_lag_seconds_count', { cluster: 'eu-1' })).toBeGreaterThan(0);
  await world.worker('eu-1').complete('runs');
  await world.settle(2_000);
  expect(await value('switchyard_workload_run_seconds_count', { ...queue, outcome: 'Complete' })).toBeGreaterThan(0);
  expect(await value('switchyard_local_queue_admitted_active_workloads', local)).toBe(0);
});
