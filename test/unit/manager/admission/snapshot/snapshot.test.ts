import { describe, expect, test } from 'vitest';
import type { LocalQueue } from '../../../../../manager/api/local-queue.ts';
import { NO_PRIORITY_CLASSES } from '../../../../../manager/admission/workload/priority.ts';
import { buildQueueingSetup, routeOf, type QueueingObjects } from '../../../../../manager/admission/snapshot/snapshot.ts';
import { omitUndefined } from '../../../../../shared/runtime/omit-undefined.ts';
import { aClusterQueue, aWorkload, objects } from '../setup.ts';

const localQueue = (clusterQueue: string, stopPolicy?: 'Hold'): LocalQueue => ({
  metadata: { name: 'main', namespace: 'team', uid: 'lq', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { clusterQueue, ...omitUndefined({ stopPolicy }) },
});
const reason = (parts: Partial<QueueingObjects>, workload = aWorkload('a')) => {
  const route = routeOf(workload, buildQueueingSetup(objects({ localQueues: [localQueue('cq')], ...parts })), NO_PRIORITY_CLASSES);
  return 'reason' in route ? route.reason : route.queue.name;
};

describe('where a pending Workload waits', () => {
  test('in the ClusterQueue of its LocalQueue', () => {
    expect(reason({ clusterQueues: [aClusterQueue('cq', { default: '1' })] })).toBe('cq');
  });
  test('nowhere, when something on the way is missing, stopped or wrong', () => {
    const clusterQueues = [aClusterQueue('cq', { default: '1' })];
    expect(reason({ clusterQueues }, aWorkload('a', {}, { problem: 'annotation' }))).toBe('InvalidJob');
    expect(reason({ clusterQueues }, aWorkload('a', {}, { queue: undefined }))).toBe('LocalQueueNotFound');
    expect(reason({ clusterQueues, localQueues: [] })).toBe('LocalQueueNotFound');
    expect(reason({ clusterQueues: [] })).toBe('ClusterQueueNotFound');
    expect(reason({ clusterQueues, localQueues: [localQueue('cq', 'Hold')] })).toBe('QueueStopped');
    expect(reason({ clusterQueues: [aClusterQueue('cq', { default: '1' }, { stopPolicy: 'HoldAndDrain' })] })).toBe('QueueStopped');
    expect(reason({ clusterQueues, resourceFlavors: [] })).toBe('ResourceFlavorNotFound');
  });
  test('a namespaceSelector that is absent selects no namespace, an empty one all', () => {
    const closed = aClusterQueue('cq', { default: '1' });
    delete closed.spec.namespaceSelector;
    expect(reason({ clusterQueues: [closed] })).toBe('NamespaceNotAllowed');
    expect(reason({ clusterQueues: [aClusterQueue('cq', { default: '1' }, { namespaceSelector: { matchLabels: { a: 'b' } } })] })).toBe(
      'NamespaceNotAllowed',
    );
  });
  test('a resource in two groups makes a ClusterQueue unusable', () => {
    const twice = aClusterQueue('cq', { default: '1' });
    twice.spec.resourceGroups = [...(twice.spec.resourceGroups ?? []), ...(twice.spec.resourceGroups ?? [])];
    expect(reason({ clusterQueues: [twice] })).toBe('InvalidClusterQueue');
  });
  test('cohorts in a cycle make their ClusterQueues unusable', () => {
    const meta = { uid: 'c', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
    const cohorts = [{ metadata: { ...meta, name: 'x' }, spec: { parentName: 'x' } }];
    expect(reason({ cohorts, clusterQueues: [aClusterQueue('cq', { default: '1' }, { cohortName: 'x' })] })).toBe('CohortCycle');
  });
});
