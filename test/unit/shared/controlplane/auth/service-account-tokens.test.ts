import { afterEach, beforeEach, expect, test } from 'vitest';
import { JOBS, PODS, type Resource } from '../../../../../shared/api/resources.ts';
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
async function tokenOf(name: string, spec: object = {}): Promise<string> {
  const path = `/api/v1/namespaces/default/serviceaccounts/${name}/token`;
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
  const answer = await cluster.client.raw({ method: 'POST', path, body });
  return (JSON.parse(answer) as { status: { token: string } }).status.token;
}

type Reviewed = { authenticated?: boolean; audiences?: string[]; error?: string; user: { extra?: Record<string, string[]> } };
async function review(token: string, audiences?: string[]): Promise<Reviewed> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token, audiences } };
  const answer = await cluster.client.raw({ method: 'POST', path: '/apis/authentication.k8s.io/v1/tokenreviews', body });
  return (JSON.parse(answer) as { status: Reviewed }).status;
}

const createPod = async (name: string, more: object = {}): Promise<string> => {
  const spec = { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }], ...more };
  const pod = await cluster.client.create(PODS, { metadata: { namespace: 'default', name }, spec } as never);
  return pod.metadata.uid;
};
const boundTo = (kind: string, name: string, uid?: string) => ({ boundObjectRef: { apiVersion: 'v1', kind, name, uid } });
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

test('a token is good for its own audiences only, and a review says for which of those that were asked', async () => {
  const token = await tokenOf('robot', { audiences: ['vault', 'registry'] });
  expect(await review(token, ['registry', 'other', 'vault'])).toMatchObject({ authenticated: true, audiences: ['vault', 'registry'] });
  expect((await review(token, ['other'])).error).toBe(
    '[invalid bearer token, token audiences ["vault" "registry"] is invalid for the target audiences ["other"]]',
  );
  expect(await statusFor(token)).toBe(401);
  expect(await review(await tokenOf('robot'))).toMatchObject({ authenticated: true, audiences: ['https://kubernetes.default.svc'] });
});

test('a token that is bound to a pod names it, and dies with it at the latest ten seconds after', async () => {
  const uid = await createPod('p');
  const token = await tokenOf('robot', boundTo('Pod', 'p', uid));
  expect((await review(token)).user.extra).toMatchObject({
    'authentication.kubernetes.io/pod-name': ['p'],
    'authentication.kubernetes.io/pod-uid': [uid],
  });
  await cluster.client.delete(PODS, { namespace: 'default', name: 'p' }, { gracePeriodSeconds: 0 });
  // What was found good is remembered for ten seconds.
  expect((await review(token)).authenticated).toBe(true);
  await clock.advance(10_000);
  expect((await review(token)).error).toBe('[invalid bearer token, service account token has been invalidated]');
  await createPod('p');
  expect((await review(token)).error).toContain('does not match service account pod ref claim');
});

test('a token is bound to pods of its account, Secrets and Nodes that are there, and by their UID', async () => {
  await createPod('own');
  await createPod('foreign', { serviceAccountName: 'default' });
  await expect(tokenOf('robot', boundTo('Pod', 'none'))).rejects.toMatchObject({ code: 404, message: 'pods "none" not found' });
  await expect(tokenOf('robot', boundTo('Secret', 'none'))).rejects.toMatchObject({ code: 404 });
  await expect(tokenOf('robot', boundTo('Node', 'none'))).rejects.toMatchObject({ code: 404 });
  await expect(tokenOf('robot', boundTo('Pod', 'own', 'x'))).rejects.toMatchObject({ code: 409 });
  await expect(tokenOf('robot', boundTo('Pod', 'foreign'))).rejects.toMatchObject({ code: 400 });
  await expect(tokenOf('robot', boundTo('ConfigMap', 'x'))).rejects.toMatchObject({
    code: 400,
    message: 'cannot bind token to object of type /v1, Kind=ConfigMap',
  });
});

test('the token that a kubelet asks for outlives the time asked for', async () => {
  await createPod('p');
  const token = await tokenOf('robot', { expirationSeconds: 3607, ...boundTo('Pod', 'p') });
  await clock.advance(2 * 3_600_000);
  expect(await statusFor(token)).toBe(403);
});
