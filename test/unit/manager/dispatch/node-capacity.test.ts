import { expect, test } from 'vitest';
import { capacityOf } from '../../../../manager/dispatch/node-capacity.ts';
import type { Node } from '../../../../shared/api/kubernetes.ts';

const node = (allocatable: Record<string, string>, parts: { readonly unschedulable?: boolean; readonly ready?: string } = {}): Node => ({
  metadata: { name: 'n', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { unschedulable: parts.unschedulable ?? false },
  status: { allocatable, conditions: [{ type: 'Ready', status: parts.ready ?? 'True' }] },
});

test('a cluster offers the sum of its schedulable, ready nodes', () => {
  const nodes = [
    node({ cpu: '3500m', memory: '1Gi' }),
    node({ cpu: '4', memory: '1Gi', 'nvidia.com/gpu': '2' }),
    node({ cpu: '64' }, { unschedulable: true }),
    node({ cpu: '64' }, { ready: 'Unknown' }),
  ];
  expect(capacityOf(nodes).allocatable).toEqual({ cpu: '7500m', memory: '2Gi', 'nvidia.com/gpu': '2' });
});

test('resources come in the order of their names, so that the same offer reads the same', () => {
  const { allocatable: offered } = capacityOf([
    node({ pods: '110', memory: '1Gi', cpu: '1' }),
    node({ 'nvidia.com/gpu': '1', 'ephemeral-storage': '9Gi' }),
  ]);
  expect(Object.keys(offered)).toEqual(['cpu', 'ephemeral-storage', 'memory', 'nvidia.com/gpu', 'pods']);
});
