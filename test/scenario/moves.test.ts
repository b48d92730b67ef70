/**
 * Goal: a Job that gets nowhere on a cluster goes to another one, a cluster that is bad for it is tried rarely, and what does not start
 * anywhere says so.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { writtenRecordOf, type AdmissionRecord } from '../../manager/api/records.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import type { Job, JobStatus } from '../../shared/api/kubernetes.ts';
import { MIN_READY_PODS_ANNOTATION, START_TIMEOUT_ANNOTATION } from '../../shared/api/names.ts';
import { EVENTS, JOBS } from '../../shared/api/resources.ts';
import { conditionsOf, createDispatchWorld, NAMESPACE, type DispatchWorld, type WorkerSide } from './dispatch-world.ts';

let world: DispatchWorld;
beforeEach(async () => {
  world = await createDispatchWorld();
});
afterEach(() => world.close());

const MINUTE = 60_000;
const lastTransitionTime = '2026-01-01T00:00:03Z';
const rests: JobStatus = {
  active: 0,
  ready: 0,
  conditions: [{ type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended', lastTransitionTime }],
};
const setQueue = (spec: object) => world.home.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body: { spec } });
const setCluster = (name: string, spec: object) =>
  world.home.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { spec } });
const recordOf = async (name: string): Promise<AdmissionRecord | undefined> => {
  const written = writtenRecordOf(await world.job(name));
  return written.kind === 'Record' ? written.record : undefined;
};
const messageOf = (job: Job, type: string): string | undefined => job.status?.conditions?.find((each) => each.type === type)?.message;
/** Refuses every copy there, as a webhook or a quota would. */
const refuse = (worker: WorkerSide): void => {
  worker.line.instead = ({ method, path }) => {
    if (method !== 'POST' || !path.includes('/jobs')) return undefined;
    const message = 'admission webhook "no.example" denied the request';
    return {
      status: 403,
      headers: {},
      body: JSON.stringify({ kind: 'Status', status: 'Failure', code: 403, reason: 'Forbidden', message }),
    };
  };
};
const creates = (worker: WorkerSide): number => worker.line.sent.filter((each) => each.startsWith('POST') && each.endsWith('/jobs')).length;
/** Pods of every copy there stop as soon as it is suspended, as on a cluster that works. */
async function stopSuspended(worker: WorkerSide): Promise<void> {
  for (const { metadata, spec } of (await worker.client.list(JOBS)).items)
    if (spec.suspend === true) await worker.report(metadata.name, rests);
}

describe('a Job whose pods do not get ready', () => {
  beforeEach(() => setCluster('us-2', { state: 'Cordoned' }));

  test('goes elsewhere after the start timeout of its queue, once nothing of it runs where it was', async () => {
    await setQueue({ startTimeout: '5m' });
    await world.submit('sum');
    await world.settle(1_000);
    const eu = world.worker('eu-1');
    await eu.start('sum');
    await setCluster('us-2', { state: 'Active' });
    await world.settle(4 * MINUTE);
    expect((await world.job('sum')).spec.suspend).toBe(false);
    await world.settle(MINUTE + 5_000);
    expect(await eu.copy('sum')).toMatchObject({ spec: { suspend: true } });
    expect(await world.worker('us-2').copy('sum')).toBeUndefined();
    await eu.report('sum', rests);
    await world.settle(5_000);
    expect(await recordOf('sum')).toMatchObject({ cluster: 'us-2', epoch: 2, avoid: { 'eu-1': { reason: 'NotStarted', refusals: 1 } } });
    expect(await world.worker('us-2').copy('sum')).toMatchObject({ spec: { suspend: false } });
    expect(await eu.copy('sum')).toBeUndefined();
  });

  test('stays when one of them was ready in time, whatever became of it', async () => {
    await world.submit('sum');
    await world.settle(1_000);
    const eu = world.worker('eu-1');
    await eu.report('sum', { active: 1, ready: 1, startTime: lastTransitionTime });
    await world.settle(1_000);
    expect(conditionsOf(await world.job('sum'))).toContain('Started=True Started');
    await eu.start('sum');
    await world.settle(60 * MINUTE);
    expect((await world.job('sum')).spec.suspend).toBe(false);
  });

  test.each([
    ['says how long it may take', '1m', 2 * MINUTE, true],
    ['says that it may take any time', '0s', 60 * MINUTE, false],
  ])('%s itself', async (_what, value, waited, moves) => {
    await world.submit('sum', { annotations: { [START_TIMEOUT_ANNOTATION]: value } });
    await world.settle(1_000);
    await world.worker('eu-1').start('sum');
    await world.settle(waited);
    expect((await world.job('sum')).spec.suspend).toBe(moves);
  });

  test('is not judged while its cluster is out of reach, and has its time anew when that is back', async () => {
    await world.submit('sum');
    await world.settle(1_000);
    const eu = world.worker('eu-1');
    await eu.start('sum');
    await world.settle(1_000);
    eu.line.state = 'refused';
    await world.settle(30 * MINUTE);
    expect((await world.job('sum')).spec.suspend).toBe(false);
    eu.line.state = 'up';
    await world.settle(8 * MINUTE);
    expect((await world.job('sum')).spec.suspend).toBe(false);
    await world.settle(4 * MINUTE);
    expect((await world.job('sum')).spec.suspend).toBe(true);
  });

  test('is judged by the manager that leads next as well', async () => {
    await world.submit('sum');
    await world.settle(1_000);
    await world.worker('eu-1').start('sum');
    await world.settle(5 * MINUTE);
    await world.stop();
    await world.start();
    await world.settle(11 * MINUTE);
    expect((await world.job('sum')).spec.suspend).toBe(true);
  });
});

describe('a gang', () => {
  const gang = { spec: { parallelism: 4, completions: 4 } };
  const elsewhere = () => world.worker('us-2').copy('sum');
  beforeEach(() => setCluster('us-2', { state: 'Cordoned' }));

  test('of which only a part gets ready goes elsewhere, and is not left with what it has', async () => {
    await world.submit('sum', gang);
    await world.settle(1_000);
    const eu = world.worker('eu-1');
    await eu.report('sum', { active: 4, ready: 3, startTime: lastTransitionTime });
    await setCluster('us-2', { state: 'Active' });
    await world.settle(9 * MINUTE);
    expect((await world.job('sum')).spec.suspend).toBe(false);
    await world.settle(MINUTE + 5_000);
    expect((await world.job('sum')).spec.suspend).toBe(true);
    await eu.report('sum', rests);
    await world.settle(5_000);
    expect(await recordOf('sum')).toMatchObject({ cluster: 'us-2', avoid: { 'eu-1': { reason: 'NotStarted' } } });
    expect(await elsewhere()).toMatchObject({ spec: { suspend: false } });
  });

  test.each([
    ['whose other pods have succeeded', gang, { active: 1, ready: 1, succeeded: 3 }],
    ['that asks for fewer', { ...gang, annotations: { [MIN_READY_PODS_ANNOTATION]: '3' } }, { active: 4, ready: 3 }],
    ['whose pods follow one another, and which is none', { spec: { parallelism: 4, completions: 9 } }, { active: 4, ready: 1 }],
  ])('%s stays', async (_which, job, status) => {
    await world.submit('sum', job);
    await world.settle(1_000);
    await world.worker('eu-1').report('sum', { ...status, startTime: lastTransitionTime });
    await world.settle(60 * MINUTE);
    expect((await world.job('sum')).spec.suspend).toBe(false);
  });

  test('that loses a part queues again after the recovery timeout, of the manager that leads then, and avoids no cluster', async () => {
    await setQueue({ recoveryTimeout: '5m' });
    await world.submit('sum', gang);
    await world.settle(1_000);
    const eu = world.worker('eu-1');
    await eu.report('sum', { active: 4, ready: 4, startTime: lastTransitionTime });
    await world.settle(20 * MINUTE);
    await eu.report('sum', { active: 4, ready: 3, failed: 1, startTime: lastTransitionTime });
    await world.settle(1_000);
    expect(conditionsOf(await world.job('sum'))).toContain('PodsReady=False PodsLost');
    await world.settle(2 * MINUTE);
    await eu.report('sum', { active: 4, ready: 4, failed: 1, startTime: lastTransitionTime });
    await world.settle(20 * MINUTE);
    expect((await world.job('sum')).spec.suspend).toBe(false);
    expect(conditionsOf(await world.job('sum'))).toContain('PodsReady=True PodsReady');
    await eu.report('sum', { active: 4, ready: 2, failed: 3, startTime: lastTransitionTime });
    await world.settle(3 * MINUTE);
    await world.stop();
    await world.start();
    await world.settle(4 * MINUTE);
    expect((await world.job('sum')).spec.suspend).toBe(false);
    await world.settle(MINUTE + 10_000);
    const job = await world.job('sum');
    expect(job.spec.suspend).toBe(true);
    const record = await recordOf('sum');
    expect(record).toMatchObject({ evicted: true, cluster: 'eu-1' });
    expect(record).not.toHaveProperty('avoid');
    await eu.report('sum', rests);
    await world.settle(5_000);
    expect(await recordOf('sum')).toMatchObject({ cluster: 'eu-1' });
    expect((await world.job('sum')).spec.suspend).toBe(false);
  });

  test('that loses a part is left alone where no timeout is set', async () => {
    await world.submit('sum', gang);
    await world.settle(1_000);
    const eu = world.worker('eu-1');
    await eu.report('sum', { active: 4, ready: 4, startTime: lastTransitionTime });
    await world.settle(1_000);
    await eu.report('sum', { active: 4, ready: 1, failed: 3, startTime: lastTransitionTime });
    await world.settle(60 * MINUTE);
    expect((await world.job('sum')).spec.suspend).toBe(false);
  });
});

test.each([
  ['that is seen getting ready', true, 3],
  ['that is over before anybody saw it ready', false, 2],
])('a Job %s costs no status write more, whatever it says of its start', async (_which, isSeenReady, writes) => {
  const written = (): number => world.homeLine.sent.filter((call) => call.startsWith('PATCH') && call.endsWith('/jobs/sum/status')).length;
  const eu = world.worker('eu-1');
  await setCluster('us-2', { state: 'Cordoned' });
  await world.submit('sum');
  await world.settle(1_000);
  await eu.start('sum');
  await world.settle(1_000);
  const before = written();
  if (isSeenReady) await eu.report('sum', { active: 1, ready: 1 });
  await world.settle(1_000);
  await eu.complete('sum');
  await world.settle(1_000);
  expect(conditionsOf(await world.job('sum'))).toEqual(
    expect.arrayContaining(['Started=True Started', 'Complete=True CompletionsReached']),
  );
  expect(written() - before).toBe(writes - 1);
});

describe('many equal Jobs, and a cluster that refuses them', () => {
  const NAMES = Array.from({ length: 60 }, (_each, index) => `sum-${index}`);

  test('after the first refusal none goes there, one tries it when the time is over, and all run elsewhere', async () => {
    const [eu, us] = [world.worker('eu-1'), world.worker('us-2')];
    refuse(eu);
    await setCluster('us-2', { state: 'Cordoned' });
    await world.submit('first');
    await world.settle(5_000);
    expect(creates(eu)).toBe(1);
    for (const name of NAMES) await world.submit(name);
    await world.settle(30_000);
    expect(creates(eu)).toBe(1);
    expect(messageOf(await world.job('sum-7'), 'QuotaReserved')).toMatch(
      /^eu-1: refused Jobs like this one \(Refused\), avoided until .*Z; us-2: cordoned$/,
    );
    await world.settle(45_000);
    expect(creates(eu)).toBe(2);
    await world.settle(80_000);
    expect(creates(eu)).toBe(2);
    await setCluster('us-2', { state: 'Active' });
    await world.settle(20_000);
    expect((await us.client.list(JOBS)).items).toHaveLength(61);
    expect(creates(eu)).toBe(2);
  });

  test('those that were on their way there turn back, and a manager that starts anew does not send them again', async () => {
    const [eu, us] = [world.worker('eu-1'), world.worker('us-2')];
    refuse(eu);
    await setCluster('us-2', { state: 'Cordoned' });
    for (const name of NAMES) await world.submit(name);
    await world.settle(10_000);
    const wave = creates(eu);
    // As many as are under way at once.
    expect(wave).toBeLessThanOrEqual(4);
    expect((await Promise.all(NAMES.map(world.job))).every(({ spec }) => spec.suspend === true)).toBe(true);
    await world.stop();
    await world.start();
    await world.settle(30_000);
    expect(creates(eu)).toBe(wave);
    await setCluster('us-2', { state: 'Active' });
    await world.settle(20_000);
    expect((await us.client.list(JOBS)).items).toHaveLength(60);
  });

  test('the one that tries it again succeeds, and the others follow', async () => {
    const eu = world.worker('eu-1');
    refuse(eu);
    await setCluster('us-2', { state: 'Cordoned' });
    await world.submit('first');
    await world.settle(5_000);
    for (const name of NAMES) await world.submit(name);
    await world.settle(10_000);
    eu.line.instead = undefined;
    await world.settle(60_000);
    const arrived = (await eu.client.list(JOBS)).items;
    expect(arrived).toHaveLength(1);
    const [name = ''] = arrived.map(({ metadata }) => metadata.name);
    await eu.report(name, { active: 1, ready: 1, startTime: lastTransitionTime });
    await world.settle(20_000);
    expect((await eu.client.list(JOBS)).items.length).toBeGreaterThan(50);
  });
});

describe('a Job that starts nowhere', () => {
  beforeEach(async () => {
    refuse(world.worker('eu-1'));
    await setQueue({ startTimeout: '1m', maxMoves: 3 });
    await world.submit('sum');
  });
  const story = /^3 placements in a row came to nothing: .*eu-1: Refused.* at .*Z/;
  const wait = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 10_000) {
      await world.settle(10_000);
      await stopSuspended(world.worker('us-2'));
    }
  };

  test('says so after as many moves as its queue allows, once, goes on trying, and takes it back when it starts', async () => {
    await wait(8 * MINUTE);
    const job = await world.job('sum');
    expect(conditionsOf(job)).toContain('CannotStart=True TooManyMoves');
    expect(messageOf(job, 'CannotStart')).toMatch(/ placements in a row came to nothing: .*eu-1: Refused/);
    const { items } = await world.home.list(EVENTS, { namespace: NAMESPACE });
    expect(items.filter(({ reason }) => reason === 'CannotStart').map(({ count }) => count ?? 1)).toEqual([1]);
    const eu = world.worker('eu-1');
    eu.line.instead = undefined;
    do await wait(10_000);
    while ((await world.job('sum')).spec.suspend === true);
    await world.settle(2_000);
    const { cluster = '', epoch } = (await recordOf('sum')) ?? {};
    expect(epoch).toBeGreaterThan(3);
    await world.worker(cluster).report('sum', { active: 1, ready: 1, startTime: lastTransitionTime });
    await world.settle(5_000);
    expect(conditionsOf(await world.job('sum'))).toEqual(expect.arrayContaining(['CannotStart=False Started', 'Started=True Started']));
  });

  test('fails where its queue says so, with the story, and leaves nothing behind', async () => {
    await setQueue({ onCannotStart: 'Fail' });
    await wait(10 * MINUTE);
    const job = await world.job('sum');
    expect(conditionsOf(job)).toEqual(
      expect.arrayContaining(['FailureTarget=True CannotStart', 'Failed=True CannotStart', 'CannotStart=True TooManyMoves']),
    );
    expect(messageOf(job, 'Failed')).toMatch(story);
    expect(job.metadata.finalizers ?? []).toEqual([]);
    await world.settle(10_000);
    for (const name of ['eu-1', 'us-2']) expect((await world.worker(name).client.list(JOBS)).items).toEqual([]);
  });
});
