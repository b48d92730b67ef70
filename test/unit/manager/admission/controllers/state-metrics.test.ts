import { Registry } from 'prom-client';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  createStateMetrics,
  DEFAULT_LOCAL_QUEUES_MAX,
  type ObservedState,
  type StateMetrics,
} from '../../../../../manager/admission/controllers/state-metrics.ts';

let registry: Registry;
let metrics: StateMetrics;
beforeEach(() => {
  registry = new Registry();
  metrics = createStateMetrics(registry, () => 100_000);
});
const told = async (): Promise<readonly string[]> =>
  (await registry.metrics())
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith('switchyard_local_queues_without_series'));
const nothing: ObservedState = { clusters: [], clusterQueues: [], localQueues: [] };
const east = {
  name: 'east',
  conditions: [
    { type: 'Ready', status: 'True' },
    { type: 'Synced', status: 'Unknown' },
  ],
  allocatable: new Map([['cpu', 64]]),
  used: new Map([['cpu', 2.5]]),
  heardSeconds: 99,
};

test('whoever stands by tells nothing', async () => {
  expect(await told()).toEqual([]);
  metrics.observe(() => ({ ...nothing, clusters: [east] }));
  expect(await told()).not.toEqual([]);
  metrics.observe(undefined);
  expect(await told()).toEqual([]);
});

test('a cluster has conditions, capacity, use and a sign of life, until it is gone', async () => {
  let clusters = [east, { ...east, name: 'west', heardSeconds: undefined }];
  metrics.observe(() => ({ ...nothing, clusters }));
  expect(await told()).toEqual([
    'switchyard_cluster_condition{cluster="east",condition="Ready"} 1',
    'switchyard_cluster_condition{cluster="east",condition="Synced"} 0',
    'switchyard_cluster_condition{cluster="west",condition="Ready"} 1',
    'switchyard_cluster_condition{cluster="west",condition="Synced"} 0',
    'switchyard_cluster_allocatable{cluster="east",resource="cpu"} 64',
    'switchyard_cluster_allocatable{cluster="west",resource="cpu"} 64',
    'switchyard_cluster_used{cluster="east",resource="cpu"} 2.5',
    'switchyard_cluster_used{cluster="west",resource="cpu"} 2.5',
    'switchyard_cluster_last_watch_event_seconds{cluster="east"} 99',
  ]);
  clusters = [];
  expect(await told()).toEqual([]);
});

test('a ClusterQueue tells since when its first waits, and why how many do', async () => {
  metrics.observe(() => ({
    ...nothing,
    clusterQueues: [
      { name: 'batch', headSinceSeconds: 40, pendingByReason: new Map([['NoQuota', 3]]) },
      { name: 'idle', headSinceSeconds: undefined, pendingByReason: new Map() },
    ],
  }));
  expect(await told()).toEqual([
    'switchyard_admission_head_waiting_seconds{cluster_queue="batch"} 60',
    'switchyard_admission_head_waiting_seconds{cluster_queue="idle"} 0',
    'switchyard_pending_workloads_by_reason{cluster_queue="batch",reason="NoQuota"} 3',
  ]);
});

describe('LocalQueues', () => {
  const queue = (name: string) => ({
    namespace: 'team',
    name,
    pending: 2,
    admitted: 1,
    usage: [{ flavor: 'default', resource: 'cpu', amount: 1.5 }],
  });

  test('have counts and usage', async () => {
    metrics.observe(() => ({ ...nothing, localQueues: [queue('main')] }));
    expect(await told()).toEqual([
      'switchyard_local_queue_pending_workloads{namespace="team",local_queue="main"} 2',
      'switchyard_local_queue_admitted_active_workloads{namespace="team",local_queue="main"} 1',
      'switchyard_local_queue_resource_usage{namespace="team",local_queue="main",flavor="default",resource="cpu"} 1.5',
    ]);
  });

  test('have so many series at most, of the first by name, and it is told how many have none', async () => {
    const all = Array.from({ length: DEFAULT_LOCAL_QUEUES_MAX + 500 }, (_, index) => queue(`queue-${String(index).padStart(5, '0')}`));
    metrics.observe(() => ({ ...nothing, localQueues: all.toReversed() }));
    const lines = await told();
    expect(lines).toHaveLength(3 * DEFAULT_LOCAL_QUEUES_MAX);
    expect(lines[0]).toContain('queue-00000');
    expect(await registry.getSingleMetricAsString('switchyard_local_queues_without_series')).toMatch(/ 500$/m);
  });
});

test('a scrape looks once, however many metrics it is for', async () => {
  let looks = 0;
  metrics.observe(() => {
    looks++;
    return nothing;
  });
  await told();
  expect(looks).toBe(1);
});
