/**
 * Goal: the manager works on the cluster that it means and on no other, once for each, and only while it may; otherwise the WorkerCluster
 * says why.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { originLeaseName } from '../../shared/api/fence-leases.ts';
import { CLUSTERS_ANNOTATION } from '../../shared/api/names.ts';
import { JOBS, NAMESPACES, SECRETS } from '../../shared/api/resources.ts';
import { kubeconfigFor } from '../../shared/controlplane/server/kubeconfig-file.ts';
import type { TransportResponse } from '../../shared/kube/transport.ts';
import { conditionsOf, createDispatchWorld, HOME, NAMESPACE, type DispatchWorld } from './dispatch-world.ts';

const LEASES_THERE = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const on = (cluster: string) => ({ annotations: { [CLUSTERS_ANNOTATION]: cluster } });

let world: DispatchWorld;
beforeEach(async () => {
  world = await createDispatchWorld({
    workers: ['eu-1', 'us-2'],
    // A kubeconfig leads to the cluster that its server names: https://eu-1.test.
    connectCluster: (_name, { server }, usual) => usual(new URL(server).hostname.replace(/\.test$/, '')),
  });
});
afterEach(() => world.close());

const kubeconfigTo = (cluster: string): string =>
  Buffer.from(kubeconfigFor({ url: `https://${cluster}.test` }, 'a-token')).toString('base64');
const point = async (secret: string, cluster: string): Promise<void> => {
  const body = { data: { kubeconfig: kubeconfigTo(cluster) } };
  await world.home.patch(SECRETS, { namespace: 'switchyard', name: secret }, { type: 'merge', body });
};
async function join(name: string, cluster: string): Promise<void> {
  await world.home.create(SECRETS, { metadata: { name, namespace: 'switchyard' }, data: { kubeconfig: kubeconfigTo(cluster) } });
  await createWorkerCluster(name);
}
const createWorkerCluster = (name: string): Promise<unknown> =>
  world.home.create(WORKER_CLUSTERS, {
    metadata: { name },
    spec: { kubeconfigSecretRef: { namespace: 'switchyard', name }, namespaces: 'Create', capacity: { cpu: '100' } },
  });
/** Somebody makes it go at once, whatever is there. */
async function leave(name: string): Promise<void> {
  await world.home.delete(WORKER_CLUSTERS, { namespace: '', name }, { propagationPolicy: 'Background' });
  await world.home.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { metadata: { finalizers: null } } });
}
const workerCluster = (name: string) => world.home.get(WORKER_CLUSTERS, { namespace: '', name });
const readiness = async (name: string): Promise<string> => {
  const ready = (await workerCluster(name)).status?.conditions?.find(({ type }) => type === 'Ready');
  return `${ready?.status} ${ready?.reason}: ${ready?.message}`;
};
const identityOf = async (name: string): Promise<string> => {
  const { metadata } = await world.worker(name).client.get(NAMESPACES, { namespace: '', name: 'kube-system' });
  return metadata.uid;
};
/** What the manager did on a cluster since then, but for asking who it is. */
const doneOn = (name: string): string[] => world.worker(name).line.sent.filter((call) => call !== 'GET /api/v1/namespaces/kube-system');
const refusing = (code: number, reason: string): TransportResponse => ({
  status: code,
  headers: {},
  body: JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: `${reason} by the test` }),
});
async function runningJob(name: string, cluster: string): Promise<string | undefined> {
  await world.submit(name, on(cluster));
  await world.settle(500);
  await world.worker(cluster).start(name);
  await world.settle(500);
  return (await world.worker(cluster).copy(name))?.metadata.uid;
}

test('a cluster that joins has its identity recorded, before anything else is done there', async () => {
  world.homeLine.instead = ({ method, path }) =>
    method === 'PATCH' && path.includes('/workerclusters/ap-3/status') ? refusing(500, 'InternalError') : undefined;
  await world.addWorker('ap-3');
  await world.settle(30_000);
  expect(world.worker('ap-3').line.sent).not.toEqual([]);
  expect(doneOn('ap-3')).toEqual([]);
  world.homeLine.instead = undefined;
  await world.settle(40_000);
  expect((await workerCluster('ap-3')).status?.clusterUID).toBe(await identityOf('ap-3'));
  expect(await readiness('ap-3')).toBe('True Connected: connected');
});

describe('a Secret that comes to lead to another cluster', () => {
  beforeEach(async () => {
    await leave('us-2');
    await world.settle(1_000);
  });

  test('makes its WorkerCluster unusable: nothing is done on the other, and what runs on the first goes on', async () => {
    const uid = await runningJob('sum', 'eu-1');
    world.worker('us-2').line.sent.length = 0;
    await point('eu-1', 'us-2');
    await world.settle(31_000);
    const both = `.*UID ${await identityOf('eu-1')},.*UID ${await identityOf('us-2')}; correct the Secret.*delete this WorkerCluster and create it again`;
    expect(await readiness('eu-1')).toMatch(new RegExp(`^False ClusterChanged: ${both}`));
    await world.submit('later', on('eu-1'));
    await world.settle(60_000);
    expect(doneOn('us-2')).toEqual([]);
    expect((await world.worker('eu-1').copy('sum'))?.metadata.uid).toBe(uid);

    await point('eu-1', 'eu-1');
    await world.settle(31_000);
    expect(await readiness('eu-1')).toBe('True Connected: connected');
    await world.worker('eu-1').complete('sum');
    await world.settle(1_000);
    expect(conditionsOf(await world.job('sum'))).toContain('Complete=True CompletionsReached');
    expect(await world.worker('eu-1').copy('later')).toBeDefined();
  });

  test('is noticed by a manager that starts only then', async () => {
    await world.stop();
    await point('eu-1', 'us-2');
    world.worker('us-2').line.sent.length = 0;
    await world.start();
    expect(await readiness('eu-1')).toMatch(/^False ClusterChanged/);
    expect(doneOn('us-2')).toEqual([]);
  });

  test('is what a WorkerCluster that is made anew means from then on', async () => {
    await point('eu-1', 'us-2');
    await world.settle(31_000);
    await leave('eu-1');
    await createWorkerCluster('eu-1');
    await world.settle(6_000);
    expect(await readiness('eu-1')).toBe('True Connected: connected');
    expect((await workerCluster('eu-1')).status?.clusterUID).toBe(await identityOf('us-2'));
  });
});

test('a cluster that is another one when it comes back under its address is not used, and nothing is deleted there', async () => {
  const uid = await runningJob('before', 'eu-1');
  const { line } = world.worker('eu-1');
  line.state = 'refused';
  await world.settle(15_000);
  const rebuilt = { status: 200, headers: {}, body: JSON.stringify({ metadata: { name: 'kube-system', uid: 'rebuilt' } }) };
  line.instead = ({ path }) => (path.endsWith('/namespaces/kube-system') ? rebuilt : undefined);
  line.state = 'up';
  await world.settle(15_000);
  expect(await readiness('eu-1')).toMatch(/^False ClusterChanged: .* UID rebuilt;/);
  line.sent.length = 0;
  await world.submit('sum', on('eu-1'));
  await world.home.delete(JOBS, { namespace: NAMESPACE, name: 'before' }, { propagationPolicy: 'Background' });
  await world.settle(70_000);
  expect(await world.worker('eu-1').copy('sum')).toBeUndefined();
  expect((await world.worker('eu-1').copy('before'))?.metadata.uid).toBe(uid);
  expect(line.sent.filter((call) => !call.startsWith('GET'))).toEqual([]);

  line.instead = undefined;
  await world.settle(10_000);
  expect(await world.worker('eu-1').copy('before')).toBeUndefined();
  await expect(world.job('before')).rejects.toThrow(/not found/);
});

test('of two WorkerClusters for one cluster the second is not used and names the first, until that is gone; no copy is deleted', async () => {
  const uid = await runningJob('sum', 'eu-1');
  const { line } = world.worker('eu-1');
  line.sent.length = 0;
  await join('again', 'eu-1');
  await world.settle(70_000);
  expect(await readiness('again')).toMatch(/^False DuplicateCluster: WorkerCluster "eu-1" has the same cluster/);
  expect((await workerCluster('again')).status?.clusterUID).toBeUndefined();
  expect(await readiness('eu-1')).toBe('True Connected: connected');
  expect((await world.worker('eu-1').copy('sum'))?.metadata.uid).toBe(uid);
  expect(line.sent.filter((call) => !call.startsWith('GET') && !call.includes('/leases/'))).toEqual([]);
  await world.worker('eu-1').complete('sum');
  await world.settle(1_000);
  expect(conditionsOf(await world.job('sum'))).toContain('Complete=True CompletionsReached');
  await leave('eu-1');
  await world.settle(10_000);
  expect(await readiness('again')).toBe('True Connected: connected');
});

test('the manager’s own cluster, joined through a kubeconfig, is not used, and no Job is told to delete itself', async () => {
  await join('own', HOME);
  await world.submit('sum', on('own'));
  await world.settle(60_000);
  expect(await readiness('own')).toMatch(/^False OwnCluster: .*set local: true/);
  expect((await world.home.list(JOBS)).items.map(({ metadata }) => metadata.name)).toEqual(['sum']);
  expect(conditionsOf(await world.job('sum'))).toContain('QuotaReserved=False NoClusterFits');
});

test('a cluster that may not be asked who it is is not used, and says which right is missing', async () => {
  const { line } = world.worker('eu-1');
  await world.stop();
  line.sent.length = 0;
  line.instead = ({ path }) => (path.endsWith('/namespaces/kube-system') ? refusing(403, 'Forbidden') : undefined);
  await world.start();
  await world.settle(30_000);
  expect(await readiness('eu-1')).toMatch(/^False IdentityUnknown: .*verb get on the namespace kube-system .*Forbidden by the test$/);
  expect(doneOn('eu-1')).toEqual([]);
  line.instead = undefined;
  await world.settle(6_000);
  expect(await readiness('eu-1')).toBe('True Connected: connected');
});

describe('a cluster that answers', () => {
  test.each([
    [
      'and does not let the manager list Jobs any more',
      refusing(403, 'Forbidden'),
      /^False Forbidden: the manager may not list its Jobs there/,
    ],
    ['and no longer knows the manager', refusing(401, 'Unauthorized'), /^False Unauthorized: it does not know the manager/],
  ])('%s is not ready from the next probe on, and ready when that is over', async (_what, refusal, said) => {
    const { line } = world.worker('eu-1');
    line.instead = ({ method, path }) => (method === 'GET' && path.includes('/jobs') ? refusal : undefined);
    await world.settle(10_500);
    expect(await readiness('eu-1')).toMatch(said);
    await world.submit('sum', on('eu-1,us-2'));
    await world.settle(1_000);
    expect(await world.worker('us-2').copy('sum')).toBeDefined();
    line.instead = undefined;
    await world.settle(6_000);
    expect(await readiness('eu-1')).toBe('True Connected: connected');
  });

  test('and whose storage does not is lost as one that is silent is', async () => {
    const { line } = world.worker('eu-1');
    line.instead = ({ method, path }) => (method === 'GET' && path.includes('/jobs') ? refusing(500, 'InternalError') : undefined);
    await world.settle(15_000);
    expect(await readiness('eu-1')).toBe('False ConnectionFailed: InternalError by the test');
    line.instead = undefined;
    await world.settle(3_000);
    expect(await readiness('eu-1')).toBe('True Connected: connected');
  });
});

test('a cluster that is well is asked for one copy and shown one renewal each ten seconds, and beside its watches nothing else', async () => {
  const { line } = world.worker('eu-1');
  line.sent.length = 0;
  await world.settle(100_000);
  const [asked, shown] = ['GET /apis/batch/v1/jobs?limit=1', `PUT ${LEASES_THERE}/${originLeaseName('m1')}`];
  expect(line.sent.filter((call) => call === asked)).toHaveLength(10);
  expect(line.sent.filter((call) => call === shown)).toHaveLength(10);
  const watched = ['GET /apis/batch/v1/jobs', 'GET /api/v1/nodes', `GET ${LEASES_THERE}`];
  expect(line.sent.filter((call) => ![asked, shown, ...watched].includes(call))).toEqual([]);
});
