import { afterEach, beforeEach, expect, test } from 'vitest';
import { JOBS, type Resource } from '../../../../../shared/api/resources.ts';
import { startCluster, type EmbeddedCluster } from '../../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const SERVICE_ACCOUNTS: Resource = { group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true };
const rbac = (kind: string, plural: string): Resource => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural,
  kind,
  namespaced: false,
});

let clock: FakeClock;
let cluster: EmbeddedCluster;
let url: string;
beforeEach(async () => {
  clock = new FakeClock();
  cluster = await startCluster(clock, []);
  ({ url } = await cluster.plane.listen({ plain: true }));
  await cluster.client.create(SERVICE_ACCOUNTS, { metadata: { namespace: 'default', name: 'robot' } });
});
afterEach(() => cluster.plane.close());

/** What `kubectl create token robot` does. */
async function tokenOf(name: string): Promise<string> {
  const path = `/api/v1/namespaces/default/serviceaccounts/${name}/token`;
  const answer = await cluster.client.raw({
    method: 'POST',
    path,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  });
  return (JSON.parse(answer) as { status: { token: string } }).status.token;
}
const statusFor = async (token: string): Promise<number> =>
  (await fetch(`${url}/apis/batch/v1/namespaces/default/jobs`, { headers: { authorization: `Bearer ${token}` } })).status;

test('a token that was asked for authenticates its account, which may do what its roles allow', async () => {
  const token = await tokenOf('robot');
  expect(await statusFor(token)).toBe(403);
  await cluster.client.create(rbac('ClusterRole', 'clusterroles'), {
    metadata: { name: 'job-reader' },
    rules: [{ apiGroups: ['batch'], resources: ['jobs'], verbs: ['list'] }],
  } as never);
  await cluster.client.create(rbac('ClusterRoleBinding', 'clusterrolebindings'), {
    metadata: { name: 'robots' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'job-reader' },
    subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:serviceaccounts:default' }],
  } as never);
  expect(await statusFor(token)).toBe(200);
  expect((await cluster.client.list(JOBS)).items).toEqual([]);
});

test('a token is worth nothing once it has expired, or its account is gone or another one', async () => {
  const token = await tokenOf('robot');
  await cluster.client.delete(SERVICE_ACCOUNTS, { namespace: 'default', name: 'robot' });
  expect(await statusFor(token)).toBe(401);
  await cluster.client.create(SERVICE_ACCOUNTS, { metadata: { namespace: 'default', name: 'robot' } });
  expect(await statusFor(token)).toBe(401);
  const fresh = await tokenOf('robot');
  expect(await statusFor(fresh)).toBe(403);
  await clock.advance(3_600_000);
  expect(await statusFor(fresh)).toBe(401);
});

test('a token that was tampered with, or signed by somebody else, is refused', async () => {
  const [header = '', body = '', signature = ''] = (await tokenOf('robot')).split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as { sub: string };
  const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'system:serviceaccount:kube-system:admin' })).toString('base64url');
  for (const token of [
    `${header}.${forged}.${signature}`,
    `${header}.${body}.`,
    `${header}.${body}`,
    'a.b.c.d',
    `${header}.${body}.${signature}x.y`,
  ]) {
    expect(await statusFor(token)).toBe(401);
  }
});
