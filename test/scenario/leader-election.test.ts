/** Goal: of several managers, and of several workers, exactly one works, another takes over soon, and nobody works on after that. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { PRIORITY_ANNOTATION } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { toWireMicroTime } from '../../shared/api/wire-time.ts';
import { createWholeWorld, HOME, NAMESPACE, type RunningProgram, type WholeWorld } from './whole-world.ts';

let world: WholeWorld;
beforeEach(async () => {
  world = await createWholeWorld({
    clusters: ['eu-1'],
  });
});
afterEach(() => world.close());

const isComplete = async (name: string): Promise<boolean> =>
  (await world.job(name)).status?.conditions?.some(({ type, status }) => type === 'Complete' && status === 'True') ?? false;
const writesTo = (program: RunningProgram, what: RegExp): string[] =>
  program.line.sent.filter(({ verb, path }) => !['get', 'list', 'watch'].includes(verb) && what.test(path)).map(({ path }) => path);

/** Seconds until it is true, by the world's clock. */
async function secondsUntil(look: () => Promise<boolean>, limit = 60): Promise<number> {
  for (let seconds = 0; seconds <= limit; seconds += 0.5) {
    if (await look()) return seconds;
    await world.clock.advance(500);
  }
  throw new Error(`not within ${limit} s`);
}

describe('of two managers', () => {
  let first: RunningProgram;
  let second: RunningProgram;
  beforeEach(async () => {
    world.startWorker('eu-1', 'worker');
    first = world.startManager('first');
    await world.clock.advance(1_000);
    second = world.startManager('second');
    await world.clock.advance(3_000);
  });

  test('one works, the other watches', async () => {
    await world.submit('sum');
    await world.clock.advance(10_000);
    expect(await isComplete('sum')).toBe(true);
    expect(writesTo(first, /jobs/)).not.toEqual([]);
    expect(writesTo(second, /./)).toEqual([]);
  });

  test('the other takes over as soon as the lease of a leader that died is over', async () => {
    await world.submit('long', { seconds: 30 });
    await world.clock.advance(5_000);
    first.kill();
    await world.submit('sum');
    const seconds = await secondsUntil(async () => (await world.jobsOn('eu-1')).some(({ metadata }) => metadata.name === 'sum'));
    expect(seconds).toBeGreaterThan(2);
    // The lease lasts 3 s from when the other saw its last renewal, at a look that the dice put up to 0.75 s later; the Job is there 1.5 s
    // after that.
    expect(seconds).toBeLessThan(5.5);
    await world.clock.advance(40_000);
    expect(await isComplete('sum')).toBe(true);
    expect(await isComplete('long')).toBe(true);
    expect(await world.jobsOn('eu-1')).toEqual([]);
  });

  test('the other takes over at its next look when the leader is asked to stop', async () => {
    first.terminate();
    await world.submit('sum');
    const seconds = await secondsUntil(async () => (await world.jobsOn('eu-1')).length > 0);
    // Up to 0.75 s between two looks, as the dice fall, and 1.5 s until the Job is there.
    expect(seconds).toBeLessThan(2.5);
    expect(first.outcome()).toBe('stopped');
  });

  test('a deposed leader ends with an error, and so can be started again to stand by', async () => {
    await stealLease(world, HOME, 'switchyard-manager');
    await world.clock.advance(5_000);
    expect(first.outcome()).toMatchObject({ message: 'leadership was lost' });
  });
});

test('a manager whose watches are held up admits nothing beyond quota when it comes to lead', async () => {
  const quota = [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: '200m' }] }];
  const resourceGroups = [{ coveredResources: ['cpu'], flavors: quota }];
  await world.home.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body: { spec: { resourceGroups } } });
  const priorities = { spec: { priorityBounds: { min: 0, max: 10 } } };
  await world.home.patch(LOCAL_QUEUES, { namespace: NAMESPACE, name: 'main' }, { type: 'merge', body: priorities });
  world.startWorker('eu-1', 'worker');
  // One that leads once to have everything set up, and comes back.
  const before = world.startManager('first');
  await world.clock.advance(10_000);
  before.kill();
  await stealLease(world, HOME, 'switchyard-manager', 'first');
  const second = world.startManager('second');
  await world.clock.advance(3_000);
  for (const name of ['a', 'b']) await world.submit(name, { seconds: 600 });
  await world.clock.advance(1_000);
  second.line.holdWatches();
  for (const name of ['c', 'd']) await world.submit(name, { seconds: 600, annotations: { [PRIORITY_ANNOTATION]: '9' } });
  const first = world.startManager('first');
  const admitted = async (): Promise<string[]> => {
    const jobs = await Promise.all(['a', 'b', 'c', 'd'].map((name) => world.job(name)));
    return jobs.filter(({ spec }) => spec.suspend === false).map(({ metadata }) => metadata.name);
  };
  // It dies before it has told the others why they wait: their versions stay, and let anybody admit them.
  while ((await admitted()).length < 2) await world.clock.advance(50);
  first.kill();
  const asked = (): string[] =>
    second.line.sent.flatMap(({ cluster, verb, resource }) => (cluster === HOME && resource === 'batch/jobs' ? [verb] : []));
  const askedBefore = asked().length;
  for (let seconds = 0; seconds < 60; seconds++) {
    await world.clock.advance(1_000);
    expect(await admitted()).toEqual(['c', 'd']);
  }
  expect(writesTo(second, /leases/)).not.toEqual([]);
  // How far the server is, and what was missed: not a list of all there is.
  expect(asked().slice(askedBefore)).toEqual(['watch', 'list', 'watch']);
  await world.home.delete(JOBS, { namespace: NAMESPACE, name: 'c' }, { propagationPolicy: 'Background' });
  await world.clock.advance(60_000);
  expect((await world.jobsOn('eu-1')).map(({ metadata }) => metadata.name)).toEqual(['a', 'd']);
});

describe('a leader that is deposed while calls wait in its rate limiter', () => {
  test('of the manager: none of them is sent', async () => {
    const manager = world.startManager('first', { qps: 2 });
    await world.clock.advance(60_000);
    for (let index = 0; index < 20; index++) await world.submit(`job-${index}`);
    await world.clock.advance(2_000);
    const before = writesTo(manager, /jobs/).length;
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(15);
    await stealLease(world, HOME, 'switchyard-manager');
    // It learns of it with its next renewal, within two seconds.
    await world.clock.advance(2_500);
    const after = writesTo(manager, /./).length;
    await world.clock.advance(60_000);
    expect(writesTo(manager, /./)).toHaveLength(after);
  });

  test('of the worker: none of them is sent', async () => {
    const manager = world.startManager('first');
    const worker = world.startWorker('eu-1', 'one', { qps: 2 });
    await world.clock.advance(10_000);
    await world.submit('wide', { spec: { parallelism: 40, completions: 40 }, seconds: 300 });
    await secondsUntil(async () => (await world.podsOn('eu-1')).length > 0);
    const pods = (await world.podsOn('eu-1')).length;
    expect(pods).toBeGreaterThan(0);
    expect(pods).toBeLessThan(40);
    await stealLease(world, 'eu-1', 'switchyard-worker');
    await secondsUntil(async () => worker.outcome() !== undefined, 10);
    expect(worker.outcome()).toMatchObject({ message: 'leadership was lost' });
    const left = (await world.podsOn('eu-1')).length;
    await world.clock.advance(60_000);
    expect(await world.podsOn('eu-1')).toHaveLength(left);
    expect(left).toBeLessThan(40);
    expect(manager.outcome()).toBeUndefined();
  });

  test('a leader whose calls all wait renews its lease all the same', async () => {
    const manager = world.startManager('first', { qps: 1 });
    await world.clock.advance(60_000);
    for (let index = 0; index < 60; index++) await world.submit(`job-${index}`);
    await world.clock.advance(60_000);
    expect(manager.outcome()).toBeUndefined();
  });
});

describe('of two workers', () => {
  let first: RunningProgram;
  let second: RunningProgram;
  beforeEach(async () => {
    world.startManager('manager');
    first = world.startWorker('eu-1', 'first');
    await world.clock.advance(1_000);
    second = world.startWorker('eu-1', 'second');
    await world.clock.advance(3_000);
  });

  test('the other takes over when the leader dies, and no pod is run twice', async () => {
    await world.submit('sum', { spec: { completions: 6, parallelism: 2 }, seconds: 5 });
    await world.clock.advance(7_000);
    first.kill();
    const seconds = await secondsUntil(async () => isComplete('sum'));
    expect(seconds).toBeLessThan(40);
    expect((await world.job('sum')).status).toMatchObject({ succeeded: 6 });
    expect(writesTo(first, /pods$/).length + writesTo(second, /pods$/).length).toBe(6);
  });

  test('the other takes over at its next look when the leader is asked to stop', async () => {
    first.terminate();
    await world.clock.advance(5_000);
    expect(first.outcome()).toBe('stopped');
    await world.submit('sum');
    expect(await secondsUntil(async () => isComplete('sum'))).toBeLessThan(10);
    expect(writesTo(second, /pods$/)).toHaveLength(1);
  });
});

/** Somebody else holds the Lease from now on, as happens when a leader's renewals do not arrive for a while. */
async function stealLease(where: WholeWorld, cluster: string, name: string, holderIdentity = 'somebody-else'): Promise<void> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/switchyard/leases/${name}`;
  const now = toWireMicroTime(where.clock.now());
  const body = { spec: { holderIdentity, renewTime: now, leaseDurationSeconds: 3600 } };
  await where.client(cluster).raw({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
}
