import { expect, test } from 'vitest';
import { allocatableOf } from '../../../../manager/dispatch/node-capacity.ts';
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
  expect(allocatableOf(nodes)).toEqual({ cpu: '7500m', memory: '2Gi', 'nvidia.com/gpu': '2' });
});
