/**
 * Goal: a Job that did not start lets those pass that have waited meanwhile, unless the administrator has it keep its place, and says when
 * it is tried next.
 */
import { afterEach, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { EVENTS, JOBS } from '../../shared/api/resources.ts';
import { conditionOf, createAdmissionWorld, NAMESPACE, type AdmissionWorld } from './admission-world.ts';

let world: AdmissionWorld;
afterEach(() => world.close());

const SECOND = 1_000;
const told = async (name: string) => conditionOf(await world.getJob(name), 'QuotaReserved');
const cordon = (name: string) =>
  world.client.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { spec: { state: 'Cordoned' } } });

/** Room for one of two Jobs of different shapes, of which the first does not start on the cluster where it goes. */
async function firstDoesNotStart(requeuingTimestamp?: 'Eviction' | 'Creation'): Promise<void> {
  world = await createAdmissionWorld(requeuingTimestamp === undefined ? {} : { requeuingTimestamp });
  await world.flavor('default');
  await world.queue('main', { cpu: '1', spec: { startTimeout: '1m' } });
  for (const cluster of ['eu-1', 'us-2']) await world.cluster(cluster);
  await world.job('first');
  await world.settle(5 * SECOND);
  await world.job('second', { cpu: '900m' });
  await world.settle(56 * SECOND);
}

test.each([
  [undefined, 'second'],
  ['Eviction', 'second'],
  ['Creation', 'first'],
] as const)('by the timestamp %s, the Job that goes next is the %s', async (timestamp, next) => {
  await firstDoesNotStart(timestamp);
  expect(await world.running()).toEqual([]);
  await world.rest('first');
  await world.settle(3 * SECOND);
  expect(await world.running()).toEqual([next]);
});

test('it keeps its new place when the manager starts anew, and has its own age again once it was admitted', async () => {
  await firstDoesNotStart();
  await world.rest('first');
  await world.stop();
  await world.restart();
  await world.settle(3 * SECOND);
  expect(await world.running()).toEqual(['second']);
  await world.finish('second');
  await world.settle(3 * SECOND);
  expect(await world.running()).toEqual(['first']);
  expect(await world.record('first')).not.toHaveProperty('queuedSince');
});

test('it says why it was suspended, how often in a row that has happened and when the cluster is tried next', async () => {
  await firstDoesNotStart();
  await cordon('us-2');
  await world.settle(10 * SECOND);
  expect((await told('first'))?.message).toMatch(
    /^suspended after admission; quota is held until nothing runs any more; eu-1 did not start it \(NotStarted\), avoided until \S+Z$/,
  );
  const { items } = await world.client.list(EVENTS);
  expect(items).toContainEqual(expect.objectContaining({ reason: 'Evicted', message: 'it has not started on cluster eu-1 within 1m' }));
  await world.rest('first');
  await world.settle(10 * SECOND);
  await world.finish('second');
  await world.settle(110 * SECOND);
  await world.rest('first');
  await world.settle(15 * SECOND);
  expect((await told('first'))?.message).toMatch(
    /^eu-1: did not start it \(NotStarted, 2 times in a row\), avoided until \S+Z; us-2: cordoned$/,
  );
});

test('a queue that blocks admission admits the next Job once the pods of the one before are ready, or it has not started in time', async () => {
  world = await createAdmissionWorld();
  await world.flavor('default');
  await world.queue('main', { cpu: '9', spec: { startTimeout: '1m', blockAdmission: true } });
  await world.queue('other', { cpu: '9' });
  await world.cluster('eu-1');
  await world.job('first');
  await world.settle(2 * SECOND);
  await world.job('second', { cpu: '900m' });
  await world.job('third', { cpu: '800m' });
  await world.job('apart', { queue: 'other' });
  await world.settle(5 * SECOND);
  expect(await world.running()).toEqual(['apart', 'first']);
  expect(await told('second')).toMatchObject({
    status: 'False',
    reason: 'WaitingForPodsReady',
    message: expect.stringContaining('(blockAdmission)') as string,
  });
  await world.client.patchStatus(
    JOBS,
    { namespace: NAMESPACE, name: 'first' },
    { type: 'merge', body: { status: { active: 1, ready: 1 } } },
  );
  await world.settle(2 * SECOND);
  expect(await world.running()).toEqual(['apart', 'first', 'second']);
  await world.settle(30 * SECOND);
  expect(await world.running()).toEqual(['apart', 'first', 'second']);
  await world.settle(40 * SECOND);
  expect(await world.running()).toEqual(['apart', 'first', 'third']);
});
