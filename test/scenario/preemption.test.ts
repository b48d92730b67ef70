/**
 * Goal: a Job that goes before others gets their place, as soon as and not before they have stopped; everybody is told; nothing that
 * happens in between costs anybody else his place.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WORKLOAD_PRIORITY_CLASSES } from '../../manager/api/workload-priority-class.ts';
import type { CoreEvent, JobStatus } from '../../shared/api/kubernetes.ts';
import { PRIORITY_CLASS_LABEL } from '../../shared/api/names.ts';
import { EVENTS, JOBS } from '../../shared/api/resources.ts';
import type { KubeClient, Patch } from '../../shared/kube/client.ts';
import { conditionOf, createAdmissionWorld, NAMESPACE, type AdmissionWorld, type JobOptions } from './admission-world.ts';

const preemption = { withinClusterQueue: 'LowerPriority' };
let world: AdmissionWorld;
/** Writes that the API server does not get, by what they are about. */
let lost: (name: string, body: string) => boolean = () => false;

const wrap = (client: KubeClient): KubeClient =>
  new Proxy(client, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (name !== 'patch') return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      return (...parameters: [typeof JOBS, { namespace: string; name: string }, Patch]) => {
        const [resource, key, patch] = parameters;
        if (resource.plural === 'jobs' && lost(key.name, JSON.stringify(patch.body)))
          return Promise.reject(new Error('the connection broke'));
        return target.patch(...parameters);
      };
    },
  });

beforeEach(async () => {
  lost = () => false;
  world = await createAdmissionWorld({ wrap });
  for (const [name, value] of [
    ['high', 100],
    ['low', -100],
  ] as const)
    await world.client.create(WORKLOAD_PRIORITY_CLASSES, { metadata: { name }, value });
  await world.flavor('default');
});
afterEach(() => world.close());

const job = (name: string, priority: string | undefined, options: JobOptions = {}): Promise<void> =>
  world.job(name, { ...options, ...(priority === undefined ? {} : { labels: { [PRIORITY_CLASS_LABEL]: priority } }) });
const suspended = async (...names: string[]): Promise<string[]> => {
  const jobs = await Promise.all(names.map((name) => world.getJob(name)));
  return jobs.filter(({ spec }) => spec.suspend === true).map(({ metadata }) => metadata.name);
};
const eventsOf = async (name: string): Promise<CoreEvent[]> =>
  (await world.client.list(EVENTS, { namespace: NAMESPACE })).items.filter(({ involvedObject }) => involvedObject.name === name);
const conditionIn = async (name: string, type: string) => conditionOf(await world.getJob(name), type);

describe('in a queue with room for two', () => {
  beforeEach(async () => {
    await world.queue('main', { cpu: '2', spec: { preemption } });
    await world.cluster('eu-1', { capacity: { cpu: '8' } });
    for (const name of ['a', 'b']) await job(name, 'low');
    await world.settle(1_000);
    expect(await world.running()).toEqual(['a', 'b']);
  });

  test('one is suspended for a Job of higher priority, which runs when that has stopped; all are told', async () => {
    await job('urgent', 'high');
    await world.settle(3_000);
    const [victim = ''] = await suspended('a', 'b');
    expect(await suspended('a', 'b')).toHaveLength(1);
    const message = `preempted by Job ${NAMESPACE}/urgent of cluster queue main (InClusterQueue: it goes first in the same cluster queue)`;
    expect((await world.record(victim))?.preempted).toEqual({ by: `${NAMESPACE}/urgent`, clusterQueue: 'main', rule: 'InClusterQueue' });
    expect(await conditionIn(victim, 'Preempted')).toMatchObject({ status: 'True', reason: 'InClusterQueue', message });
    expect(await conditionIn(victim, 'QuotaReserved')).toMatchObject({ status: 'False', reason: 'Evicted' });
    expect((await eventsOf(victim)).map(({ reason, message: text }) => [reason, text])).toContainEqual(['Preempted', message]);
    expect(await conditionIn('urgent', 'QuotaReserved')).toMatchObject({
      status: 'False',
      reason: 'Preempting',
      message: 'it goes to cluster eu-1 once a Job that it preempts has stopped',
    });
    expect(await world.metric('switchyard_preempted_workloads_total', { preempting_cluster_queue: 'main', reason: 'InClusterQueue' })).toBe(
      1,
    );
    expect(await world.metric('switchyard_evicted_workloads_total', { reason: 'Preempted' })).toBe(1);
    await world.settle(600_000);
    expect(await world.running()).toHaveLength(1);

    await world.rest(victim);
    await world.settle(3_000);
    expect(await world.running()).toContain('urgent');
    expect(await conditionIn(victim, 'Preempted')).toMatchObject({ status: 'True' });
    await world.finish('urgent');
    await world.settle(3_000);
    expect(await world.running()).toEqual(['a', 'b']);
    expect((await world.record(victim))?.preempted).toBeUndefined();
  });

  test('nobody is suspended for a Job of equal priority', async () => {
    await job('equal', 'low');
    await world.settle(600_000);
    expect(await world.running()).toEqual(['a', 'b']);
  });

  test('a Job preempts although one like it, of lower priority, waits already', async () => {
    await job('equal', 'low');
    await world.settle(3_000);
    await job('urgent', 'high');
    await world.settle(3_000);
    expect(await suspended('a', 'b')).toHaveLength(1);
  });

  test('a Job whose priority class is raised while it waits preempts from then on', async () => {
    await job('late', 'low');
    await world.settle(3_000);
    await world.client.patch(
      JOBS,
      { namespace: NAMESPACE, name: 'late' },
      { type: 'merge', body: { metadata: { labels: { [PRIORITY_CLASS_LABEL]: 'high' } } } },
    );
    await world.settle(3_000);
    expect(await suspended('a', 'b')).toHaveLength(1);
  });

  test('when the manager dies between two evictions, the same two are suspended, and nobody else', async () => {
    await world.queue('other', { cpu: '2' });
    await job('bystander', 'low', { queue: 'other' });
    let evictions = 0;
    lost = (_, body) => body.includes('preempted') && ++evictions > 1;
    await job('urgent', 'high', { cpu: '2' });
    await world.settle(100);
    expect(await suspended('a', 'b')).toHaveLength(1);
    lost = () => false;
    await world.restart();
    await world.settle(3_000);
    expect(await suspended('a', 'b', 'bystander')).toEqual(['a', 'b']);
    for (const name of ['a', 'b']) await world.rest(name);
    await world.settle(3_000);
    expect(await world.running()).toEqual(['bystander', 'urgent']);
  });

  test('an eviction that the API server does not store is tried again', async () => {
    let refusals = 0;
    lost = (_, body) => body.includes('preempted') && refusals++ < 3;
    await job('urgent', 'high');
    await world.settle(60_000);
    expect(await suspended('a', 'b')).toHaveLength(1);
    expect(refusals).toBeGreaterThan(3);
  });

  test('where one of them ends by itself before it has stopped, no other is suspended', async () => {
    await job('urgent', 'high');
    await world.settle(1_000);
    const [victim = ''] = await suspended('a', 'b');
    await world.finish(victim);
    await world.settle(3_000);
    expect(await world.running()).toHaveLength(2);
    expect(await world.running()).toContain('urgent');
  });

  test('a Job that is deleted while they stop leaves its place to them', async () => {
    await job('urgent', 'high');
    await world.settle(1_000);
    const [victim = ''] = await suspended('a', 'b');
    await world.remove('urgent', { gone: false });
    await world.rest(victim);
    await world.settle(3_000);
    expect(await world.running()).toEqual(['a', 'b']);
  });

  test('a Job that is held while they stop does not get the place, and they go on', async () => {
    await job('urgent', 'high');
    await world.settle(1_000);
    const [victim = ''] = await suspended('a', 'b');
    await world.client.patch(
      JOBS,
      { namespace: NAMESPACE, name: 'urgent' },
      { type: 'merge', body: { metadata: { annotations: { 'switchyard.dev/hold': 'true' } } } },
    );
    await world.settle(1_000);
    await world.rest(victim);
    await world.settle(3_000);
    expect(await world.running()).toEqual(['a', 'b']);
  });
});

test('a queue gets its quota back from those who borrow it, newest first, and no more than it needs', async () => {
  await world.queue('owner', { cpu: '2', spec: { cohortName: 'all', preemption: { reclaimWithinCohort: 'Any' } } });
  await world.queue('borrower', { cpu: '1', spec: { cohortName: 'all' } });
  await world.cluster('eu-1', { capacity: { cpu: '8' } });
  for (const name of ['first', 'second', 'third']) {
    await job(name, 'high', { queue: 'borrower' });
    await world.settle(2_000);
  }
  await job('mine', 'low', { queue: 'owner' });
  await world.settle(3_000);
  expect(await suspended('first', 'second', 'third')).toEqual(['third']);
  expect((await world.record('third'))?.preempted).toMatchObject({ clusterQueue: 'owner', rule: 'InCohortReclamation' });
  await world.rest('third');
  await world.settle(3_000);
  expect(await world.running()).toEqual(['first', 'mine', 'second']);
  await world.settle(600_000);
  expect(await world.running()).toEqual(['first', 'mine', 'second']);
});

test('room is made on one cluster, though quota is free', async () => {
  await world.queue('main', { cpu: '20', spec: { preemption } });
  for (const name of ['eu-1', 'us-1']) await world.cluster(name, { capacity: { cpu: '2' } });
  for (const name of ['a', 'b', 'c', 'd']) await job(name, 'low');
  await world.settle(1_000);
  expect(await world.running()).toHaveLength(4);
  await job('urgent', 'high', { cpu: '2' });
  await world.settle(3_000);
  const victims = await suspended('a', 'b', 'c', 'd');
  const clusters = await Promise.all(victims.map(async (name) => (await world.record(name))?.cluster));
  expect([victims.length, new Set(clusters).size]).toEqual([2, 1]);
  for (const name of victims) await world.rest(name);
  await world.settle(3_000);
  expect((await world.record('urgent'))?.cluster).toBe(clusters[0]);
});

test('a status that a victim tells of itself is not needed to know who preempted it', async () => {
  await world.queue('main', { cpu: '1', spec: { preemption } });
  await world.cluster('eu-1');
  await job('a', 'low');
  await world.settle(1_000);
  await job('urgent', 'high');
  await world.settle(3_000);
  const status: JobStatus = { conditions: [] };
  await world.client.patchStatus(JOBS, { namespace: NAMESPACE, name: 'a' }, { type: 'merge', body: { status } });
  await world.restart();
  await world.settle(15_000);
  expect(await conditionIn('a', 'Preempted')).toMatchObject({ status: 'True', reason: 'InClusterQueue' });
});
