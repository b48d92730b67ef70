/**
 * Goal: where a Job runs is what its record says, by what that cluster is; other clusters, out of reach or not, neither delay it nor run
 * it.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import type { Job } from '../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION, CLUSTERS_ANNOTATION, DISPATCH_EPOCH_ANNOTATION } from '../../shared/api/names.ts';
import { JOBS, NAMESPACES, NODES, SECRETS } from '../../shared/api/resources.ts';
import { kubeconfigFor } from '../../shared/controlplane/server/kubeconfig-file.ts';
import type { TransportResponse } from '../../shared/kube/transport.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { conditionsOf, createDispatchWorld, NAMESPACE, type DispatchWorld } from './dispatch-world.ts';

let world: DispatchWorld;
let clock: FakeClock;
beforeEach(async () => {
  clock = new FakeClock();
  world = await createDispatchWorld({
    clock,
    workers: ['eu-1', 'us-2'],
    // A kubeconfig leads to the cluster that its server names: https://eu-1.test.
    connectCluster: (_name, { server }, usual) => usual(new URL(server).hostname.replace(/\.test$/, '')),
  });
});
afterEach(() => world.close());

const on = (clusters: string) => ({ annotations: { [CLUSTERS_ANNOTATION]: clusters } });
async function join(name: string, cluster: string): Promise<void> {
  const kubeconfig = Buffer.from(kubeconfigFor({ url: `https://${cluster}.test` }, 'a-token')).toString('base64');
  const secret = `to-${name}`;
  await world.home.create(SECRETS, { metadata: { name: secret, namespace: 'switchyard' }, data: { kubeconfig } });
  await world.home.create(WORKER_CLUSTERS, {
    metadata: { name },
    spec: { kubeconfigSecretRef: { namespace: 'switchyard', name: secret }, namespaces: 'Create', capacity: { cpu: '100' } },
  });
}
/** Somebody makes it go at once, whatever is there. */
async function leave(name: string): Promise<void> {
  await world.home.delete(WORKER_CLUSTERS, { namespace: '', name }, { propagationPolicy: 'Background' });
  await world.home.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { metadata: { finalizers: null } } });
}
const setState = (name: string, state: string): Promise<unknown> =>
  world.home.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { spec: { state } } });
const recordOf = async (name: string): Promise<Record<string, unknown>> =>
  JSON.parse((await world.job(name)).metadata.annotations?.[ADMISSION_ANNOTATION] ?? '{}') as Record<string, unknown>;
const dispatchedMessage = async (name: string): Promise<string> =>
  (await world.job(name)).status?.conditions?.find(({ type }) => type === 'Dispatched')?.message ?? '';
const failing = (code: number): TransportResponse => ({
  status: code,
  headers: {},
  body: JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason: 'InternalError', message: 'by the test' }),
});
async function runningJob(name: string, cluster: string, wish: string): Promise<void> {
  await world.submit(name, on(wish));
  await world.settle(500);
  await world.worker(cluster).start(name);
  await world.settle(500);
}
async function runToTheEnd(cluster: string, name: string): Promise<void> {
  await world.worker(cluster).start(name);
  await world.worker(cluster).complete(name);
  await world.settle(1_000);
  expect(conditionsOf(await world.job(name))).toContain('Complete=True CompletionsReached');
}
/** Plays the Job controller: what is told to rest, rests. */
async function rest(cluster: string, name: string): Promise<void> {
  const time = new Date(world.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const suspended = { type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'suspended', lastTransitionTime: time };
  expect((await world.worker(cluster).copy(name))?.spec.suspend).toBe(true);
  await world.worker(cluster).report(name, { active: 0, terminating: 0, startTime: null as never, conditions: [suspended] });
  await world.settle(1_000);
}

describe('where a Job goes', () => {
  const merge = (spec: object) => ({ type: 'merge', body: { spec } }) as const;
  const setCluster = (name: string, spec: object) => world.home.patch(WORKER_CLUSTERS, { namespace: '', name }, merge(spec));
  const clustersOf = async (...names: readonly string[]): Promise<unknown[]> => {
    for (const name of names) await world.submit(name);
    await world.settle(500);
    return Promise.all(names.map(async (name) => (await recordOf(name))['cluster']));
  };
  beforeEach(async () => {
    for (const name of ['eu-1', 'us-2']) await setCluster(name, { capacity: { cpu: '100', pods: '3' } });
    await world.home.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, merge({ placement: null }));
    await world.settle(500);
  });

  test('one cluster is filled after the other, so that a large Job finds one that is empty', async () => {
    expect(await clustersOf('one', 'two', 'three', 'four')).toEqual(['eu-1', 'eu-1', 'eu-1', 'us-2']);
  });

  test('Jobs spread where their ClusterQueue says so', async () => {
    await world.home.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, merge({ placement: 'MostRoom' }));
    await world.settle(500);
    expect(await clustersOf('one', 'two', 'three', 'four')).toEqual(['eu-1', 'us-2', 'eu-1', 'us-2']);
  });

  test('the cluster with the greater preference is filled first, as soon as somebody says so', async () => {
    expect(await clustersOf('one')).toEqual(['eu-1']);
    await setCluster('us-2', { preference: 10 });
    await world.settle(500);
    expect(await clustersOf('two', 'three', 'four', 'five')).toEqual(['us-2', 'us-2', 'us-2', 'eu-1']);
  });

  test('its pods have to fit on nodes, and a node that joins lets a Job go that waits for one', async () => {
    const join = (cluster: string, name: string, cpu: string) =>
      world.worker(cluster).client.create(NODES, { metadata: { name }, spec: {}, status: { allocatable: { cpu, pods: '110' } } });
    for (const index of [1, 2, 3, 4]) await join('eu-1', `small-${index}`, '2');
    await join('us-2', 'large', '8');
    for (const name of ['eu-1', 'us-2']) await setCluster(name, { capacity: null });
    await world.settle(15_000);
    const wide = (clusters: string) => {
      const container = { name: 'main', image: 'busybox', resources: { requests: { cpu: '4' } } };
      const spec = { restartPolicy: 'Never' as const, containers: [container] };
      return { ...on(clusters), spec: { parallelism: 2, completions: 2, template: { spec } } };
    };
    await world.submit('wide', wide('eu-1,us-2'));
    await world.submit('waits', wide('eu-1'));
    await world.settle(500);
    expect((await recordOf('wide'))['cluster']).toBe('us-2');
    await world.settle(2_000);
    const { status } = await world.job('waits');
    expect(status?.conditions?.find(({ type }) => type === 'QuotaReserved')?.message).toContain(
      'eu-1: 0 of 2 pods fit on its nodes, even when these are empty',
    );
    await join('eu-1', 'large', '8');
    await world.settle(15_000);
    expect((await recordOf('waits'))['cluster']).toBe('eu-1');
  });

  test('what is no policy and no preference is refused, with what may be said', async () => {
    await expect(world.home.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, merge({ placement: 'Fullest' }))).rejects.toThrow(
      /spec\.placement: Unsupported value: "Fullest": supported values: "LeastRoom", "MostRoom"/,
    );
    await expect(setCluster('us-2', { preference: 1.5 })).rejects.toThrow(/spec\.preference/);
  });
});

test('a record says which cluster it was, and a cluster that joins again under another name goes on with its Jobs', async () => {
  await runningJob('sum', 'eu-1', 'eu-1,again');
  const { uid } = (await world.worker('eu-1').copy('sum'))?.metadata ?? {};
  const { clusterUID } = (await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' })).status ?? {};
  expect(await recordOf('sum')).toMatchObject({ cluster: 'eu-1', clusterUID, epoch: 1 });
  await leave('eu-1');
  await world.settle(1_000);
  expect(conditionsOf(await world.job('sum'))).toContain('Dispatched=False ClusterNotFound');
  await join('again', 'eu-1');
  await world.settle(5_000);
  expect(conditionsOf(await world.job('sum'))).toContain('Dispatched=True Dispatched');

  // What it holds is charged to a WorkerCluster that is gone, so it is admitted anew, and goes on where it is.
  await world.settle(30_000);
  await rest('eu-1', 'sum');
  await world.settle(2_000);
  expect(await recordOf('sum')).toMatchObject({ cluster: 'again', clusterUID, epoch: 1 });
  expect(await world.worker('eu-1').copy('sum')).toMatchObject({ metadata: { uid }, spec: { suspend: false } });
  await runToTheEnd('eu-1', 'sum');
});

test('a WorkerCluster that is another cluster by now gets nothing of a Job that is recorded for the first', async () => {
  await leave('us-2');
  await world.settle(1_000);
  await runningJob('sum', 'eu-1', 'eu-1,back');
  const { uid } = (await world.worker('eu-1').copy('sum'))?.metadata ?? {};
  await leave('eu-1');
  await world.settle(1_000);
  world.worker('us-2').line.sent.length = 0;
  await world.home.delete(SECRETS, { namespace: 'switchyard', name: 'eu-1' }, { propagationPolicy: 'Background' });
  await join('eu-1', 'us-2');
  await world.settle(60_000);
  expect(await world.worker('us-2').copy('sum')).toBeUndefined();
  expect(conditionsOf(await world.job('sum'))).toContain('Dispatched=False ClusterChanged');
  expect(await dispatchedMessage('sum')).toMatch(/^WorkerCluster "eu-1" leads to another cluster now .*join that cluster again/);
  expect(world.worker('us-2').line.sent.filter((call) => call.includes('/jobs') && !call.startsWith('GET'))).toEqual([]);
  // Its quota is held: what was sent there may run.
  expect(conditionsOf(await world.job('sum'))).not.toContain('Dispatched=False AtRest');
  expect((await world.worker('eu-1').copy('sum'))?.metadata.uid).toBe(uid);

  await join('back', 'eu-1');
  await world.settle(5_000);
  await rest('eu-1', 'sum');
  // What an earlier connection sent there may still be carried out.
  await world.settle(20_000);
  expect(await recordOf('sum')).toMatchObject({ cluster: 'back', epoch: 1 });
  await runToTheEnd('eu-1', 'sum');
});

test('a Job that has moved gets its copy although its former cluster does not answer a manager that has just started', async () => {
  await runningJob('sum', 'eu-1', 'eu-1,us-2');
  world.worker('us-2').line.instead = ({ method }) => (method === 'POST' ? failing(500) : undefined);
  await setState('eu-1', 'Draining');
  await world.settle(1_000);
  await rest('eu-1', 'sum');
  await world.settle(1_000);
  expect(await recordOf('sum')).toMatchObject({ cluster: 'us-2', epoch: 2 });
  await world.stop();
  world.worker('us-2').line.instead = undefined;
  world.worker('eu-1').line.state = 'swallowed';
  await world.start();
  await world.settle(2_000);
  expect(await world.worker('us-2').copy('sum')).toBeDefined();
  await runToTheEnd('us-2', 'sum');
  // What it left behind goes once it is seen.
  world.worker('eu-1').line.state = 'up';
  await world.settle(30_000);
  expect(await world.worker('eu-1').copy('sum')).toBeUndefined();
});

test('a deleted Job that has moved waits for its own cluster only', async () => {
  await runningJob('sum', 'eu-1', 'eu-1,us-2');
  await setState('eu-1', 'Draining');
  await world.settle(1_000);
  await rest('eu-1', 'sum');
  await world.settle(1_000);
  expect(await world.worker('us-2').copy('sum')).toBeDefined();
  expect(await world.worker('eu-1').copy('sum')).toBeUndefined();
  world.worker('eu-1').line.state = 'swallowed';
  await world.stop();
  await world.start();
  await world.home.delete(JOBS, { namespace: NAMESPACE, name: 'sum' }, { propagationPolicy: 'Background' });
  await world.settle(25_000);
  await expect(world.job('sum')).rejects.toThrow(/not found/);
});

test('a Job that lost its record while nobody looked is admitted again only when every cluster has shown that nothing of it runs', async () => {
  // Not even its status tells that it was dispatched.
  world.homeLine.instead = ({ method, path }) => (method === 'PATCH' && path.includes('/jobs/sum/status') ? failing(500) : undefined);
  await world.submit('sum', on('eu-1,us-2'));
  await world.settle(1_000);
  await world.stop();
  world.homeLine.instead = undefined;
  expect(await world.worker('eu-1').copy('sum')).toBeDefined();
  const body = { metadata: { annotations: { [ADMISSION_ANNOTATION]: null } } };
  await world.home.patch(JOBS, { namespace: NAMESPACE, name: 'sum' }, { type: 'merge', body });
  world.worker('eu-1').line.state = 'swallowed';
  await world.start();
  await world.settle(60_000);
  expect((await world.job('sum')).spec.suspend).toBe(true);
  expect(await world.worker('us-2').copy('sum')).toBeUndefined();
  expect(await dispatchedMessage('sum')).toMatch(
    /no admission record; what runs of it on cluster "eu-1" cannot be seen\. To give it up: kubectl patch job/,
  );

  world.worker('eu-1').line.state = 'up';
  await world.settle(30_000);
  await rest('eu-1', 'sum');
  await world.settle(2_000);
  expect((await world.job('sum')).spec.suspend).toBe(false);
  const copies = await Promise.all(['eu-1', 'us-2'].map((name) => world.worker(name).copy('sum')));
  expect(copies.filter((copy) => copy !== undefined)).toHaveLength(1);
});

test('a create that a manager sent before it was killed may still be carried out when the next one is refused: the Job does not move before that is over', async () => {
  const { line, client } = world.worker('eu-1');
  let sent: string | undefined;
  line.instead = (request) => {
    if (request.method !== 'POST' || !request.path.includes('/jobs')) return undefined;
    sent ??= String(request.body);
    return failing(500);
  };
  await world.submit('sum', on('eu-1,us-2'));
  await world.settle(1_000);
  expect(sent).toBeDefined();
  await world.stop();
  line.instead = ({ method, path }) => (method === 'POST' && path.includes('/jobs') ? failing(403) : undefined);
  await world.start();
  await world.settle(10_000);
  expect(conditionsOf(await world.job('sum'))).toContain('Dispatched=False Refused');
  expect(await recordOf('sum')).toMatchObject({ cluster: 'eu-1', epoch: 1 });

  await client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
  await client.create(JOBS, JSON.parse(sent ?? '') as Job);
  await world.settle(60_000);
  expect(await recordOf('sum')).toMatchObject({ cluster: 'eu-1', epoch: 1 });
  expect(await world.worker('us-2').copy('sum')).toBeUndefined();
  await runToTheEnd('eu-1', 'sum');
});

test('a Job that was admitted by a manager with a fast clock is not taken for one that was never sent, by the next manager with a right one', async () => {
  await world.submit('sum', on('eu-1,us-2'));
  await world.settle(1_000);
  expect(await world.worker('eu-1').copy('sum')).toBeDefined();
  await world.stop();
  clock.stepTimeOfDay(-600_000);
  world.worker('eu-1').line.state = 'swallowed';
  await world.start();
  await setState('eu-1', 'Draining');
  await world.settle(60_000);
  expect((await world.job('sum')).spec.suspend).toBe(true);
  expect(await recordOf('sum')).toMatchObject({ cluster: 'eu-1', epoch: 1 });
  expect(await world.worker('us-2').copy('sum')).toBeUndefined();
});

test('a Job that is refused by a manager that has just started moves when nothing that was sent before can be carried out any more', async () => {
  const { line } = world.worker('eu-1');
  line.instead = ({ method, path }) => (method === 'POST' && path.includes('/jobs') ? failing(500) : undefined);
  await world.submit('sum', on('eu-1,us-2'));
  await world.settle(1_000);
  await world.stop();
  line.instead = ({ method, path }) => (method === 'POST' && path.includes('/jobs') ? failing(403) : undefined);
  await world.start();
  await world.settle(40_000);
  expect(await recordOf('sum')).toMatchObject({ cluster: 'us-2', epoch: 2 });
  expect(await world.worker('us-2').copy('sum')).toBeDefined();
});

describe('a copy of a later placement than the record knows', () => {
  const makeLaterCopy = async (): Promise<void> => {
    const { metadata, spec } = (await world.worker('eu-1').copy('sum')) ?? {};
    const { labels, annotations } = metadata ?? {};
    await world.worker('us-2').client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
    await world.worker('us-2').client.create(JOBS, {
      metadata: {
        name: 'sum',
        namespace: NAMESPACE,
        ...omitUndefined({ labels }),
        annotations: { ...annotations, [DISPATCH_EPOCH_ANNOTATION]: '2' },
      },
      spec: {
        ...omitUndefined({ managedBy: spec?.managedBy }),
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } },
      },
    });
  };
  const reads = (): string[] => world.homeLine.sent.filter((call) => call === `GET /apis/batch/v1/namespaces/${NAMESPACE}/jobs/sum`);

  test('as after a restore of the manager’s cluster, is deleted after one look at the original', async () => {
    await runningJob('sum', 'eu-1', 'eu-1,us-2');
    const { uid } = (await world.worker('eu-1').copy('sum'))?.metadata ?? {};
    await makeLaterCopy();
    await world.settle(1_000);
    expect(await world.worker('us-2').copy('sum')).toBeUndefined();
    expect(reads()).toHaveLength(1);
    expect((await world.worker('eu-1').copy('sum'))?.metadata.uid).toBe(uid);
    await world.worker('eu-1').complete('sum');
    await world.settle(1_000);
    expect(conditionsOf(await world.job('sum'))).toContain('Complete=True CompletionsReached');
  });

  test('that a manager with a late cache finds is left alone, and followed after one look at the original', async () => {
    await runningJob('sum', 'eu-1', 'eu-1,us-2');
    const { items, resourceVersion } = await world.home.list(JOBS);
    const earlier = JSON.stringify({ apiVersion: 'batch/v1', kind: 'JobList', metadata: { resourceVersion }, items });
    await setState('eu-1', 'Draining');
    await world.settle(1_000);
    await rest('eu-1', 'sum');
    await world.settle(1_000);
    const { uid } = (await world.worker('us-2').copy('sum'))?.metadata ?? {};
    expect(uid).toBeDefined();
    await world.stop();
    world.homeLine.instead = ({ method, path }) =>
      method === 'GET' && path.startsWith('/apis/batch/v1/jobs') && !path.includes('limit=1&')
        ? { status: 200, headers: {}, body: earlier }
        : undefined;
    world.homeLine.hold();
    world.homeLine.sent.length = 0;
    await world.start();
    await world.settle(5_000);
    expect(await world.worker('eu-1').copy('sum')).toBeUndefined();
    expect((await world.worker('us-2').copy('sum'))?.metadata.uid).toBe(uid);
    expect(reads()).toHaveLength(1);
    world.homeLine.instead = undefined;
    world.homeLine.release();
    await world.settle(1_000);
    await runToTheEnd('us-2', 'sum');
  });
});

test('a deleted Job that somebody else’s finalizer keeps holds nothing once its copy is gone, and does not go on saying that it runs', async () => {
  await runningJob('sum', 'eu-1', 'eu-1');
  const { finalizers = [] } = (await world.job('sum')).metadata;
  const key = { namespace: NAMESPACE, name: 'sum' };
  await world.home.patch(JOBS, key, { type: 'merge', body: { metadata: { finalizers: [...finalizers, 'example.com/own'] } } });
  await world.home.delete(JOBS, key, { propagationPolicy: 'Background' });
  await world.settle(25_000);
  const left = await world.job('sum');
  expect(left.metadata.finalizers).toEqual(['example.com/own']);
  expect(left.status?.active ?? 0).toBe(0);
  expect(conditionsOf(left)).toContain('Dispatched=False AtRest');
  const queue = await world.home.get(CLUSTER_QUEUES, { namespace: '', name: 'main' });
  expect(queue.status).toMatchObject({ admittedWorkloads: 0 });
});
