import { expect, test } from 'vitest';
import { capacityOf, essentialsOfNode } from '../../../../../manager/dispatch/cluster/node-capacity.ts';
import type { Node } from '../../../../../shared/api/kubernetes.ts';

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

test('an amount that is none counts for nothing, and is told', () => {
  const nodes = [node({ cpu: '4', memory: 'much' }), node({ cpu: '4', memory: '1Gi' })];
  expect(capacityOf(nodes)).toEqual({
    allocatable: { cpu: '8', memory: '1Gi' },
    nodeShapes: [
      { count: 1, allocatable: { cpu: '4' } },
      { count: 1, allocatable: { cpu: '4', memory: '1Gi' } },
    ],
    problem: expect.stringMatching(/^allocatable memory of node "n" does not count: quantities must match/),
  });
});

test('an amount of 80,000 digits is not kept, and costs nothing', () => {
  const kept = essentialsOfNode(node({ cpu: '9'.repeat(80_000), memory: '1Gi' }));
  expect(JSON.stringify(kept).length).toBeLessThan(400);
  expect(capacityOf([kept])).toEqual({
    allocatable: { memory: '1Gi' },
    nodeShapes: [{ count: 1, allocatable: { memory: '1Gi' } }],
    problem: 'allocatable cpu of node "n" does not count: it is no quantity, or one that is too long',
  });
});

test('ten thousand resources are more than a WorkerCluster can tell of', () => {
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_each, index) => [`example.com/r${index}`, '1']));
  const { allocatable, problem } = capacityOf([essentialsOfNode(node({ ...many, 'no resource\n': '1' }))]);
  expect(Object.keys(allocatable)).toHaveLength(64);
  expect(problem).toMatch(/there are more than 64 resources/);
});

test('a node that is none offers nothing', () => {
  const strange = { metadata: { name: 'n', uid: 'u', resourceVersion: '1' }, status: { allocatable: ['1'], conditions: 'Ready' } };
  expect(capacityOf([essentialsOfNode(strange as unknown as Node)])).toEqual({ allocatable: {} });
});

test('a node that is not ready, or takes no pods, is known as such', () => {
  expect(
    capacityOf([essentialsOfNode(node({ cpu: '4' }, { ready: 'Unknown' })), essentialsOfNode(node({ cpu: '4' }, { unschedulable: true }))]),
  ).toEqual({ allocatable: {} });
});

test('nodes of the same offer are one shape, the most frequent first', () => {
  const nodes = [node({ cpu: '4', pods: '110' }), node({ cpu: '64', 'nvidia.com/gpu': '8' }), node({ pods: '110', cpu: '4000m' })];
  expect(capacityOf(nodes).nodeShapes).toEqual([
    { count: 2, allocatable: { cpu: '4', pods: '110' } },
    { count: 1, allocatable: { cpu: '64', 'nvidia.com/gpu': '8' } },
  ]);
});

test('a hundred nodes that differ by little are one shape, which offers what the largest does', () => {
  const nodes = Array.from({ length: 100 }, (_, index) => node({ cpu: '16', memory: `${65_000_000 + index}Ki` }));
  expect(capacityOf(nodes).nodeShapes).toEqual([{ count: 100, allocatable: { cpu: '16', memory: '65000099Ki' } }]);
});

test('nodes of more kinds than a WorkerCluster can list have no shapes', () => {
  const nodes = Array.from({ length: 40 }, (_, index) => node({ cpu: String(2 ** index) }));
  expect(capacityOf(nodes).nodeShapes).toBeUndefined();
  expect(capacityOf(nodes.slice(0, 16)).nodeShapes).toHaveLength(16);
});
