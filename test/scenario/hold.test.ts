/**
 * Goal: whoever holds a Job has it rest, for as long as he likes: its pods end, its quota goes to others, nobody undoes it, and it resumes
 * in place.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { HOLD_ANNOTATION } from '../../shared/api/names.ts';
import { EVENTS, JOBS } from '../../shared/api/resources.ts';
import { conditionOf, createAdmissionWorld, NAMESPACE, type AdmissionWorld } from './admission-world.ts';
import { createWholeWorld } from './whole-world.ts';

const hold = (value: 'true' | 'false' | null): object => ({ metadata: { annotations: { [HOLD_ANNOTATION]: value } } });

describe('in a queue with room for one', () => {
  let world: AdmissionWorld;
  beforeEach(async () => {
    world = await createAdmissionWorld();
    await world.flavor('default');
    await world.queue('main', { cpu: '1' });
    await world.cluster('eu-1');
  });
  afterEach(() => world.close());

  const patch = (name: string, body: object) => world.client.patch(JOBS, { namespace: NAMESPACE, name }, { type: 'merge', body });
  const told = async (name: string) => conditionOf(await world.getJob(name), 'QuotaReserved');
  const holdOn = async (name: string): Promise<string | undefined> => (await world.getJob(name)).metadata.annotations?.[HOLD_ANNOTATION];

  test('a waiting Job that is held is not admitted, says how to release it, and takes its old place when it is released', async () => {
    await world.job('running');
    await world.settle(1_000);
    for (const name of ['first', 'second', 'third']) await world.job(name);
    await patch('first', hold('true'));
    await world.settle(3_000);
    expect(await told('first')).toMatchObject({
      status: 'False',
      reason: 'Held',
      message: 'held by annotation switchyard.dev/hold; to release it: kubectl annotate job -n team first switchyard.dev/hold-',
    });
    await world.finish('running');
    await world.settle(3_000);
    expect(await world.running()).toEqual(['second']);
    await patch('first', hold(null));
    await world.settle(3_000);
    await world.finish('second');
    await world.settle(3_000);
    expect(await world.running()).toEqual(['first']);
  });

  test.each([
    ['by its annotation', hold('true')],
    ['by suspending it', { spec: { suspend: true } }],
  ])('a running Job that is held %s keeps its quota until it is at rest, and gives it back then', async (_how, body) => {
    await world.job('a');
    await world.settle(1_000);
    await world.job('b');
    await patch('a', body);
    await world.settle(30_000);
    expect(await world.running()).toEqual([]);
    expect(await holdOn('a')).toBe('true');
    await world.rest('a');
    await world.settle(600_000);
    expect(await world.running()).toEqual(['b']);
    expect((await told('a'))?.reason).toBe('Held');
  });

  test.each([
    ['taken off', null],
    ['false', 'false'],
  ] as const)('a suspended Job is released when its annotation is %s, and may be held again', async (_what, value) => {
    await world.job('a');
    for (let round = 0; round < 2; round++) {
      await world.settle(1_000);
      expect(await world.running()).toEqual(['a']);
      expect(await holdOn('a')).toBeUndefined();
      await patch('a', { spec: { suspend: true } });
      await world.settle(1_000);
      await world.rest('a');
      await world.settle(60_000);
      expect(await world.running()).toEqual([]);
      await patch('a', hold(value));
    }
    await world.settle(1_000);
    expect(await world.running()).toEqual(['a']);
    expect(await world.record('a')).toMatchObject({ epoch: 1 });
  });

  test('a Job that is suspended and says that it is not to be held is admitted anew', async () => {
    await world.job('a');
    await world.settle(1_000);
    await patch('a', { ...hold('false'), spec: { suspend: true } });
    await world.settle(1_000);
    expect(await world.running()).toEqual([]);
    await world.rest('a');
    await world.settle(1_000);
    expect(await world.running()).toEqual(['a']);
  });

  test.each([
    ['has run', true],
    ['has never run', false],
  ])(
    'a held Job that %s and that somebody resumes is suspended again, and says that it is held and how to release it',
    async (_how, hasRun) => {
      if (!hasRun) await world.job('running');
      await world.job('a');
      await world.settle(1_000);
      await patch('a', hold('true'));
      await world.settle(1_000);
      if (hasRun) await world.rest('a');
      await world.settle(1_000);
      expect((await told('a'))?.reason).toBe('Held');
      await patch('a', { spec: { suspend: false } });
      await world.settle(1_000);
      expect(await world.running()).not.toContain('a');
      expect(await told('a')).toMatchObject({ status: 'False', reason: 'Held' });
      expect((await told('a'))?.message).toMatch(
        /held by annotation switchyard.dev\/hold; to release it: kubectl annotate job -n team a switchyard.dev\/hold-/,
      );
      const events = (await world.client.list(EVENTS, { namespace: 'team' })).items.filter(
        ({ involvedObject }) => involvedObject.name === 'a',
      );
      expect(events.map(({ reason }) => reason)).not.toContain('RecordNotTrusted');
      expect(events.map(({ message }) => message)).toContainEqual(
        expect.stringMatching(/^suspended again: .*; it is held by annotation switchyard.dev\/hold; to release it: kubectl annotate/),
      );
    },
  );

  test('a hold outlives the manager', async () => {
    await world.job('a');
    await world.settle(1_000);
    await patch('a', { spec: { suspend: true } });
    await world.settle(1_000);
    await world.rest('a');
    await world.restart();
    await world.settle(60_000);
    expect(await world.running()).toEqual([]);
    await world.stop();
    await patch('a', hold('false'));
    await world.restart();
    await world.settle(3_000);
    expect(await world.running()).toEqual(['a']);
  });

  test('a Job that is suspended while no manager runs is held by the next one', async () => {
    await world.job('a');
    await world.settle(1_000);
    await world.stop();
    await patch('a', { spec: { suspend: true } });
    await world.restart();
    await world.settle(1_000);
    await world.rest('a');
    await world.settle(60_000);
    expect(await world.running()).toEqual([]);
    expect((await told('a'))?.reason).toBe('Held');
  });

  test('a Job that the manager suspends itself is not held', async () => {
    await world.job('a');
    await world.settle(1_000);
    const setStop = (stopPolicy: 'None' | 'HoldAndDrain') =>
      world.client.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body: { spec: { stopPolicy } } });
    await setStop('HoldAndDrain');
    await world.settle(1_000);
    await world.rest('a');
    await setStop('None');
    await world.settle(3_000);
    expect(await world.running()).toEqual(['a']);
  });

  test('a hold that cannot be read keeps a Job waiting, and it says so', async () => {
    await world.job('running');
    await world.job('a');
    await world.settle(1_000);
    await patch('a', { metadata: { annotations: { [HOLD_ANNOTATION]: 'yes' } } });
    await world.settle(3_000);
    expect(await told('a')).toMatchObject({
      reason: 'InvalidJob',
      message: 'annotation switchyard.dev/hold is "yes"; it must be "true" or "false", or be removed',
    });
  });
});

test('a running Job that somebody suspends rests until it is released, and goes on with the indexes that it had not completed', async () => {
  const world = await createWholeWorld({
    clusters: ['eu-1'],
  });
  const podsOf = async (name: string) =>
    (await world.podsOn('eu-1')).filter(
      ({ metadata, status }) => metadata.labels?.['job-name'] === name && !['Succeeded', 'Failed'].includes(status?.phase ?? ''),
    );
  const patch = (name: string, body: object) => world.home.patch(JOBS, { namespace: NAMESPACE, name }, { type: 'merge', body });
  try {
    const flavors = [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: '1' }] }];
    const spec = { resourceGroups: [{ coveredResources: ['cpu'], flavors }] };
    await world.home.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body: { spec } });
    world.startWorker('eu-1', 'worker');
    world.startManager('manager');
    await world.clock.advance(3_000);
    await world.submit('long', { cpu: '1', seconds: 60, spec: { completionMode: 'Indexed', completions: 3, parallelism: 1 } });
    await world.clock.advance(90_000);
    expect((await world.job('long')).status?.completedIndexes).toBe('0');
    const { uid } = (await world.jobsOn('eu-1'))[0]?.metadata ?? {};
    await world.submit('waiting', { cpu: '1', annotations: { [HOLD_ANNOTATION]: 'true' } });
    await world.submit('other', { cpu: '1', seconds: 300 });
    await patch('long', { spec: { suspend: true } });
    for (let minute = 0; minute < 10; minute++) {
      await world.clock.advance(60_000);
      expect((await world.job('long')).spec.suspend).toBe(true);
      expect(await podsOf('long')).toEqual([]);
    }
    expect((await world.job('other')).status?.succeeded).toBe(1);
    await patch('long', hold(null));
    await world.clock.advance(5_000);
    const [copy] = await world.jobsOn('eu-1');
    expect(copy?.metadata.uid).toBe(uid);
    expect((await podsOf('long')).map(({ metadata }) => metadata.labels?.['batch.kubernetes.io/job-completion-index'])).toEqual(['1']);
    await world.clock.advance(180_000);
    expect((await world.job('long')).status).toMatchObject({ succeeded: 3, completedIndexes: '0-2' });
    expect((await world.job('waiting')).spec.suspend).toBe(true);
  } finally {
    await world.close();
  }
});

test.each([0, 10, 100, 500, 1_000])(
  'a Job that is held again %i ms after it was released does not fail, uses up no tries, and goes on',
  async (ms) => {
    const world = await createWholeWorld({ clusters: ['eu-1'] });
    const patch = (body: object) => world.home.patch(JOBS, { namespace: NAMESPACE, name: 'wide' }, { type: 'merge', body });
    try {
      world.startWorker('eu-1', 'worker', { qps: 20 });
      world.startManager('manager');
      await world.clock.advance(3_000);
      const completions = 40;
      await world.submit('wide', {
        seconds: 60,
        spec: { completionMode: 'Indexed', completions, parallelism: completions, backoffLimit: 0 },
      });
      await world.clock.advance(20_000);
      await patch({ spec: { suspend: true } });
      await world.clock.advance(60_000);
      const [before] = await world.jobsOn('eu-1');
      await patch(hold(null));
      await world.clock.advance(ms);
      await patch(hold('true'));
      await world.clock.advance(60_000);
      const held = await world.job('wide');
      expect(held.status?.failed).toBeUndefined();
      expect(conditionOf(held, 'Dispatched')).toMatchObject({ status: 'False', reason: 'AtRest' });
      expect((await world.jobsOn('eu-1'))[0]?.metadata.uid).toBe(before?.metadata.uid);
      expect(await world.podsOn('eu-1')).toEqual([]);
      await patch(hold(null));
      await world.clock.advance(180_000);
      expect((await world.job('wide')).status).toMatchObject({ succeeded: completions });
    } finally {
      await world.close();
    }
  },
);
