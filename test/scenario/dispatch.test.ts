/** Goal: a Job admitted at home runs on its cluster and nowhere else, and its status comes home, whatever fails on the way. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { CLUSTERS_ANNOTATION } from '../../shared/api/names.ts';
import { EVENTS, JOBS, NAMESPACES } from '../../shared/api/resources.ts';
import { conditionsOf, createDispatchWorld, NAMESPACE, type DispatchWorld } from './dispatch-world.ts';

const key = (name: string) => ({ namespace: NAMESPACE, name });
const on = (cluster: string) => ({ annotations: { [CLUSTERS_ANNOTATION]: cluster } });

let world: DispatchWorld;
beforeEach(async () => {
  world = await createDispatchWorld();
});
afterEach(() => world.close());

describe('the life of a Job', () => {
  test('it is admitted, runs on its cluster, ends at home, and leaves no copy', async () => {
    await world.submit('sum', on('eu-1'));
    await world.settle(50);
    const eu = world.worker('eu-1');
    const copy = await eu.copy('sum');
    expect(copy).toMatchObject({
      metadata: { labels: { 'switchyard.dev/origin': 'm1' }, annotations: { 'switchyard.dev/dispatch-epoch': '1' } },
      spec: { suspend: false, managedBy: 'switchyard.dev/worker' },
    });
    expect(await world.worker('us-2').copy('sum')).toBeUndefined();
    await eu.start('sum');
    await world.settle(250);
    expect(await world.job('sum')).toMatchObject({ status: { active: 1 } });
    expect(conditionsOf(await world.job('sum'))).toEqual(['Dispatched=True Dispatched', 'QuotaReserved=True QuotaReserved']);
    await eu.complete('sum');
    await world.settle();
    expect(await world.job('sum')).toMatchObject({ status: { succeeded: 1 } });
    expect(conditionsOf(await world.job('sum'))).toContain('Complete=True CompletionsReached');
    await world.settle(50);
    expect(await eu.copy('sum')).toBeUndefined();
  });

  test('with one pod costs the manager six API calls, and the Events of its story', async () => {
    await world.submit('warm-up', on('eu-1')); // Its namespace is made on the worker cluster.
    await world.settle(300);
    const eu = world.worker('eu-1');
    world.homeLine.sent.length = 0;
    eu.line.sent.length = 0;
    await world.submit('sum', on('eu-1'));
    await world.settle(20);
    await eu.start('sum');
    await world.settle(1_000);
    await eu.report('sum', { ready: 1 });
    await world.settle(1_000);
    await eu.complete('sum');
    await world.settle(2_000);
    expect(await eu.copy('sum')).toBeUndefined();
    const calls = [...world.homeLine.sent, ...eu.line.sent].filter((call) => call.includes('/jobs'));
    expect(calls).toEqual([
      'PATCH /apis/batch/v1/namespaces/team/jobs/sum',
      'PATCH /apis/batch/v1/namespaces/team/jobs/sum/status',
      'PATCH /apis/batch/v1/namespaces/team/jobs/sum/status',
      'PATCH /apis/batch/v1/namespaces/team/jobs/sum/status',
      'POST /apis/batch/v1/namespaces/team/jobs',
      'DELETE /apis/batch/v1/namespaces/team/jobs/sum',
    ]);
    const { items: events } = await world.home.list(EVENTS, { namespace: NAMESPACE });
    const ofIt = events.filter(({ involvedObject }) => involvedObject.name === 'sum');
    expect(ofIt.map(({ source, reason }) => `${source?.component} ${reason}`).toSorted()).toEqual([
      'switchyard-story Admitted',
      'switchyard-story Dispatched',
      'switchyard-story Finished',
      'switchyard-story Started',
    ]);
  });

  test('deleted at home, it is deleted on its cluster, pods included', async () => {
    await world.submit('sum', on('eu-1'));
    await world.settle(300);
    await world.home.delete(JOBS, key('sum'), { propagationPolicy: 'Background' });
    await world.settle(50);
    expect(await world.worker('eu-1').copy('sum')).toBeUndefined();
  });

  test('suspended at home, it is suspended in place, and resumed in place', async () => {
    await world.submit('sum', on('eu-1'));
    await world.settle(50);
    const eu = world.worker('eu-1');
    await eu.start('sum');
    await world.settle(300);
    const { uid } = (await eu.copy('sum'))?.metadata ?? {};
    await world.home.patch(JOBS, key('sum'), { type: 'merge', body: { spec: { suspend: true } } });
    await world.settle(50);
    expect((await eu.copy('sum'))?.spec.suspend).toBe(true);
    await eu.report('sum', {
      active: 0,
      ready: 0,
      startTime: null as never,
      conditions: [{ type: 'Suspended', status: 'True', reason: 'JobSuspended', lastTransitionTime: '2026-01-01T00:00:10Z' }],
    });
    await world.settle(300);
    expect((await world.job('sum')).spec.suspend).toBe(true);
    await world.home.patch(JOBS, key('sum'), { type: 'merge', body: { metadata: { annotations: { 'switchyard.dev/hold': null } } } });
    await world.settle(300);
    const copy = await eu.copy('sum');
    expect(copy?.metadata.uid).toBe(uid);
    // Nothing runs any more, and nobody holds it: admission lets it in again, to where it was.
    const home = await world.job('sum');
    expect(home.spec.suspend).toBe(false);
    expect(home.status).not.toHaveProperty('active');
    expect(home.status).not.toHaveProperty('startTime');
    expect(copy?.spec.suspend).toBe(false);
    expect(eu.line.sent.filter((call) => call.startsWith('DELETE'))).toEqual([]);
  });
});

describe('a manager that is killed', () => {
  test('is continued by the next one from what the clusters say', async () => {
    await world.submit('running', on('eu-1'));
    await world.submit('ends-meanwhile', on('eu-1'));
    await world.submit('deleted-meanwhile', on('us-2'));
    await world.settle(300);
    const eu = world.worker('eu-1');
    await eu.start('running');
    await eu.start('ends-meanwhile');
    await world.settle(300);
    const { uid } = (await eu.copy('running'))?.metadata ?? {};
    await world.stop();
    await eu.complete('ends-meanwhile');
    await world.home.delete(JOBS, key('deleted-meanwhile'), { propagationPolicy: 'Background' });
    await world.start();
    await world.settle(2_000);
    expect((await eu.copy('running'))?.metadata.uid).toBe(uid);
    expect(conditionsOf(await world.job('ends-meanwhile'))).toContain('Complete=True CompletionsReached');
    expect(await eu.copy('ends-meanwhile')).toBeUndefined();
    expect(await world.worker('us-2').copy('deleted-meanwhile')).toBeUndefined();
  });
});

describe('a worker cluster', () => {
  test('on which the name is taken by somebody else is left alone, and the Job says so', async () => {
    const eu = world.worker('eu-1');
    await eu.client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
    const theirs = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] };
    await eu.client.create(JOBS, {
      metadata: { ...key('sum'), labels: { mine: 'yes' } },
      spec: { suspend: true, template: { spec: theirs } },
    });
    await world.submit('sum', on('eu-1'));
    await world.settle(1_000);
    expect(conditionsOf(await world.job('sum'))).toContain('Dispatched=False NameTaken');
    expect((await eu.copy('sum'))?.metadata.labels).toMatchObject({ mine: 'yes' });
    await eu.client.delete(JOBS, key('sum'), { propagationPolicy: 'Background' });
    await world.settle(62_000);
    expect((await eu.copy('sum'))?.metadata.labels).toMatchObject({ 'switchyard.dev/origin': 'm1' });
    expect(conditionsOf(await world.job('sum'))).toContain('Dispatched=True Dispatched');
  });

  test('that swallows every request costs the others nothing, and is reported lost', async () => {
    const eu = world.worker('eu-1');
    for (let index = 0; index < 20; index++) await world.submit(`held-${index}`, on('eu-1'));
    eu.line.state = 'swallowed';
    await world.settle(50);
    for (let index = 0; index < 20; index++) await world.submit(`free-${index}`, on('us-2'));
    await world.settle(50);
    const copies = await world.worker('us-2').client.list(JOBS);
    expect(copies.items.filter(({ metadata }) => metadata.name.startsWith('free-'))).toHaveLength(20);
    await world.settle(60_000);
    const cluster = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' });
    expect(cluster.status?.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual([
      'Reachable=False',
      'Synced=Unknown',
      'Able=False',
      'Ready=False',
      'WorkerAlive=Unknown',
    ]);
    expect(cluster.status?.lostSince).toBeDefined();
    eu.line.state = 'up';
    // What was asked of it while it was silent is given up after 130 s, its watch included.
    await world.settle(200_000);
    const again = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' });
    expect(again.status?.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual([
      'Reachable=True',
      'Synced=True',
      'Able=True',
      'Ready=True',
      'WorkerAlive=Unknown',
    ]);
    expect(again.status).not.toHaveProperty('lostSince');
    expect((await eu.client.list(JOBS)).items).toHaveLength(20);
  });

  test('whose copy is deleted by somebody gets a new one after a while', async () => {
    await world.submit('sum', on('eu-1'));
    await world.settle(50);
    const eu = world.worker('eu-1');
    await eu.start('sum');
    await world.settle(300);
    const first = await eu.copy('sum');
    await eu.client.delete(JOBS, key('sum'), { propagationPolicy: 'Background' });
    await world.settle(500);
    expect(conditionsOf(await world.job('sum'))).toContain('Dispatched=False CopyLost');
    expect((await world.job('sum')).status).not.toHaveProperty('active');
    await world.settle(45_000);
    const second = await eu.copy('sum');
    expect(second).toBeDefined();
    expect(second?.metadata.uid).not.toBe(first?.metadata.uid);
  });

  test('whose Secret cannot be used says so', async () => {
    await world.addWorker('bad', { kubeconfigSecretRef: { namespace: 'switchyard', name: 'missing' } });
    await world.settle(500);
    const cluster = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'bad' });
    expect(cluster.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'False', reason: 'KubeconfigMissing' }),
    );
  });
});

describe('the manager cluster as a worker', () => {
  test('runs the copy beside its original, under a name of its own', async () => {
    await world.home.create(WORKER_CLUSTERS, { metadata: { name: 'here' }, spec: { local: true, capacity: { cpu: '10' } } });
    await world.settle(3_000);
    await world.submit('sum', on('here'));
    await world.settle(500);
    const { uid } = (await world.job('sum')).metadata;
    const copy = await world.home.get(JOBS, key(`sum-${uid.slice(0, 8)}`));
    expect(copy).toMatchObject({
      spec: { managedBy: 'switchyard.dev/worker', suspend: false },
      metadata: { annotations: { 'switchyard.dev/origin-name': 'sum' } },
    });
    expect(conditionsOf(await world.job('sum'))).toContain('Dispatched=True Dispatched');
    await world.home.delete(JOBS, key('sum'), { propagationPolicy: 'Background' });
    await world.settle(500);
    expect((await world.home.list(JOBS)).items).toEqual([]);
  });
});
