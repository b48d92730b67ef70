/**
 * Goal: a Job that may run for so long in all is stopped when it has, whatever has interrupted it meanwhile, and goes on only when somebody
 * gives it more.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { MAX_EXEC_TIME_LABEL } from '../../shared/api/names.ts';
import { EVENTS, JOBS } from '../../shared/api/resources.ts';
import { conditionOf, createAdmissionWorld, NAMESPACE, type AdmissionWorld } from './admission-world.ts';

let world: AdmissionWorld;
beforeEach(async () => {
  world = await createAdmissionWorld();
  await world.flavor('default');
  await world.queue('main', { cpu: '1' });
  await world.cluster('eu-1');
});
afterEach(() => world.close());

const SECOND = 1_000;
const patch = (name: string, body: object) => world.client.patch(JOBS, { namespace: NAMESPACE, name }, { type: 'merge', body });
const allow = (name: string, seconds: string | null) => patch(name, { metadata: { labels: { [MAX_EXEC_TIME_LABEL]: seconds } } });
const told = async (name: string) => conditionOf(await world.getJob(name), 'QuotaReserved');
const isSuspended = async (name: string): Promise<boolean> => (await world.getJob(name)).spec.suspend === true;
const limited = (seconds: number) => ({ labels: { [MAX_EXEC_TIME_LABEL]: String(seconds) } });

test('a Job that has run for as long as it may is stopped, gives its quota to others, and says why and how it goes on', async () => {
  await world.job('a', limited(100));
  await world.settle(SECOND);
  await world.job('b');
  await world.settle(95 * SECOND);
  expect(await isSuspended('a')).toBe(false);
  await world.settle(5 * SECOND);
  expect(await isSuspended('a')).toBe(true);
  await world.settle(10 * SECOND);
  expect(await told('a')).toMatchObject({
    reason: 'Evicted',
    message: expect.stringContaining('suspended after admission; quota is held until nothing runs any more; it has run for 100s in all'),
  });
  expect(await world.running()).toEqual([]);
  await world.rest('a');
  await world.settle(20 * SECOND);
  expect(await world.running()).toEqual(['b']);
  expect(await told('a')).toMatchObject({
    status: 'False',
    reason: 'MaximumExecutionTimeExceeded',
    message:
      'it has run for 100s in all, and its label switchyard.dev/max-exec-time-seconds allows 100s; to let it go on: ' +
      'kubectl label --overwrite job -n team a switchyard.dev/max-exec-time-seconds=200',
  });
  const { items } = await world.client.list(EVENTS);
  expect(items).toContainEqual(
    expect.objectContaining({
      type: 'Warning',
      reason: 'MaximumExecutionTimeExceeded',
      message: 'it has run for the 100s in all that its label switchyard.dev/max-exec-time-seconds allows',
    }),
  );
  expect(await world.metric('switchyard_evicted_workloads_total', { reason: 'MaximumExecutionTimeExceeded' })).toBe(1);
});

test('time that earlier admissions took counts, also after a restart, whoever has ended them', async () => {
  await world.job('a', limited(100));
  await world.settle(30 * SECOND);
  const setStop = (stopPolicy: 'None' | 'HoldAndDrain') =>
    world.client.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body: { spec: { stopPolicy } } });
  await setStop('HoldAndDrain');
  await world.settle(SECOND);
  const first = (await world.record('a'))?.executedSeconds ?? 0;
  expect(first).toBeGreaterThanOrEqual(29);
  expect(first).toBeLessThanOrEqual(31);
  await world.rest('a');
  await world.restart();
  await setStop('None');
  await world.settle(600 * SECOND);
  // It has gone on, and the ten minutes include the rest of its time.
  expect(await isSuspended('a')).toBe(true);
  expect(await world.record('a')).toMatchObject({ executedSeconds: 100 });
});

test('time that passes while it is suspended by its user does not count, and what it had before does', async () => {
  await world.job('a', limited(100));
  await world.settle(50 * SECOND);
  await patch('a', { spec: { suspend: true } });
  await world.settle(SECOND);
  await world.rest('a');
  await world.settle(600 * SECOND);
  await patch('a', { metadata: { annotations: { 'switchyard.dev/hold': null } } });
  await world.settle(40 * SECOND);
  expect(await isSuspended('a')).toBe(false);
  await world.settle(15 * SECOND);
  expect(await isSuspended('a')).toBe(true);
});

test.each([
  ['more', '150'],
  ['as long as it likes', null],
])('a Job that is out of time goes on once it may run for %s', async (_what, seconds) => {
  await world.job('a', limited(100));
  await world.settle(101 * SECOND);
  await world.rest('a');
  await world.settle(60 * SECOND);
  expect(await isSuspended('a')).toBe(true);
  await world.restart();
  await world.settle(60 * SECOND);
  expect(await isSuspended('a')).toBe(true);
  await allow('a', seconds);
  await world.settle(45 * SECOND);
  expect(await isSuspended('a')).toBe(false);
  await world.settle(10 * SECOND);
  expect(await isSuspended('a')).toBe(seconds !== null);
});

test('a Job whose time was over while no manager ran is stopped by the next one, and a running one may be given less', async () => {
  await world.job('a', limited(100));
  await world.settle(SECOND);
  await world.stop();
  await world.settle(300 * SECOND);
  expect(await isSuspended('a')).toBe(false);
  await world.restart();
  await world.settle(SECOND);
  expect(await isSuspended('a')).toBe(true);
  expect((await world.record('a'))?.executedSeconds).toBeGreaterThanOrEqual(300);
  await world.remove('a');
  await world.job('b', limited(1_000));
  await world.settle(60 * SECOND);
  expect(await isSuspended('b')).toBe(false);
  await allow('b', '30');
  await world.settle(SECOND);
  expect(await isSuspended('b')).toBe(true);
});
