/**
 * Goal: docs/joining.md, "Who runs the copies": each way of running copies on a worker cluster runs Jobs, also over a fence that trips, and
 * a cluster where nobody would run them says so.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WORKER_CLUSTERS, type WorkerCluster } from '../../manager/api/worker-cluster.ts';
import { BUILT_IN_JOB_CONTROLLER_NAME } from '../../shared/api/names.ts';
import { LEASES } from '../../shared/api/resources.ts';
import { findCondition, hasTrueCondition } from '../../shared/kube/conditions.ts';
import { originLeaseName, readOriginLease, workerLeaseName } from '../../shared/api/fence-leases.ts';
import { createWholeWorld, type ProgramOptions, type RunningProgram, type WholeWorld } from './whole-world.ts';

const LIMIT_MS = 60_000;
const FENCE_MS = 60_000;
const IN_PLACE: ProgramOptions = { controllerName: BUILT_IN_JOB_CONTROLLER_NAME, fenceAfterMs: FENCE_MS };
/** The Job controller of kube-controller-manager: it runs Jobs without managedBy, and keeps no Lease of ours. */
const BUILT_IN: ProgramOptions = { controllerName: BUILT_IN_JOB_CONTROLLER_NAME };

let world: WholeWorld;
beforeEach(async () => {
  world = await createWholeWorld({ clusters: ['east'] });
});
afterEach(() => world.close());

const joinedWith = (spec: object): Promise<WorkerCluster> =>
  world.home.patch(WORKER_CLUSTERS, { namespace: '', name: 'east' }, { type: 'merge', body: { spec } });
const inItsPlace = { jobController: BUILT_IN_JOB_CONTROLLER_NAME };
const conditionOfEast = async (type: string) =>
  findCondition((await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'east' })).status?.conditions, type);
const isComplete = async (name: string): Promise<boolean> => hasTrueCondition((await world.job(name)).status?.conditions, 'Complete');
const dispatchedOf = async (name: string): Promise<string | undefined> =>
  findCondition((await world.job(name)).status?.conditions, 'Dispatched')?.message;

describe('a Job runs to its end, and so does one after the time of a fence', () => {
  const ways: readonly (readonly [string, object, readonly ProgramOptions[]])[] = [
    ['a worker beside the built-in Job controller', {}, [BUILT_IN, { fenceAfterMs: FENCE_MS }]],
    ['a worker in place of the built-in Job controller', inItsPlace, [IN_PLACE]],
    ['a worker in its place, without a fence', inItsPlace, [{ ...IN_PLACE, fenceAfterMs: 0 }]],
    ['the built-in Job controller alone', inItsPlace, [BUILT_IN]],
    ['the built-in Job controller, and a worker for Jobs of others', inItsPlace, [BUILT_IN, { fenceAfterMs: FENCE_MS }]],
  ];
  test.each(ways)('%s', { timeout: LIMIT_MS }, async (_way, spec, programs) => {
    await joinedWith(spec);
    for (const [index, options] of programs.entries()) world.startWorker('east', `program-${index}`, options);
    world.startManager('manager');
    await world.clock.advance(5_000);
    await world.submit('first');
    await world.clock.advance(20_000);
    expect(await isComplete('first')).toBe(true);
    await world.submit('long', { seconds: 2 * (FENCE_MS / 1000) });
    await world.clock.advance(2 * FENCE_MS);
    await world.submit('late');
    await world.clock.advance(30_000);
    expect([await isComplete('long'), await isComplete('late')]).toEqual([true, true]);
    expect(await conditionOfEast('Ready')).toMatchObject({ status: 'True' });
  });
});

describe('a worker in place of the built-in Job controller', () => {
  let worker: RunningProgram;
  beforeEach(async () => {
    await joinedWith(inItsPlace);
    worker = world.startWorker('east', 'stand-in', IN_PLACE);
  });

  test('is answered what it asks, and its cluster tells of it and of its fence', async () => {
    world.startManager('manager');
    await world.clock.advance(15_000);
    const [lease] = (await world.client('east').list(LEASES, { namespace: 'kube-system' })).items.flatMap(
      (each) => readOriginLease(each) ?? [],
    );
    const asks = await world.client('east').get(LEASES, { namespace: 'kube-system', name: workerLeaseName(BUILT_IN_JOB_CONTROLLER_NAME) });
    expect(lease?.reconciled).toBe(asks.metadata.annotations?.['switchyard.dev/fence-token']);
    expect(originLeaseName(lease?.origin ?? '')).toMatch(/^switchyard-origin-/);
    expect(await conditionOfEast('WorkerAlive')).toMatchObject({ status: 'True', reason: 'Renewing' });
    const { status } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'east' });
    expect(status?.worker).toMatchObject({ controllerName: BUILT_IN_JOB_CONTROLLER_NAME, fenceAfterSeconds: FENCE_MS / 1000 });
    await world.submit('fenced', { seconds: 300 });
    await world.clock.advance(5_000);
    expect(await dispatchedOf('fenced')).toBe('dispatched to cluster "east" (placement 1)');
  });

  test('stops its copies when the manager is out of reach, and runs them again when it is back', { timeout: LIMIT_MS }, async () => {
    const manager = world.startManager('manager');
    await world.clock.advance(15_000);
    await world.submit('long', { seconds: 120 });
    await world.clock.advance(10_000);
    manager.kill();
    await world.clock.advance(FENCE_MS + 40_000);
    expect(await world.podsOn('east')).toEqual([]);
    world.startManager('another');
    await world.clock.advance(200_000);
    expect(await isComplete('long')).toBe(true);
  });

  test('that is silent is not taken for the built-in Job controller: its cluster takes no Jobs, and says which Lease is in the way', async () => {
    world.startManager('manager');
    await world.clock.advance(15_000);
    worker.kill();
    await world.clock.advance(60_000);
    expect(await conditionOfEast('Ready')).toMatchObject({
      status: 'False',
      reason: 'WorkerNotAlive',
      message: expect.stringContaining(`delete Lease kube-system/${workerLeaseName(BUILT_IN_JOB_CONTROLLER_NAME)}`),
    });
    await world.client('east').delete(LEASES, { namespace: 'kube-system', name: workerLeaseName(BUILT_IN_JOB_CONTROLLER_NAME) });
    world.startWorker('east', 'kube-controller-manager', BUILT_IN);
    await world.submit('sum');
    await world.clock.advance(30_000);
    expect(await isComplete('sum')).toBe(true);
    expect(await conditionOfEast('WorkerAlive')).toMatchObject({ status: 'Unknown', reason: 'BuiltInController' });
  });
});

describe('a cluster that has joined as one whose worker runs the copies, though its worker runs other Jobs', () => {
  test('is not Ready, says why to whoever waits for it, and takes the Job once both agree', { timeout: LIMIT_MS }, async () => {
    world.startWorker('east', 'stand-in', IN_PLACE);
    world.startManager('manager');
    await world.clock.advance(15_000);
    await world.submit('sum');
    await world.clock.advance(5_000);
    const message =
      'worker "stand-in" runs the Jobs of kubernetes.io/job-controller, and no copy, whose jobController is switchyard.dev/worker: make spec.jobController and its --controller-name the same';
    expect(await conditionOfEast('WorkerAlive')).toMatchObject({ status: 'False', reason: 'OtherController', message });
    expect(await conditionOfEast('Ready')).toMatchObject({ status: 'False', reason: 'WorkerNotAlive', message });
    expect(await world.jobsOn('east')).toEqual([]);
    const waits = findCondition((await world.job('sum')).status?.conditions, 'QuotaReserved')?.message;
    expect(waits).toContain('runs the Jobs of kubernetes.io/job-controller');
    await joinedWith(inItsPlace);
    await world.clock.advance(60_000);
    expect(await isComplete('sum')).toBe(true);
  });

  test('has the copies that nobody has begun to run made anew for the one that does', { timeout: LIMIT_MS }, async () => {
    world.startManager('manager');
    await world.clock.advance(10_000);
    await world.submit('sum');
    await world.clock.advance(5_000);
    expect((await world.jobsOn('east')).map(({ spec }) => spec.managedBy)).toEqual(['switchyard.dev/worker']);
    world.startWorker('east', 'stand-in', IN_PLACE);
    await world.clock.advance(15_000);
    await joinedWith(inItsPlace);
    await world.clock.advance(60_000);
    expect(await isComplete('sum')).toBe(true);
  });

  test('is as before once a Lease has expired that a worker left behind there', async () => {
    const worker = world.startWorker('east', 'stand-in', IN_PLACE);
    await world.clock.advance(15_000);
    worker.kill();
    world.startManager('manager');
    await world.clock.advance(60_000);
    expect(await conditionOfEast('Ready')).toMatchObject({ status: 'False', reason: 'WorkerNotAlive' });
    expect(await conditionOfEast('WorkerAlive')).toMatchObject({ status: 'False', reason: 'NoWorkerLease' });
  });
});
