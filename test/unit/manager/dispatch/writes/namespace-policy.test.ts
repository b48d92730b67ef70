import { expect, test } from 'vitest';
import { namespacePolicy, type NamespacePolicy } from '../../../../../manager/dispatch/writes/namespace-policy.ts';
import type { WorkerClusterSpec } from '../../../../../manager/api/worker-cluster.ts';

const team = {
  metadata: {
    namespace: '',
    name: 'team',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { 'pod-security.kubernetes.io/enforce': 'restricted', cost: '17' },
  },
};

test('a missing namespace is required, unless the WorkerCluster says that it is created', () => {
  expect(policyOf({})).toEqual({ kind: 'Require' });
  expect(policyOf({ namespaces: 'Require', namespaceLabels: ['cost'] })).toEqual({ kind: 'Require' });
  expect(policyOf({ namespaces: 'Create' }).kind).toBe('Create');
});

test('a created namespace is guarded as at home, and gets the labels that the WorkerCluster chooses', () => {
  expect(labelsOf('team', { namespaces: 'Create' })).toEqual({ 'pod-security.kubernetes.io/enforce': 'restricted' });
  expect(labelsOf('team', { namespaces: 'Create', namespaceLabels: ['cost'] })).toEqual({ cost: '17' });
});

test('no namespace is created while its labels at home are not known', () => {
  expect(() => labelsOf('other', { namespaces: 'Create' })).toThrow(
    'the labels of namespace other of the manager cluster are not known yet',
  );
});

const policyOf = (spec: WorkerClusterSpec): NamespacePolicy =>
  namespacePolicy(spec, { get: ({ name }) => (name === 'team' ? team : undefined) });

function labelsOf(name: string, spec: WorkerClusterSpec): Readonly<Record<string, string>> | undefined {
  const policy = policyOf(spec);
  return policy.kind === 'Create' ? policy.labelsOf(name) : undefined;
}
