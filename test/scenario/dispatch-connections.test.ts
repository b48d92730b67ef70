/** Goal: what the manager has heard late, or no longer hears, costs no running Job its copy. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { originLeaseName } from '../../shared/api/fence-leases.ts';
import { CLUSTERS_ANNOTATION } from '../../shared/api/names.ts';
import { EVENTS, JOBS, SECRETS } from '../../shared/api/resources.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { kubeconfigFor } from '../../shared/controlplane/server/kubeconfig-file.ts';
import { silentLogger, type Logger } from '../../shared/runtime/logger.ts';
import { conditionsOf, createDispatchWorld, NAMESPACE, type DispatchWorld } from './dispatch-world.ts';

const on = (cluster: string) => ({ annotations: { [CLUSTERS_ANNOTATION]: cluster } });

/** What the manager warned of. */
const logged: string[] = [];
const record = (message: string): void => void logged.push(message);
const log: Logger = { ...silentLogger, warn: record, error: record, with: () => log };

let world: DispatchWorld;
beforeEach(async () => {
  logged.length = 0;
  world = await createDispatchWorld({ workers: ['eu-1'], log });
});
afterEach(() => world.close());

test('a manager that starts on an API server which lags deletes no copy of a Job that it has not heard of', async () => {
  const { resourceVersion } = await world.home.list(JOBS);
  await world.submit('sum', on('eu-1'));
  await world.settle(50);
  const eu = world.worker('eu-1');
  await eu.start('sum');
  await world.settle(300);
  const { uid } = (await eu.copy('sum'))?.metadata ?? {};
  await world.stop();

  const beforeTheJob = JSON.stringify({ kind: 'JobList', apiVersion: 'batch/v1', metadata: { resourceVersion }, items: [] });
  world.homeLine.instead = ({ method, path }) =>
    method === 'GET' && /\/apis\/batch\/v1\/jobs\b/.test(path) ? { status: 200, headers: {}, body: beforeTheJob } : undefined;
  world.homeLine.hold();
  await world.start();
  await world.settle(30_000);
  expect((await eu.copy('sum'))?.metadata.uid).toBe(uid);

  world.homeLine.instead = undefined;
  world.homeLine.release();
  await eu.complete('sum');
  await world.settle(2_000);
  expect(conditionsOf(await world.job('sum'))).toContain('Complete=True CompletionsReached');
  expect(await eu.copy('sum')).toBeUndefined();
});

test('a Lease that a conflict takes away is read again, and Jobs that were recorded while that answer was on its way go once it is there', async () => {
  await world.settle(2_000);
  const { line } = world.worker('eu-1');
  const answered = Promise.withResolvers<void>();
  let refused = 0;
  line.instead = async ({ method, path }) => {
    if (!path.includes(`/leases/${originLeaseName('m1')}`)) return undefined;
    if (method === 'PUT' && refused++ === 0)
      return { status: 409, headers: {}, body: JSON.stringify({ kind: 'Status', code: 409, reason: 'Conflict' }) };
    if (method === 'GET') await answered.promise;
    return undefined;
  };
  await world.settle(11_000);
  expect(refused).toBe(1);
  await world.submit('sum', on('eu-1'));
  await world.settle(3_000);
  expect(await world.worker('eu-1').copy('sum')).toBeUndefined();
  answered.resolve();
  await world.settle(500);
  expect(await world.worker('eu-1').copy('sum')).toBeDefined();
});

test('a worker cluster whose kubeconfig comes to name another server is reached by the new one only', async () => {
  const { line } = world.worker('eu-1');
  await world.settle(1_000);
  const watches = line.watches;
  const kubeconfig = Buffer.from(kubeconfigFor({ url: 'https://moved.test' }, 'a-token')).toString('base64');
  await world.home.patch(SECRETS, { namespace: 'switchyard', name: 'eu-1' }, { type: 'merge', body: { data: { kubeconfig } } });
  const before = line.sent.length;
  await world.settle(60_000);
  expect(line.sent.slice(before).filter((call) => call === 'GET /apis/batch/v1/jobs')).not.toEqual([]);
  expect(line.watches).toBe(watches);
  await world.submit('sum', on('eu-1'));
  await world.settle(500);
  expect(await world.worker('eu-1').copy('sum')).toBeDefined();
});

test('a worker cluster that does not know the manager for a while gets the Job soon after, which says so meanwhile', async () => {
  const eu = world.worker('eu-1');
  const body = JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code: 401,
    reason: 'Unauthorized',
    message: 'Unauthorized',
  });
  eu.line.instead = ({ method }) => (method === 'POST' ? { status: 401, headers: {}, body } : undefined);
  await world.submit('sum', on('eu-1'));
  await world.settle(2_000);
  expect(conditionsOf(await world.job('sum'))).toContain('Dispatched=False NotAllowed');
  eu.line.instead = undefined;
  await world.settle(3_000);
  expect(await eu.copy('sum')).toBeDefined();
  expect(conditionsOf(await world.job('sum'))).toContain('Dispatched=True Dispatched');
});

test('a Job created anew under the name of one that a cluster refused is told of its refusal as the first was', async () => {
  const eu = world.worker('eu-1');
  const body = JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code: 422,
    reason: 'Invalid',
    message: 'no such image',
  });
  eu.line.instead = ({ method }) => (method === 'POST' ? { status: 422, headers: {}, body } : undefined);
  const told = async (): Promise<string[]> => {
    const { uid } = (await world.job('sum')).metadata;
    const { items } = await world.home.list(EVENTS, { namespace: NAMESPACE });
    return items
      .filter(({ reason, involvedObject }) => reason === 'DispatchFailed' && involvedObject.uid === uid)
      .map(({ message }) => message ?? '');
  };
  await world.submit('sum', on('eu-1'));
  await world.settle(1_000);
  expect(await told()).toEqual(['placement 1: cluster "eu-1" refused the Job: no such image']);
  await world.home.delete(JOBS, { namespace: NAMESPACE, name: 'sum' }, { propagationPolicy: 'Background' });
  // For a minute none of its shape goes there.
  await world.settle(70_000);
  await world.submit('sum', on('eu-1'));
  await world.settle(1_000);
  expect(await told()).toEqual(['placement 1: cluster "eu-1" refused the Job: no such image']);
});

test('a Job created anew at once under the name of one that a cluster refused is offered to that cluster', async () => {
  const eu = world.worker('eu-1');
  const body = JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 422, reason: 'Invalid', message: 'no' });
  eu.line.instead = ({ method }) => (method === 'POST' ? { status: 422, headers: {}, body } : undefined);
  await world.submit('sum', on('eu-1'));
  await world.settle(100);
  eu.line.instead = undefined;
  await world.home.delete(JOBS, { namespace: NAMESPACE, name: 'sum' }, { propagationPolicy: 'Background' });
  // The manager takes its finalizer off; no time passes.
  await world.settle();
  // Of another shape: one like it would not be sent there for a while.
  const containers = [{ name: 'main', image: 'another', resources: { requests: { cpu: '1' } } }];
  await world.submit('sum', { ...on('eu-1'), spec: { template: { spec: { restartPolicy: 'Never', containers } } } });
  await world.settle(1_000);
  expect((await eu.copy('sum'))?.metadata.annotations).toMatchObject({ 'switchyard.dev/dispatch-epoch': '1' });
});

test('a change of a copy that its cluster refuses in the same words each time is tried once in a while, and goes through once it is let', async () => {
  const eu = world.worker('eu-1');
  await world.submit('sum', on('eu-1'));
  await world.settle(1_000);
  const body = JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 422, reason: 'Invalid', message: 'no' });
  let refused = 0;
  eu.line.instead = ({ method, path }) => {
    if (method !== 'PATCH' || !path.includes('/jobs/sum')) return undefined;
    refused++;
    return { status: 422, headers: {}, body };
  };
  await world.home.patch(JOBS, { namespace: NAMESPACE, name: 'sum' }, { type: 'merge', body: { spec: { activeDeadlineSeconds: 900 } } });
  await world.settle(60_000);
  expect(refused).toBeGreaterThan(0);
  expect(refused).toBeLessThanOrEqual(10);
  eu.line.instead = undefined;
  await world.settle(60_000);
  expect((await eu.copy('sum'))?.spec.activeDeadlineSeconds).toBe(900);
});

test('a status that was written by somebody else meanwhile is no trouble: it is written on top of theirs', async () => {
  await world.submit('sum', on('eu-1'));
  await world.settle(1_000);
  const body = JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 409, reason: 'Conflict', message: 'modified' });
  let conflicts = 0;
  world.homeLine.instead = ({ method, path }) =>
    method === 'PATCH' && path.includes('/jobs/sum/status') && conflicts++ < 3 ? { status: 409, headers: {}, body } : undefined;
  logged.length = 0;
  await world.worker('eu-1').start('sum');
  await world.settle(5_000);
  expect(conflicts).toBeGreaterThan(3);
  expect(await world.job('sum')).toMatchObject({ status: { active: 1 } });
  expect(logged).toEqual([]);
});

test('a cluster of which only the Leases show that it was restored is connected to anew', async () => {
  const { line } = world.worker('eu-1');
  const restored = JSON.stringify({
    kind: 'LeaseList',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: { resourceVersion: '1' },
    items: [],
  });
  let told = false;
  line.instead = ({ path }) => {
    if (told || !/\/leases\?.*limit=1(&|$)/.test(path)) return undefined;
    told = true;
    return { status: 200, headers: {}, body: restored };
  };
  line.state = 'refused';
  await world.settle(150_000);
  line.state = 'up';
  await world.settle(60_000);
  const events = (await world.home.list(EVENTS, { namespace: 'default' })).items.filter(({ reason }) => reason === 'Restored');
  expect(events.map(({ message }) => message)).toEqual([expect.stringMatching(/^the resourceVersion of leases went back from \d+ to 1, /)]);
});

test('a cluster that says at every probe that it was restored is connected to anew once a minute, and takes no Job meanwhile', async () => {
  await world.addWorker('us-2');
  await world.settle(5_000);
  const { line } = world.worker('eu-1');
  line.sent.length = 0;
  const restored = JSON.stringify({ kind: 'JobList', apiVersion: 'batch/v1', metadata: { resourceVersion: '1' }, items: [] });
  line.instead = ({ path }) => (/\/jobs\?.*limit=1(&|$)/.test(path) ? { status: 200, headers: {}, body: restored } : undefined);
  await world.settle(15_000);
  const ready = async () =>
    (await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' })).status?.conditions?.find(({ type }) => type === 'Ready');
  expect(await ready()).toMatchObject({
    status: 'False',
    reason: 'Restored',
    message: expect.stringMatching(/went back from \d+ to 1, .*: it is listed anew$/),
  });
  await world.submit('sum');
  await world.settle(600_000);
  expect(await world.worker('us-2').copy('sum')).toBeDefined();
  const connections = line.sent.filter((call) => call === 'GET /api/v1/namespaces/kube-system').length;
  expect(connections).toBeGreaterThan(5);
  expect(connections).toBeLessThan(13);
  const events = (await world.home.list(EVENTS, { namespace: 'default' })).items.filter(({ reason }) => reason === 'Restored');
  expect(events.map(({ involvedObject }) => involvedObject.name)).toContain('eu-1');

  line.instead = undefined;
  await world.settle(70_000);
  expect(await ready()).toMatchObject({ status: 'True' });
});

test('a WorkerCluster that is deleted is let go of, and made anew it is reached anew', async () => {
  const { line } = world.worker('eu-1');
  const workerCluster = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' });
  await world.home.delete(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' }, { propagationPolicy: 'Background' });
  await world.settle(5_000);
  expect(line.watches).toBe(0);
  await world.home.create(WORKER_CLUSTERS, { metadata: { name: 'eu-1' }, spec: workerCluster.spec });
  await world.settle(5_000);
  await world.submit('sum', on('eu-1'));
  await world.settle(1_000);
  expect(await world.worker('eu-1').copy('sum')).toBeDefined();
});

test('a cluster that answers, but with which no watch can be kept, says that its Jobs are not heard, until they are', async () => {
  const { line } = world.worker('eu-1');
  const synced = async () => {
    const { status } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' });
    const condition = findCondition(status?.conditions, 'Synced');
    return `${condition?.status} ${condition?.reason}`;
  };
  await world.settle(200_000);
  expect(await synced()).toBe('True Synced');
  line.hold();
  await world.settle(200_000);
  expect(await synced()).toBe('False NotHeard');
  line.release();
  await world.settle(150_000);
  expect(await synced()).toBe('True Synced');
});
