/** Goal: a cluster that comes and goes keeps no Job for ever, and one that was in trouble is tried by one Job before the others come. */
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writtenRecordOf } from '../../manager/api/records.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { FENCING_ANNOTATION } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { toWireTime } from '../../shared/api/wire-time.ts';
import type { Patch } from '../../shared/kube/client.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import type { TransportResponse } from '../../shared/kube/transport.ts';
import { createDispatchWorld, type DispatchWorld, type WorkerSide } from './dispatch-world.ts';
import { startWorkerPresence } from '../support/worker-presence.ts';

let world: DispatchWorld;
let eu: WorkerSide;
let us: WorkerSide;
let registry: Registry;
let presence: { readonly stop: () => void } | undefined;
beforeEach(async () => {
  registry = new Registry();
  world = await createDispatchWorld({ registry });
  eu = world.worker('eu-1');
  us = world.worker('us-2');
});
afterEach(async () => {
  presence?.stop();
  presence = undefined;
  await world.close();
});

const setState = (name: string, state: string) =>
  world.home.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { spec: { state } } });
const clusterOf = async (name: string): Promise<string | undefined> => {
  const written = writtenRecordOf(await world.job(name));
  return written.kind === 'Record' ? written.record.cluster : undefined;
};
const able = async (): Promise<string> => {
  const { status } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' });
  const condition = findCondition(status?.conditions, 'Able');
  return `${condition?.status} ${condition?.reason}: ${condition?.message}`;
};
const ready = async (): Promise<string | undefined> => {
  const { status } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' });
  return findCondition(status?.conditions, 'Ready')?.status;
};
/** How often Jobs were enqueued. */
const planned = async (): Promise<number> => {
  const { values } = (await registry.getSingleMetric('workqueue_adds_total')?.get()) ?? { values: [] };
  return values.find(({ labels }) => labels['name'] === 'mirror')?.value ?? 0;
};
/** How many of these Jobs report that their cluster is lost. */
const lossReports = async (jobs: readonly string[]): Promise<number> => {
  const all = await Promise.all(jobs.map((name) => world.job(name)));
  return all.filter(({ status }) => findCondition(status?.conditions, 'Dispatched')?.message?.includes('lost since')).length;
};
const annotated = (value: string): Patch => ({ type: 'merge', body: { metadata: { annotations: { 'example.com/note': value } } } });
/** The copy there as its worker has it: what is told to rest rests, and the rest is stopped by its fence, or runs. */
async function worker(name: string, fenced: boolean): Promise<void> {
  const copy = await eu.copy(name);
  if (copy === undefined) return;
  const { suspend } = copy.spec;
  const at = toWireTime(world.clock.now());
  const condition = (type: string, isTrue: boolean) => {
    const before = findCondition(copy.status?.conditions, type);
    const status = isTrue ? ('True' as const) : ('False' as const);
    return before?.status === status ? before : { type, status, reason: 'Test', message: '', lastTransitionTime: at, lastProbeTime: at };
  };
  const wasFenced = findCondition(copy.status?.conditions, 'Fenced') !== undefined;
  const runs = suspend !== true && !fenced;
  await eu.report(name, {
    active: runs ? 1 : 0,
    ready: runs ? 1 : 0,
    terminating: 0,
    ...(suspend === true ? {} : { startTime: copy.status?.startTime ?? at }),
    conditions: [...(wasFenced || fenced ? [condition('Fenced', fenced)] : []), condition('Suspended', suspend === true)],
  });
}
/** 16 s closed, 8 s open, as a cluster behind a bad line. */
async function flap(times: number, ...names: string[]): Promise<void> {
  for (let time = 0; time < times; time++) {
    eu.line.state = 'refused';
    await world.settle(10_000);
    for (const name of names) await worker(name, true);
    await world.settle(6_000);
    eu.line.state = 'up';
    for (let second = 0; second < 8; second++) {
      await world.settle(1_000);
      for (const name of names) await worker(name, false);
    }
  }
}
/** They run on eu-1, and us-2 would take them, too. */
async function runOnEu(...jobs: readonly (readonly [string, Parameters<DispatchWorld['submit']>[1]])[]): Promise<void> {
  presence = await startWorkerPresence(eu.client, world.clock, 10);
  await setState('us-2', 'Cordoned');
  await world.settle(1_000);
  for (const [name, parts] of jobs) await world.submit(name, parts);
  await world.settle(1_000);
  for (const [name] of jobs) await worker(name, false);
  await world.settle(1_000);
  await setState('us-2', 'Active');
}

test('a Job that a flapping cluster stops again and again moves to a steady one; one that is not fenced stays', async () => {
  await runOnEu(['sum', {}], ['unfenced', { annotations: { [FENCING_ANNOTATION]: 'off' } }]);
  await flap(2, 'sum');
  expect([await clusterOf('sum'), await able()]).toEqual(['eu-1', expect.stringMatching(/^True /)]);
  await flap(3, 'sum');
  expect(await able()).toMatch(/^False Unsteady: its worker has stopped the copies there \d times since /);
  expect([await clusterOf('sum'), await clusterOf('unfenced')]).toEqual(['us-2', 'eu-1']);
  expect(await us.copy('sum')).toMatchObject({ spec: { suspend: false } });
  // A new one goes elsewhere as well.
  await world.submit('next');
  await world.settle(1_000);
  expect(await clusterOf('next')).toBe('us-2');
});

test('where there is no other cluster it stays, with what it has completed', async () => {
  await runOnEu(['sum', {}]);
  await setState('us-2', 'Cordoned');
  await flap(6, 'sum');
  expect(await clusterOf('sum')).toBe('eu-1');
  expect(writtenRecordOf(await world.job('sum'))).toMatchObject({ record: { epoch: 1 } });
});

test('trust comes back with time: one Job after the other at first, then all', async () => {
  await runOnEu(['sum', {}]);
  await flap(3, 'sum');
  await setState('us-2', 'Cordoned');
  // Watches are opened anew ever more rarely.
  await world.settle(10_000);
  expect(await able()).toMatch(/^False Unsteady/);
  for (const name of ['a', 'b', 'c']) await world.submit(name);
  const placed = async (): Promise<number> => {
    const places = await Promise.all(['a', 'b', 'c'].map(clusterOf));
    return places.filter((place) => place === 'eu-1').length;
  };
  await world.settle(5_000);
  expect(await placed()).toBe(0);
  await world.settle(65_000);
  expect([await able(), await placed()]).toEqual([expect.stringMatching(/^Unknown Trying: one Job shows whether/), 1]);
  await world.settle(65_000);
  expect([await able(), await placed()]).toEqual([expect.stringMatching(/^True /), 3]);
});

test('Jobs that run are not planned anew when their cluster comes and goes, and report a loss of a minute', async () => {
  const jobs = Array.from({ length: 20 }, (_, index) => `runs-${index}`);
  await runOnEu(...jobs.map((name) => [name, {}] as const));
  await world.settle(30_000);
  const before = await planned();
  for (let time = 0; time < 2; time++) {
    eu.line.state = 'refused';
    await world.settle(50_000);
    expect(await ready()).toBe('False');
    eu.line.state = 'up';
    await world.settle(20_000);
    expect(await ready()).toBe('True');
  }
  expect([(await planned()) - before, await lossReports(jobs)]).toEqual([0, 0]);
  eu.line.state = 'refused';
  await world.settle(90_000);
  expect(await lossReports(jobs)).toBe(jobs.length);
  eu.line.state = 'up';
  await world.settle(20_000);
  expect(await lossReports(jobs)).toBe(0);
});

test('a Job that is planned while its cluster is lost is not planned again when that has come back', async () => {
  const jobs = Array.from({ length: 20 }, (_, index) => `runs-${index}`);
  await runOnEu(...jobs.map((name) => [name, {}] as const));
  eu.line.state = 'refused';
  await world.settle(40_000);
  for (const name of jobs) await world.home.patch(JOBS, { namespace: 'team', name }, annotated('seen'));
  await world.settle(5_000);
  eu.line.state = 'up';
  await world.settle(10_000);
  const before = await planned();
  await world.settle(90_000);
  expect((await planned()) - before).toBe(0);
});

test('a manager that begins while a cluster is lost has its Jobs report a loss of a minute', async () => {
  await runOnEu(['sum', {}]);
  eu.line.state = 'refused';
  await world.settle(40_000);
  await world.stop();
  registry.clear();
  await world.start();
  await world.settle(5_000);
  expect(await lossReports(['sum'])).toBe(0);
  await world.settle(60_000);
  expect(await lossReports(['sum'])).toBe(1);
});

test('a cluster where copies could not be made is tried by one Job, not by all that wait', async () => {
  await setState('us-2', 'Cordoned');
  const refusing: TransportResponse = {
    status: 500,
    headers: {},
    body: JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 500, reason: 'InternalError', message: 'no leader' }),
  };
  const isCreate = (method: string, path: string): boolean => method === 'POST' && path.includes('/jobs');
  eu.line.instead = ({ method, path }) => (isCreate(method, path) ? refusing : undefined);
  const first = ['a', 'b', 'c'];
  for (const name of first) await world.submit(name);
  await world.settle(10_000);
  expect(await able()).toMatch(/^False /);
  // Those that wait are sixteen; those that were placed there are taken away, so that nobody tries any more.
  for (const name of first) await world.home.delete(JOBS, { namespace: 'team', name });
  const waiting = Array.from({ length: 16 }, (_, index) => `waits-${index}`);
  for (const name of waiting) await world.submit(name);
  await world.settle(5_000);
  eu.line.sent.length = 0;
  await world.settle(240_000);
  const tried = new Set<string>();
  for (const name of waiting) if ((await clusterOf(name)) === 'eu-1') tried.add(name);
  expect(eu.line.sent.filter((call) => call.startsWith('POST') && call.includes('/jobs')).length).toBeGreaterThan(0);
  expect(tried.size).toBe(1);
  eu.line.instead = undefined;
  await world.settle(130_000);
  for (const name of waiting) expect(await clusterOf(name)).toBe('eu-1');
});
