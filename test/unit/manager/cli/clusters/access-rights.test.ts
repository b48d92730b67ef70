import { describe, expect, test } from 'vitest';
import { accessObjects, askedRights, type AccessWish } from '../../../../../manager/cli/clusters/access-rights.ts';
import { workerKubeconfig } from '../../../../../manager/cli/clusters/worker-kubeconfig.ts';
import { readWorkerAccess } from '../../../../../manager/dispatch/token/worker-access.ts';
import { ofKind, renderChart } from '../../../../support/helm.ts';

const WISH: AccessWish = {
  namespace: 'switchyard',
  name: 'access',
  leaseNamespaces: ['switchyard-system'],
  servedNamespaces: [],
  createNamespaces: false,
  carryNamespaces: [],
  kinds: [],
  liveLogs: false,
};

describe('the rights of a manager on a worker cluster are those of the chart', () => {
  test.each<[string, Partial<AccessWish>, readonly string[]]>([
    ['as it comes', {}, []],
    ['with namespaces that it makes', { createNamespaces: true }, ['managerAccess.createNamespaces=true']],
    ['with two namespaces', { servedNamespaces: ['a', 'b'] }, ['managerAccess.namespaces={a,b}']],
    ['with logs of pods that run', { liveLogs: true }, ['managerAccess.liveLogs=true']],
    [
      'with such logs in one namespace',
      { liveLogs: true, servedNamespaces: ['a'] },
      ['managerAccess.liveLogs=true', 'managerAccess.namespaces={a}'],
    ],
    [
      'with kinds beside Job',
      { kinds: ['jobsets.jobset.x-k8s.io', 'rayjobs.ray.io'] },
      ['managerAccess.kinds={jobsets.jobset.x-k8s.io,rayjobs.ray.io}'],
    ],
    [
      'with a kind in one namespace',
      { kinds: ['rayjobs.ray.io'], servedNamespaces: ['a'] },
      ['managerAccess.kinds={rayjobs.ray.io}', 'managerAccess.namespaces={a}'],
    ],
    ['with other Leases', { leaseNamespaces: ['leases'] }, ['config.leaseNamespace=leases']],
    [
      'beside a worker of an earlier release',
      { leaseNamespaces: ['switchyard-system', 'kube-system'] },
      ['config.formerLeaseNamespace=kube-system'],
    ],
  ])('%s', { timeout: 60_000 }, (_name, wish, values) => {
    const rendered = renderChart('worker', ...values).filter(({ metadata }) => metadata.name.includes('manager-access'));
    const chart = [...ofKind(rendered, 'Role'), ...ofKind(rendered, 'ClusterRole')].map(({ kind, metadata, rules }) => ({
      kind,
      namespace: metadata.namespace,
      rules,
    }));
    // Its account has a name of the release.
    const name = 'test-switchyard-worker-manager-access';
    const ours = accessObjects({ ...WISH, ...wish, name })
      .filter(({ resource }) => resource.kind.endsWith('Role'))
      .map(({ object }) => ({ kind: object.kind, namespace: object.metadata.namespace, rules: (object as { rules?: unknown }).rules }));
    const sorted = (roles: readonly object[]): string[] => roles.map((role) => JSON.stringify(role, byName)).toSorted();
    expect(sorted(ours)).toEqual(sorted(chart));
  });
});

/** Fields in the order of their names. */
const byName = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;

test('each right is asked for by itself', () => {
  const asked = askedRights({ ...WISH, servedNamespaces: ['a'] });
  expect(asked).toContainEqual({ group: '', resource: 'namespaces', verb: 'get', namespace: '', name: 'kube-system' });
  expect(asked).toContainEqual({ group: 'batch', resource: 'jobs', subresource: 'status', verb: 'patch', namespace: 'a' });
  expect(asked).not.toContainEqual({ group: 'batch', resource: 'jobs', verb: 'get', namespace: '' });
});

test('a kubeconfig of ours has only what the Secret of a WorkerCluster may have', () => {
  const caPem = '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n';
  const text = workerKubeconfig({ server: 'https://east.test', caPem, tlsServerName: 'east', token: 'a.b.c' });
  expect(readWorkerAccess(text)).toEqual({
    endpoint: { server: 'https://east.test', caPem, tlsServerName: 'east' },
    credentials: { token: 'a.b.c' },
  });
  expect(
    readWorkerAccess(workerKubeconfig({ server: 'https://x', caPem: undefined, tlsServerName: undefined, token: 't' })).endpoint,
  ).toEqual({
    server: 'https://x',
  });
});
