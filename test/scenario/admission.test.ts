/** Goal: from creation to release, Jobs take quota in order, one place each, and never more than there is. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { CLUSTERS_ANNOTATION, PRIORITY_ANNOTATION, SHORT_OF_ANNOTATION } from '../../shared/api/names.ts';
import type { KubeObject } from '../../shared/api/kubernetes.ts';
import { EVENTS, JOBS, type Resource } from '../../shared/api/resources.ts';
import { conditionOf, createAdmissionWorld, hasCondition, NAMESPACE, type AdmissionWorld } from './admission-world.ts';

let world: AdmissionWorld;
beforeEach(async () => {
  world = await createAdmissionWorld();
});
afterEach(() => world.close());

const conditionsOf = async (name: string) => (await world.getJob(name)).status?.conditions ?? [];
const patch = <T extends KubeObject>(resource: Resource<T>, name: string, body: object) =>
  world.client.patch(resource, { namespace: resource.namespaced ? NAMESPACE : '', name }, { type: 'merge', body });
const waits = async (name: string) => {
  const waiting = conditionOf(await world.getJob(name), 'QuotaReserved');
  return waiting === undefined ? undefined : { status: waiting.status, reason: waiting.reason, message: waiting.message };
};

describe('admission', () => {
  test('a Job that fits gets a record and is released in one write', async () => {
    await world.flavor('default');
    await world.queue('main');
    await world.cluster('eu-1');
    await world.job('one');
    await world.settle();
    const job = await world.getJob('one');
    expect(job.spec.suspend).toBe(false);
    expect(await world.record('one')).toEqual({
      clusterQueue: 'main',
      flavors: { cpu: 'default' },
      cluster: 'eu-1',
      epoch: 1,
      since: expect.any(String) as string,
      requests: { cpu: '1', pods: '1' },
    });
    await world.settle(5_000);
    expect((await world.getJob('one')).metadata.resourceVersion).toBe(job.metadata.resourceVersion);
  });

  test('Jobs are admitted as far as quota reaches, and the next ones when one finishes, fails or is deleted', async () => {
    await world.flavor('default');
    await world.queue('main', { cpu: '2' });
    await world.cluster('eu-1');
    for (const name of ['a', 'b', 'c', 'd', 'e']) await world.job(name);
    await world.settle();
    expect(await world.running()).toEqual(['a', 'b']);
    await world.finish('a');
    await world.settle();
    expect(await world.running()).toEqual(['b', 'c']);
    await world.remove('b', { gone: false });
    await world.settle();
    expect(await world.running()).toEqual(['b', 'c']);
    await world.client.patch(JOBS, { namespace: NAMESPACE, name: 'b' }, { type: 'merge', body: { metadata: { finalizers: null } } });
    await world.settle();
    expect(await world.running()).toEqual(['c', 'd']);
    await world.finish('c', 'Failed');
    await world.settle();
    expect(await world.running()).toEqual(['d', 'e']);
  });

  test('a higher priority goes first, then the older Job', async () => {
    await world.flavor('default');
    await world.queue('main', { cpu: '1' });
    for (const name of ['first', 'second']) await world.job(name, { annotations: { [PRIORITY_ANNOTATION]: '-10' } });
    await world.job('urgent');
    const order: string[] = [];
    await world.cluster('eu-1');
    for (let round = 0; round < 3; round++) {
      await world.settle(1_000);
      const [name] = await world.running();
      order.push(name ?? 'nobody');
      if (name !== undefined) await world.finish(name);
    }
    expect(order).toEqual(['urgent', 'first', 'second']);
  });

  test('a smaller Job passes one that does not fit, unless the queue is strict', async () => {
    await world.flavor('default');
    await world.queue('main', { cpu: '2' });
    await world.queue('strict', { cpu: '2', spec: { queueingStrategy: 'StrictFIFO' } });
    await world.cluster('eu-1');
    for (const queue of ['main', 'strict']) {
      await world.job(`${queue}-1`, { queue });
      await world.job(`${queue}-2`, { queue, cpu: '2' });
      await world.job(`${queue}-3`, { queue });
    }
    await world.settle(3_000);
    expect(await world.running()).toEqual(['main-1', 'main-3', 'strict-1']);
    expect((await waits('strict-3'))?.reason).toBe('BehindEarlierJob');
    await world.finish('strict-1');
    await world.settle();
    expect(await world.running()).toEqual(['main-1', 'main-3', 'strict-2']);
  });

  test('a ClusterQueue borrows what its cohort leaves idle', async () => {
    await world.flavor('default');
    await world.queue('main', { cpu: '1', spec: { cohortName: 'all' } });
    await world.queue('other', { cpu: '2', spec: { cohortName: 'all' } });
    await world.cluster('eu-1');
    for (const name of ['a', 'b', 'c', 'd']) await world.job(name);
    await world.settle();
    expect(await world.running()).toEqual(['a', 'b', 'c']);
    await world.job('own', { queue: 'other' });
    await world.settle();
    await world.finish('a');
    await world.settle();
    expect(await world.running()).toEqual(['b', 'c', 'own']);
  });
});

describe('why a Job waits', () => {
  test('is told once it has waited a second or two, beside Suspended, and is not written again while it stays the same', async () => {
    await world.flavor('default');
    await world.queue('main', { cpu: '1' });
    await world.cluster('eu-1');
    await world.job('a');
    await world.job('b');
    await world.settle(1_000);
    expect(await conditionsOf('b')).toEqual([]);
    await world.settle(3_000);
    expect(await waits('b')).toEqual({
      status: 'False',
      reason: 'InsufficientQuota',
      message: 'cluster queue main: flavor default is short of 1 cpu',
    });
    const told = await world.getJob('b');
    expect(hasCondition(told, 'Suspended')).toBe(true);
    await world.settle(60_000);
    expect((await world.getJob('b')).metadata.resourceVersion).toBe(told.metadata.resourceVersion);
  });

  test('is told with the resources that are missing, which are told no longer once it waits for something else, or does not wait', async () => {
    const shortOf = async (name: string) => (await world.getJob(name)).metadata.annotations?.[SHORT_OF_ANNOTATION];
    await world.flavor('default');
    await world.queue('main', { cpu: '1' });
    await world.cluster('eu-1');
    for (const name of ['a', 'b', 'c']) await world.job(name);
    await world.settle(5_000);
    expect(await Promise.all(['a', 'b', 'c'].map(shortOf))).toEqual([undefined, 'cpu', 'cpu']);
    await world.finish('a');
    await world.settle();
    expect(await world.running()).toEqual(['b']);
    expect(await shortOf('b')).toBeUndefined();
    await patch(LOCAL_QUEUES, 'main', { spec: { stopPolicy: 'Hold' } });
    await world.settle(5_000);
    expect(await waits('c')).toMatchObject({ reason: 'QueueStopped' });
    expect(await shortOf('c')).toBeUndefined();
  });

  test('is told anew to a Job whose missing resources an earlier version has not told, once', async () => {
    await world.flavor('default');
    await world.queue('main', { cpu: '1' });
    await world.cluster('eu-1');
    for (const name of ['a', 'b']) await world.job(name);
    await world.settle(5_000);
    await patch(JOBS, 'b', { metadata: { annotations: { [SHORT_OF_ANNOTATION]: null } } });
    await world.restart();
    await world.settle(10_000);
    const told = await world.getJob('b');
    expect(told.metadata.annotations?.[SHORT_OF_ANNOTATION]).toBe('cpu');
    await world.restart();
    await world.settle(60_000);
    expect((await world.getJob('b')).metadata.resourceVersion).toBe(told.metadata.resourceVersion);
  });

  test('has a reason of its own where no node of any cluster is large enough', async () => {
    await world.flavor('default');
    await world.queue('main', { cpu: '10' });
    await world.cluster('eu-1');
    const offers = (cpu: string) => ({ status: { nodeShapes: [{ count: 4, allocatable: { cpu, pods: '110' } }] } });
    const told = (cpu: string) =>
      world.client.patchStatus(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' }, { type: 'merge', body: offers(cpu) });
    await told('2');
    await world.job('a', { cpu: '4' });
    await world.settle(5_000);
    expect(await waits('a')).toEqual({
      status: 'False',
      reason: 'ExceedsNodes',
      message: 'eu-1: 0 of 1 pods fit on its nodes, even when these are empty',
    });
    await told('8');
    await world.settle();
    expect(await world.running()).toEqual(['a']);
  });

  test('is an Event too, one for each reason, because kubectl describe shows no conditions', async () => {
    await world.job('lost', { queue: 'nowhere' });
    await world.settle(30_000);
    const events = (await world.client.list(EVENTS, { namespace: NAMESPACE })).items;
    expect(events.map(({ reason, message, count, involvedObject }) => ({ reason, message, count, job: involvedObject.name }))).toEqual([
      { reason: 'Pending', message: 'local queue nowhere does not exist in namespace team', count: 1, job: 'lost' },
    ]);
  });

  test('names the LocalQueue, the ClusterQueue and the flavor that are missing, one after the other', async () => {
    await world.cluster('eu-1');
    await world.job('a');
    await world.settle(3_000);
    expect(await waits('a')).toMatchObject({ reason: 'LocalQueueNotFound', message: 'local queue main does not exist in namespace team' });
    await world.queue('main');
    await world.settle(3_000);
    expect(await waits('a')).toMatchObject({
      reason: 'ResourceFlavorNotFound',
      message: 'resource flavor default of cluster queue main does not exist',
    });
    await world.flavor('default');
    await world.settle();
    expect(await world.running()).toEqual(['a']);
  });

  test('gives a verdict for every cluster', async () => {
    await world.flavor('default', { clusterSelector: { matchLabels: { pool: 'x' } } });
    await world.queue('main', { cpu: '10' });
    await world.cluster('ap-1');
    await world.cluster('eu-1', { labels: { pool: 'x' }, capacity: { cpu: '2' } });
    await world.cluster('us-1', { labels: { pool: 'x' }, ready: false });
    await world.cluster('us-2', { labels: { pool: 'x' } });
    await world.job('a', { cpu: '4', annotations: { [CLUSTERS_ANNOTATION]: 'ap-1,eu-1,us-1' } });
    await world.settle(3_000);
    expect(await waits('a')).toEqual({
      status: 'False',
      reason: 'NoClusterFits',
      message: 'ap-1: offers no flavor that has quota; eu-1: short of 2 cpu; us-1: not ready (Unreachable); us-2: not selected by the Job',
    });
    await patch(WORKER_CLUSTERS, 'eu-1', { spec: { capacity: { cpu: '4' } } });
    await world.settle();
    expect((await world.record('a'))?.cluster).toBe('eu-1');
  });

  test('says that a Job asks for more than its queue can ever give', async () => {
    await world.flavor('default');
    await world.queue('main', { cpu: '2' });
    await world.cluster('eu-1');
    await world.job('a', { cpu: '3' });
    await world.settle(3_000);
    expect(await waits('a')).toMatchObject({
      reason: 'ExceedsQuota',
      message: 'cluster queue main: flavor default never has more than 2 of the 3 cpu asked for',
    });
  });
});

describe('stopping and moving', () => {
  const started = (name: string) =>
    world.client.patchStatus(
      JOBS,
      { namespace: NAMESPACE, name },
      { type: 'merge', body: { status: { active: 1, startTime: '2026-01-01T00:00:00Z' } } },
    );

  test('Hold keeps what runs and admits nothing new; HoldAndDrain suspends what runs', async () => {
    await world.flavor('default');
    await world.queue('main');
    await world.cluster('eu-1');
    await world.job('a');
    await world.settle();
    await patch(CLUSTER_QUEUES, 'main', { spec: { stopPolicy: 'Hold' } });
    await world.job('b');
    await world.settle(3_000);
    expect(await world.running()).toEqual(['a']);
    expect(await waits('b')).toMatchObject({ reason: 'QueueStopped', message: 'cluster queue main is stopped' });
    await patch(LOCAL_QUEUES, 'main', { spec: { stopPolicy: 'HoldAndDrain' } });
    await world.settle();
    expect(await world.running()).toEqual([]);
    await world.rest('a');
    await patch(LOCAL_QUEUES, 'main', { spec: { stopPolicy: 'None' } });
    await patch(CLUSTER_QUEUES, 'main', { spec: { stopPolicy: 'None' } });
    await world.settle(1_000);
    expect(await world.running()).toEqual(['a', 'b']);
  });

  test('a draining cluster gives its Jobs up, and they move on only when nothing of them runs there', async () => {
    await world.flavor('default');
    await world.queue('main', { cpu: '1' });
    await world.cluster('eu-1');
    await world.job('a');
    await world.settle();
    await started('a');
    await world.cluster('us-1');
    await patch(WORKER_CLUSTERS, 'eu-1', { spec: { state: 'Draining' } });
    await world.job('b');
    await world.settle(1_000);
    expect(await world.running()).toEqual([]);
    await world.rest('a');
    await world.settle(1_000);
    expect(await world.record('a')).toMatchObject({ cluster: 'us-1', epoch: 2 });
    expect(await world.running()).toEqual(['a']);
  });

  test('a Job that resumes where it was keeps its epoch', async () => {
    await world.flavor('default');
    await world.queue('main');
    await world.cluster('eu-1');
    await world.cluster('us-1');
    await world.job('a');
    await world.settle();
    const first = await world.record('a');
    await patch(JOBS, 'a', { metadata: { annotations: { 'switchyard.dev/hold': 'false' } }, spec: { suspend: true } });
    await world.settle(3_000);
    expect(await world.running()).toEqual([]);
    await world.rest('a');
    await world.settle(3_000);
    expect(await world.running()).toEqual(['a']);
    expect(await world.record('a')).toMatchObject({ cluster: first?.cluster, epoch: 1 });
  });
});

describe('a restart', () => {
  test('finds the quota that is in use in the records, and never admits a finished Job again', async () => {
    await world.flavor('default');
    await world.queue('main', { cpu: '2' });
    await world.cluster('eu-1');
    for (const name of ['a', 'b', 'c', 'd']) await world.job(name);
    await world.settle();
    await world.finish('a');
    await world.settle();
    expect(await world.running()).toEqual(['b', 'c']);
    await world.restart();
    await world.settle(1_000);
    expect(await world.running()).toEqual(['b', 'c']);
    await world.finish('b');
    await world.settle();
    expect(await world.running()).toEqual(['c', 'd']);
    expect(hasCondition(await world.getJob('a'), 'Complete')).toBe(true);
  });
});

describe('the status of queues', () => {
  test('counts what waits and what runs, and tells the usage', async () => {
    await world.flavor('default');
    await world.queue('main', { cpu: '2' });
    await world.cluster('eu-1');
    for (const name of ['a', 'b', 'c']) await world.job(name);
    await world.settle(3_000);
    const clusterQueue = await world.client.get(CLUSTER_QUEUES, { namespace: '', name: 'main' });
    expect(clusterQueue.status).toMatchObject({
      pendingWorkloads: 1,
      admittedWorkloads: 2,
      flavorsUsage: [{ name: 'default', resources: [{ name: 'cpu', total: '2' }] }],
      conditions: [{ type: 'Active', status: 'True', reason: 'Ready' }],
    });
    const localQueue = await world.client.get(LOCAL_QUEUES, { namespace: NAMESPACE, name: 'main' });
    expect(localQueue.status).toMatchObject({ pendingWorkloads: 1, admittedWorkloads: 2 });
    await world.settle(5_000);
    expect((await world.client.get(CLUSTER_QUEUES, { namespace: '', name: 'main' })).metadata.resourceVersion).toBe(
      clusterQueue.metadata.resourceVersion,
    );
  });
});
