import { expect, test } from 'vitest';
import type { WorkerCluster } from '../../../../../manager/api/worker-cluster.ts';
import { createClusterIdentityRegister } from '../../../../../manager/dispatch/connection/cluster-identity-register.ts';

const aCluster = (name: string, clusterUID?: string): WorkerCluster =>
  ({
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {},
    ...(clusterUID === undefined ? {} : { status: { clusterUID } }),
  }) as WorkerCluster;

/** A register of WorkerClusters that may change. */
function aRegister(...clusters: WorkerCluster[]) {
  const get = (name: string): WorkerCluster | undefined => clusters.find(({ metadata }) => metadata.name === name);
  return { clusters, register: createClusterIdentityRegister({ get, list: () => clusters }) };
}

test('a cluster has the identity that its WorkerCluster records until another one is used', () => {
  const { register } = aRegister(aCluster('eu-1', 'a'));
  expect([register.uidOf('eu-1'), register.nameOf('a')]).toEqual(['a', 'eu-1']);
  register.set('eu-1', { read: 'b', used: 'b' });
  expect([register.uidOf('eu-1'), register.nameOf('a'), register.nameOf('b')]).toEqual(['b', undefined, 'eu-1']);
  register.set('eu-1', undefined);
  expect(register.nameOf('a')).toBe('eu-1');
});

test('an identity that was read and is not used names no cluster', () => {
  const { register } = aRegister(aCluster('eu-1'));
  register.set('eu-1', { read: 'a', used: undefined });
  expect([register.uidOf('eu-1'), register.nameOf('a')]).toEqual([undefined, undefined]);
  expect(register.known()).toEqual([{ name: 'eu-1', createdAt: '2026-01-01T00:00:00Z', local: false, recorded: undefined, read: 'a' }]);
});

test('names follow the WorkerClusters', () => {
  const { clusters, register } = aRegister(aCluster('eu-1', 'a'));
  expect(register.nameOf('a')).toBe('eu-1');
  clusters.splice(0, 1, aCluster('us-2', 'a'));
  register.workerClustersChanged();
  expect(register.nameOf('a')).toBe('us-2');
});
