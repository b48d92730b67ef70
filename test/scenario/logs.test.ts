/** What is kept of pods, when the manager dies over it, a cluster makes things up, or nobody lets anybody keep anything. */
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHistory, type History } from '../../manager/history/history.ts';
import type { KeyValueStore } from '../../manager/history/key-value-store.ts';
import { openSqliteStore } from '../../manager/history/sqlite-store.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { readLastFailure } from '../../manager/api/last-failure.ts';
import type { Job } from '../../shared/api/kubernetes.ts';
import { logTailsName } from '../../shared/api/log-tails.ts';
import { ENDED_PODS_ANNOTATION, LAST_FAILURE_ANNOTATION } from '../../shared/api/names.ts';
import { CONFIG_MAPS, EVENTS, JOBS } from '../../shared/api/resources.ts';
import { isFinished } from '../../shared/kube/conditions.ts';
import { createWholeWorld, HOME, NAMESPACE, type RunningProgram, type WholeWorld } from './whole-world.ts';

const LIMITS = { ageMs: 1e12, bytesMax: 1e9 };
const FAILING = { spec: { backoffLimit: 0 }, exitCode: 3 };
let world: WholeWorld;
let store: KeyValueStore;
let history: History;
let reachable: KeyValueStore['put'] | undefined;
let manager: RunningProgram;

const startManager = (identity: string): RunningProgram =>
  world.startManager(identity, {
    parts: { history: { store: { ...store, put: (entries) => (reachable ?? store.put)(entries) }, limits: LIMITS } },
  });
beforeEach(async () => {
  reachable = undefined;
  store = openSqliteStore(':memory:');
  history = createHistory(store);
  world = await createWholeWorld({
    clusters: ['east'],
  });
  manager = startManager('first');
});
afterEach(async () => {
  await world.close();
  await store.close();
});
const startWorker = (): RunningProgram => world.startWorker('east', 'worker', { podLogs: 'it went wrong\n' });
const isOver = async (name: string): Promise<boolean> => isFinished((await world.job(name)).status);
const eventsOf = async (wanted: string): Promise<string[]> =>
  (await world.client(HOME).list(EVENTS, { namespace: NAMESPACE })).items.flatMap(({ reason, message = '' }) =>
    reason === wanted ? [message] : [],
  );
async function until(holds: () => Promise<boolean>, seconds = 60): Promise<void> {
  for (let step = 0; !(await holds()); step++) {
    if (step === seconds * 10) throw new Error(`it did not come in ${seconds} s`);
    await world.clock.advance(100);
  }
}

test('a manager that dies before what it has read is stored leaves it to the next, and the copy stays until then', async () => {
  startWorker();
  reachable = () => new Promise(() => undefined);
  await world.clock.advance(5_000);
  await world.submit('sum', FAILING);
  await until(() => isOver('sum'));
  await world.clock.advance(300);
  expect(await world.jobsOn('east')).toHaveLength(1);
  manager.kill();
  reachable = undefined;
  startManager('second');
  await until(async () => (await world.jobsOn('east')).length === 0);
  await world.clock.advance(2_000);
  const [record] = await history.query({ limit: 10 });
  expect(record).toMatchObject({ name: 'sum', outcome: 'Failed' });
  const [copy] = await history.podsOf(record!.uid);
  expect(copy?.pods).toMatchObject([{ phase: 'Failed', exitCode: 3, tail: true }]);
  expect(await history.tail(record!.uid, copy!.copyUid, copy!.pods[0]!.pod)).toBe('it went wrong\n');
});

test('while a Job still tries, its Events tell each pod that failed, with its exit code and the last line of its log', async () => {
  startWorker();
  await world.submit('sum', { ...FAILING, spec: { backoffLimit: 2 } });
  await until(() => isOver('sum'));
  await world.clock.advance(1_000);
  const failures = await eventsOf('PodFailed');
  expect(failures).toHaveLength(3);
  const said = /^1 pod failed on cluster "east"(, \d in all)?; pod sum-\S+ ended with exit code 3: it went wrong$/;
  for (const message of failures) expect(message).toMatch(said);
  expect(await eventsOf('Finished')).toHaveLength(1);
});

test('a store that never answers keeps no Job from ending, and no copy from going', async () => {
  startWorker();
  reachable = () => new Promise(() => undefined);
  await world.clock.advance(5_000);
  for (const name of ['a', 'b', 'c']) await world.submit(name, FAILING);
  await until(async () => (await Promise.all(['a', 'b', 'c'].map(isOver))).every(Boolean));
  await world.clock.advance(5_000);
  expect(await world.jobsOn('east')).toEqual([]);
});

test('Jobs that succeed cost the manager no call on their cluster but those that they cost without history', async () => {
  startWorker();
  await world.clock.advance(5_000);
  for (const name of ['a', 'b', 'c']) await world.submit(name);
  await until(async () => (await Promise.all(['a', 'b', 'c'].map(isOver))).every(Boolean));
  await world.clock.advance(5_000);
  expect(manager.line.sent.filter(({ resource }) => resource === 'configmaps')).toEqual([]);
  expect((await history.query({ limit: 10 })).map(({ name, outcome }) => `${name} ${outcome}`).toSorted()).toEqual([
    'a Complete',
    'b Complete',
    'c Complete',
  ]);
  const [record] = await history.query({ namespace: NAMESPACE, name: 'a', limit: 1 });
  expect(await history.podsOf(record!.uid)).toMatchObject([{ cluster: 'east', pods: [{ phase: 'Succeeded', exitCode: 0 }] }]);
});

test('copies of Jobs that failed stay where their cluster keeps them, with their pods, while what they ended with is kept at once', async () => {
  startWorker();
  const retain = (retainFinished: object | null) =>
    world.home.patch(WORKER_CLUSTERS, { namespace: '', name: 'east' }, { type: 'merge', body: { spec: { retainFinished } } });
  await retain({ failed: '10m' });
  await world.clock.advance(5_000);
  for (const name of ['a', 'b']) await world.submit(name, FAILING);
  await world.submit('fine');
  await until(async () => (await Promise.all(['a', 'b', 'fine'].map(isOver))).every(Boolean));
  await world.clock.advance(10_000);
  const names = async (): Promise<string[]> => (await world.jobsOn('east')).map(({ metadata }) => metadata.name).toSorted();
  expect(await names()).toEqual(['a', 'b']);
  expect(await world.podsOn('east')).toHaveLength(2);
  const [record] = await history.query({ namespace: NAMESPACE, name: 'a', limit: 1 });
  const [kept] = await history.podsOf(record!.uid);
  expect(await history.tail(record!.uid, kept!.copyUid, kept!.pods[0]!.pod)).toBe('it went wrong\n');
  await world.home.delete(JOBS, { namespace: NAMESPACE, name: 'b' }, { propagationPolicy: 'Background' });
  await world.clock.advance(10_000);
  expect(await names()).toEqual(['a']);
  await world.clock.advance(600_000);
  expect(await names()).toEqual([]);

  await world.submit('c', FAILING);
  await until(() => isOver('c'));
  await world.clock.advance(10_000);
  expect(await names()).toEqual(['c']);
  await retain(null);
  await world.clock.advance(5_000);
  expect(await names()).toEqual([]);
});

describe('a cluster that makes things up', () => {
  /** Its administrator ends the Job's copy himself, as no worker runs there. */
  async function end(name: string, text: string, before?: (copy: Job) => Promise<void>): Promise<Job> {
    await world.clock.advance(5_000);
    await world.submit(name, { spec: { backoffLimit: 0 } });
    await until(async () => (await world.jobsOn('east')).length === 1);
    const east = world.client('east');
    const copy = await east.get(JOBS, { namespace: NAMESPACE, name });
    await before?.(copy);
    const now = new Date(world.clock.now()).toISOString().replace(/\.\d+/, '');
    const said = {
      status: 'True' as const,
      reason: 'BackoffLimitExceeded',
      message: 'too often',
      lastTransitionTime: now,
      lastProbeTime: now,
    };
    const conditions = [
      { type: 'FailureTarget', ...said },
      { type: 'Failed', ...said },
    ];
    const annotations = { [ENDED_PODS_ANNOTATION]: text };
    await east.patchStatus(
      JOBS,
      { namespace: NAMESPACE, name },
      { type: 'merge', body: { metadata: { annotations }, status: { startTime: now, failed: 1, conditions } } },
    );
    return copy;
  }
  const over = async (name: string): Promise<Job> => {
    await until(() => isOver(name));
    await until(async () => (await world.jobsOn('east')).length === 0);
    await world.clock.advance(1_000);
    return world.job(name);
  };

  test('cannot say more than a worker says, steer a terminal, or have its word taken over the status', async () => {
    const pods = Array.from({ length: 300 }, (_, k) => ({ pod: `p-${k}`, phase: 'Failed', lastLine: 'x', exitCode: k % 256 }));
    await end(
      'sum',
      JSON.stringify([
        ...pods,
        { pod: '\u001b[2Jp', phase: 'Failed', lastLine: '\u202eboom', exitCode: 7, tail: true },
        { pod: 'q', phase: 'Complete' },
      ]),
    );
    const job = await over('sum');
    expect(job.status).toMatchObject({ failed: 1 });
    expect(readLastFailure(job)).toMatchObject({ pod: ' [2Jp', exitCode: 7, lastLine: ' boom' });
    expect(job.metadata.annotations?.[LAST_FAILURE_ANNOTATION]?.length).toBeLessThan(1_000);
    const [record] = await history.query({ limit: 1 });
    expect((await history.podsOf(record!.uid))[0]?.pods.length).toBeLessThanOrEqual(60);
  });

  test('that says too much, or nothing that can be read, harms nobody', async () => {
    await end('long', JSON.stringify([{ pod: 'p', phase: 'Failed', message: 'x'.repeat(100_000) }]));
    expect(readLastFailure(await over('long'))).toBeUndefined();
    await end('wrong', '[{"pod":');
    expect(readLastFailure(await over('wrong'))).toBeUndefined();
  });

  test('cannot have anything kept but the tails of pods that it names, and no bomb unpacked', async () => {
    const text = JSON.stringify(['a', 'b', 'c'].map((pod) => ({ pod, phase: 'Failed', tail: true })));
    const copy = await end('sum', text, async ({ metadata: { uid } }) => {
      const tails = { a: gzipSync('kept\n'), b: gzipSync(Buffer.alloc(50_000_000)), c: Buffer.from('no gzip'), foreign: gzipSync('x') };
      const binaryData = Object.fromEntries(Object.entries(tails).map(([pod, tail]) => [pod, tail.toString('base64')]));
      await world.client('east').create(CONFIG_MAPS, { metadata: { name: logTailsName(uid), namespace: 'kube-system' }, binaryData });
    });
    await over('sum');
    const [record] = await history.query({ limit: 1 });
    const kept = await Promise.all(['a', 'b', 'c', 'foreign'].map((pod) => history.tail(record!.uid, copy.metadata.uid, pod)));
    expect(kept).toEqual(['kept\n', undefined, undefined, undefined]);
    expect(manager.line.sent.filter(({ resource }) => resource === 'configmaps')).toHaveLength(1);
  });
});
