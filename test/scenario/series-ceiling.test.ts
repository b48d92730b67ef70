/** Goal: what /metrics tells of a large installation is bounded by its queues and clusters, whatever they are called. */
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createStateMetrics, DEFAULT_LOCAL_QUEUES_MAX } from '../../manager/admission/controllers/state-metrics.ts';

const CLUSTERS = 100;
const QUEUES = 1_000;
const TENANTS_QUEUES = 5_000;
const CONDITIONS = ['Ready', 'Reachable', 'Synced', 'Able', 'WorkerAlive'].map((type) => ({ type, status: 'True' }));
const REASONS = ['Pending', 'NoQuota', 'NoClusterFits'];
const RESOURCES = new Map([
  ['cpu', 1],
  ['memory', 2],
]);
/** Names that would end a label, a line or a series, were they not escaped. */
const HOSTILE = ['"} 1\nup 0', '\\', '{a="b"}', '# TYPE up gauge', 'é\u2028'];
const nameOf = (index: number): string => HOSTILE[index] ?? `name-${index}`;
const many = <T>(count: number, make: (name: string) => T): T[] => Array.from({ length: count }, (_, index) => make(nameOf(index)));

test('a thousand queues, a hundred clusters, five thousand LocalQueues and hostile names make no more series than their product with closed lists', async () => {
  const registry = new Registry();
  createStateMetrics(registry, () => 100_000).observe(() => ({
    clusters: many(CLUSTERS, (name) => ({ name, conditions: CONDITIONS, allocatable: RESOURCES, used: RESOURCES, heardSeconds: 1 })),
    clusterQueues: many(QUEUES, (name) => ({ name, headSinceSeconds: 1, pendingByReason: new Map(REASONS.map((reason) => [reason, 33])) })),
    localQueues: many(TENANTS_QUEUES, (name) => ({
      namespace: 'team',
      name,
      pending: 1,
      admitted: 1,
      usage: [{ flavor: 'default', resource: 'cpu', amount: 1 }],
    })),
  }));
  const lines = (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('# '));
  const perCluster = CONDITIONS.length + 2 * RESOURCES.size + 1;
  const perQueue = REASONS.length + 1;
  expect(lines).toHaveLength(CLUSTERS * perCluster + QUEUES * perQueue + DEFAULT_LOCAL_QUEUES_MAX * 3 + 1);
  // Each is one series of ours: no name has become a line of its own.
  expect(lines.filter((line) => !/^switchyard_\w+(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\[\\n"])*",?)+\})? \d+(\.\d+)?$/.test(line))).toEqual([]);
});
