/**
 * Goal: what a Job has finished is not done again when it moves, or when its copy is lost: the new copy starts from it, its failures count
 * on, and no API server refuses a write on the way.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import type { DeepReadonly, Pod } from '../../shared/api/kubernetes.ts';
import { JOB_COMPLETION_INDEX } from '../../shared/api/names.ts';
import { JOBS, PODS } from '../../shared/api/resources.ts';
import { createInformer } from '../../shared/kube/informer.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { createWholeWorld, NAMESPACE, type JobParts, type RunningProgram, type WholeWorld } from './whole-world.ts';

const CLUSTERS = ['eu-1', 'us-2'] as const;
const KEY = { namespace: NAMESPACE, name: 'sum' };

let world: WholeWorld;
let programs: RunningProgram[];
let watching: AbortController;
/** Every pod that there ever was, as it was last seen, by UID. */
let pods: Map<string, { readonly cluster: string; readonly pod: DeepReadonly<Pod> }>;

beforeEach(async () => {
  world = await createWholeWorld({
    clusters: CLUSTERS,
  });
  pods = new Map();
  watching = new AbortController();
  for (const cluster of CLUSTERS) {
    const informer = createInformer({
      client: world.client(cluster),
      resource: PODS,
      clock: world.clock,
      random: () => 0.5,
      log: silentLogger,
    });
    const note = (pod: DeepReadonly<Pod>): void => void pods.set(pod.metadata.uid, { cluster, pod });
    informer.addHandler({ added: note, updated: note });
    void informer.run(watching.signal);
  }
  programs = [world.startManager('manager'), ...CLUSTERS.map((cluster) => world.startWorker(cluster, `worker-${cluster}`))];
  await draining('us-2', true);
  await world.clock.advance(3_000);
});
afterEach(async () => {
  watching.abort(new Error('the test is over'));
  await world.close();
});

const draining = (cluster: string, isDraining: boolean): Promise<unknown> =>
  world.home.patch(
    WORKER_CLUSTERS,
    { namespace: '', name: cluster },
    { type: 'merge', body: { spec: { state: isDraining ? 'Draining' : 'Active' } } },
  );

async function move(): Promise<void> {
  await draining('us-2', false);
  await draining('eu-1', true);
}

async function until(what: string, holds: () => Promise<boolean>, limitSeconds = 600): Promise<void> {
  for (let seconds = 0; seconds < limitSeconds; seconds++) {
    if (await holds()) return;
    await world.clock.advance(1_000);
  }
  throw new Error(`after ${limitSeconds} s this does not hold: ${what}. The Job: ${JSON.stringify(await world.job('sum'))}`);
}

const home = async () => (await world.job('sum')).status ?? {};
const ended = async (): Promise<string | undefined> =>
  (await home()).conditions?.find(({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True')?.type;
const podsOf = (cluster: string, phase?: string): DeepReadonly<Pod>[] =>
  [...pods.values()].flatMap(({ cluster: where, pod }) =>
    where === cluster && (phase === undefined || pod.status?.phase === phase) ? [pod] : [],
  );
const indexesOf = (list: readonly DeepReadonly<Pod>[]): number[] =>
  list.map(({ metadata }) => Number(metadata.annotations?.[JOB_COMPLETION_INDEX])).toSorted((a, b) => a - b);
const writesRefused = (): string[] => programs.flatMap(({ line }) => [...line.invalid, ...line.refused]);
const submit = (spec: object, parts: JobParts = {}): Promise<void> => world.submit('sum', { seconds: 20, spec, ...parts });

describe('a Job that is drained to another cluster when half its work is done', () => {
  test('runs there only the indexes that were not done, and shows all of them in the end', async () => {
    await submit({ completionMode: 'Indexed', completions: 6, parallelism: 2 });
    await until('three indexes are done', async () => ((await home()).succeeded ?? 0) >= 3);
    const done = indexesOf(podsOf('eu-1', 'Succeeded'));
    await move();
    await until('it has ended', async () => (await ended()) !== undefined);
    expect(await home()).toMatchObject({ succeeded: 6, completedIndexes: '0-5' });
    expect(indexesOf([...podsOf('eu-1', 'Succeeded'), ...podsOf('us-2', 'Succeeded')])).toEqual([0, 1, 2, 3, 4, 5]);
    expect(indexesOf(podsOf('us-2')).filter((index) => done.includes(index))).toEqual([]);
    expect(done.length).toBeGreaterThanOrEqual(3);
    expect(writesRefused()).toEqual([]);
  });

  test('without indexes it runs as many pods there as were missing', async () => {
    await submit({ completions: 5, parallelism: 1 });
    await until('two pods are done', async () => (await home()).succeeded === 2);
    await move();
    await until('it has ended', async () => (await ended()) !== undefined);
    expect(await ended()).toBe('Complete');
    expect((await home()).succeeded).toBe(5);
    expect([podsOf('eu-1', 'Succeeded').length, podsOf('us-2').length]).toEqual([2, 3]);
    expect(writesRefused()).toEqual([]);
  });

  test('costs the new cluster a create, a seed and a resumption, and one that moves before anything is done a create alone', async () => {
    const writesTo = (cluster: string): string[] =>
      programs[0]?.line.sent.flatMap((sent) =>
        sent.cluster === cluster && sent.resource.startsWith('batch/') && sent.verb !== 'list' && sent.verb !== 'watch'
          ? [`${sent.verb} ${sent.resource}`]
          : [],
      ) ?? [];
    await submit({ completions: 2, parallelism: 1 });
    await until('it runs', async () => podsOf('eu-1', 'Running').length > 0);
    await move();
    await until('it runs there', async () => podsOf('us-2', 'Running').length > 0);
    expect(writesTo('us-2')).toEqual(['create batch/jobs']);
    await until('a pod is done', async () => (await home()).succeeded === 1);
    const before = writesTo('eu-1').length;
    await draining('eu-1', false);
    await draining('us-2', true);
    await until('it has ended', async () => (await ended()) === 'Complete');
    await world.clock.advance(5_000);
    const calls = writesTo('eu-1').slice(before);
    expect([...new Set(calls)]).toEqual(['create batch/jobs', 'patch batch/jobs/status', 'patch batch/jobs', 'delete batch/jobs']);
    // The seed is tried once more where the Job controller has written that the copy is suspended at the same moment.
    expect(calls.length).toBeLessThanOrEqual(5);
    expect(writesRefused()).toEqual([]);
  });
});

describe('the failures of a Job that moves', () => {
  test('count on against its backoffLimit', async () => {
    await submit({ completions: 1, backoffLimit: 2 }, { exitCode: 3, seconds: 5 });
    await until('two pods have failed', async () => (await home()).failed === 2);
    await move();
    await until('it has ended', async () => (await ended()) !== undefined);
    expect(await ended()).toBe('Failed');
    expect((await home()).failed).toBe(3);
    expect(podsOf('us-2').length).toBe(1);
    expect(writesRefused()).toEqual([]);
  });

  test('of indexes that failed for good stay, and count against maxFailedIndexes', async () => {
    await submit(
      { completionMode: 'Indexed', completions: 4, parallelism: 1, backoffLimitPerIndex: 0, maxFailedIndexes: 2 },
      { exitCode: 1, seconds: 15 },
    );
    await until('two indexes have failed', async () => (await home()).failedIndexes === '0,1' || (await home()).failedIndexes === '0-1');
    await move();
    await until('it has ended', async () => (await ended()) !== undefined);
    const status = await home();
    expect(status.conditions?.find(({ type }) => type === 'Failed')?.reason).toBe('MaxFailedIndexesExceeded');
    expect(indexesOf(podsOf('us-2'))).toEqual([2]);
    expect(status.failed).toBe(3);
    expect(writesRefused()).toEqual([]);
  });
});

test('a Job that needs but one more index by its successPolicy needs but one after a move', async () => {
  const successPolicy = { rules: [{ succeededCount: 3 }] };
  await submit({ completionMode: 'Indexed', completions: 6, parallelism: 1, successPolicy });
  await until('two indexes are done', async () => (await home()).succeeded === 2);
  await move();
  await until('it has ended', async () => (await ended()) !== undefined);
  expect(await home()).toMatchObject({ succeeded: 3 });
  expect(indexesOf(podsOf('us-2'))).toEqual([2]);
  expect(writesRefused()).toEqual([]);
});

describe('an elastic Job that is resized while it is on its way', () => {
  const resize = (size: number): Promise<unknown> =>
    world.home.patch(JOBS, KEY, { type: 'merge', body: { spec: { completions: size, parallelism: size } } });

  beforeEach(async () => {
    await submit({ completionMode: 'Indexed', completions: 3, parallelism: 3 }, { seconds: 20 });
    await until('it runs', async () => podsOf('eu-1', 'Running').length === 3);
    // One is faster than the others.
    const first = podsOf('eu-1').find(({ metadata }) => metadata.annotations?.[JOB_COMPLETION_INDEX] === '0');
    const key = { namespace: NAMESPACE, name: first?.metadata.name ?? '' };
    await world.client('eu-1').patchStatus(PODS, key, { type: 'merge', body: { status: { phase: 'Succeeded' } } });
    await until('index 0 is done', async () => (await home()).completedIndexes === '0');
    await draining('eu-1', true);
    await until('it rests', async () => (await home()).conditions?.some(({ reason }) => reason === 'AtRest') === true);
  });

  test('and has grown runs all indexes but the one that is done', async () => {
    await resize(4);
    await draining('us-2', false);
    await until('it has ended', async () => (await ended()) !== undefined);
    expect(await home()).toMatchObject({ succeeded: 4, completedIndexes: '0-3' });
    expect(indexesOf(podsOf('us-2'))).toEqual([1, 2, 3]);
    expect(writesRefused()).toEqual([]);
  });

  test.each(['eu-1', 'us-2'])('and has shrunk to what is done is complete when it goes on on %s', async (cluster) => {
    await resize(1);
    await world.clock.advance(5_000);
    await draining(cluster, false);
    await until('it has ended', async () => (await ended()) !== undefined);
    expect(await ended()).toBe('Complete');
    expect(await home()).toMatchObject({ succeeded: 1, completedIndexes: '0' });
    expect(podsOf('us-2')).toEqual([]);
    expect(writesRefused()).toEqual([]);
  });
});

test('a Job whose pods ask for more when it goes on where it was keeps its copy, and what that has done', async () => {
  await submit({ completionMode: 'Indexed', completions: 3, parallelism: 1 });
  await until('an index is done', async () => (await home()).completedIndexes === '0');
  const [{ metadata } = { metadata: { uid: 'none' } }] = await world.jobsOn('eu-1');
  await draining('eu-1', true);
  await until('it rests', async () => (await home()).conditions?.some(({ reason }) => reason === 'AtRest') === true);
  const { containers } = (await world.job('sum')).spec.template.spec ?? {};
  const more = containers?.map((container) => ({ ...container, resources: { requests: { cpu: '200m' } } }));
  await world.home.patch(JOBS, KEY, { type: 'merge', body: { spec: { template: { spec: { containers: more } } } } });
  await draining('eu-1', false);
  await until('it runs', async () => podsOf('eu-1', 'Running').length > 0);
  expect((await world.jobsOn('eu-1')).map((copy) => copy.metadata.uid)).toEqual([metadata.uid]);
  await until('it has ended', async () => (await ended()) !== undefined);
  expect(await home()).toMatchObject({ succeeded: 3, completedIndexes: '0-2' });
  expect(indexesOf(podsOf('eu-1', 'Succeeded'))).toEqual([0, 1, 2]);
  expect(writesRefused()).toEqual([]);
});

describe('a work queue of which a pod has succeeded', () => {
  beforeEach(async () => {
    await submit({ parallelism: 2 }, { seconds: 120 });
    await until('it runs', async () => podsOf('eu-1', 'Running').length === 2);
    const [first] = podsOf('eu-1');
    const key = { namespace: NAMESPACE, name: first?.metadata.name ?? '' };
    await world.client('eu-1').patchStatus(PODS, key, { type: 'merge', body: { status: { phase: 'Succeeded' } } });
    await until('that is home', async () => (await home()).succeeded === 1);
    await draining('eu-1', true);
    await until('it is suspended', async () => (await world.job('sum')).spec.suspend === true);
    await world.clock.advance(40_000);
  });

  // There is nothing more to start, upstream says: the other pods were on their way out.
  test.each(['eu-1', 'us-2'])('is complete when it goes on after an eviction on %s, and no pod is run again', async (cluster) => {
    await draining(cluster, false);
    await until('it has ended', async () => (await ended()) !== undefined);
    expect(await ended()).toBe('Complete');
    expect((await home()).succeeded).toBe(1);
    expect([podsOf('eu-1').length, podsOf('us-2').length]).toEqual([2, 0]);
    expect(writesRefused()).toEqual([]);
  });
});

test('a copy that vanishes is made again on its cluster with what was done', async () => {
  await submit({ completionMode: 'Indexed', completions: 4, parallelism: 1 });
  await until('two indexes are done', async () => (await home()).completedIndexes === '0,1' || (await home()).completedIndexes === '0-1');
  await world.client('eu-1').delete(JOBS, KEY, { propagationPolicy: 'Background' });
  await until('it has ended', async () => (await ended()) !== undefined);
  expect(await home()).toMatchObject({ succeeded: 4, completedIndexes: '0-3' });
  expect(indexesOf(podsOf('eu-1', 'Succeeded'))).toEqual([0, 1, 2, 3]);
  expect(podsOf('us-2')).toEqual([]);
  expect(writesRefused()).toEqual([]);
});

test('at no moment does home forget what is done', async () => {
  await submit({ completionMode: 'Indexed', completions: 4, parallelism: 1 });
  const shown: string[] = [];
  const informer = createInformer({ client: world.home, resource: JOBS, clock: world.clock, random: () => 0.5, log: silentLogger });
  informer.addHandler({ updated: ({ status }) => void shown.push(`${status?.succeeded ?? 0} ${status?.completedIndexes ?? ''}`) });
  void informer.run(watching.signal);
  await until('two indexes are done', async () => (await home()).succeeded === 2);
  await move();
  await until('it has ended', async () => (await ended()) !== undefined);
  await world.clock.advance(1_000);
  expect(shown).toEqual(shown.toSorted());
  expect(new Set(shown)).toEqual(new Set(['0 ', '1 0', '2 0,1', '3 0-2', '4 0-3']));
});
