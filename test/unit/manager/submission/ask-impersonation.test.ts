import { afterEach, beforeEach, expect, test } from 'vitest';
import { askImpersonation } from '../../../../manager/submission/ask-impersonation.ts';
import type { Resource } from '../../../../shared/api/resources.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { createKubeClient, type ActingAs } from '../../../../shared/kube/kube-client.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { startCluster, type EmbeddedCluster } from '../../../support/embedded-cluster.ts';
import { testTenant } from '../../../support/submission-source.ts';

const MANAGER = { name: 'system:serviceaccount:switchyard:switchyard-manager', groups: ['system:authenticated'] };
const TENANT = testTenant({ label: 'team/batch', as: { namespace: 'team', name: 'submitter' } });
const rbac = (kind: string): Resource => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: `${kind.toLowerCase()}s`,
  kind,
  namespaced: false,
});
const { signal } = new AbortController();
let cluster: EmbeddedCluster;

beforeEach(async () => void (cluster = await startCluster(new FakeClock())));
afterEach(() => cluster.plane.close());

const connect = (actAs: ActingAs): KubeClient =>
  createKubeClient(cluster.plane.transport(MANAGER), { userAgent: 'test', clock: new FakeClock(), actAs });

async function allow(...rules: readonly object[]): Promise<void> {
  const metadata = { name: 'impersonation' };
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name };
  const subjects = [{ apiGroup: roleRef.apiGroup, kind: 'User', name: MANAGER.name }];
  await cluster.client.create(rbac('ClusterRole'), { metadata, rules } as never);
  await cluster.client.create(rbac('ClusterRoleBinding'), { metadata, roleRef, subjects } as never);
}
const ACCOUNTS = { apiGroups: [''], resources: ['serviceaccounts'], resourceNames: ['submitter'], verbs: ['impersonate'] };
const EXTRAS = { apiGroups: ['authentication.k8s.io'], resources: ['userextras/submission-queue.switchyard.dev'], verbs: ['impersonate'] };

test('a manager without the right is told of which, and how to get it', async () => {
  expect(await askImpersonation(TENANT, connect, signal)).toMatch(
    /cannot impersonate resource "serviceaccounts" .*in the namespace "team"; let the manager impersonate .*submissions\.impersonate/,
  );
});

test('neither does half of the right do', async () => {
  await allow(ACCOUNTS);
  expect(await askImpersonation(TENANT, connect, signal)).toMatch(/"userextras\/submission-queue\.switchyard\.dev"/);
});

test('with the rules of the chart it may, also as an account that has no rights of its own', async () => {
  await allow(ACCOUNTS, EXTRAS);
  expect(await askImpersonation(TENANT, connect, signal)).toBeUndefined();
});

test('a tenant without an account asks nothing', async () => {
  expect(await askImpersonation(testTenant(), () => expect.unreachable(), signal)).toBeUndefined();
});
