/**
 * Goal: other controllers hold or refuse the admission of a Job, for which quota is reserved meanwhile; what they say counts for that
 * reservation alone.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { EVENTS, JOBS } from '../../shared/api/resources.ts';
import { restingAfter } from '../support/jobs.ts';
import { conditionOf, createAdmissionWorld, NAMESPACE, type AdmissionWorld } from './admission-world.ts';
import { createWholeWorld } from './whole-world.ts';

const SECOND = 1_000;
let world: AdmissionWorld;
beforeEach(async () => {
  world = await createAdmissionWorld();
  await world.flavor('default');
  await world.flavor('spot');
  await world.cluster('eu-1');
});
afterEach(() => world.close());

const checked = (checks: readonly object[], spec: object = {}) =>
  world.queue('main', { cpu: '1', spec: { admissionChecksStrategy: { admissionChecks: checks }, ...spec } });
const told = async (name: string) => conditionOf(await world.getJob(name), 'QuotaReserved');
const checkOn = async (name: string, check: string) => conditionOf(await world.getJob(name), check);
/** As a controller of a check does that has seen that it is asked. */
async function say(name: string, check: string, status: 'True' | 'False', reason: string, message = ''): Promise<void> {
  const lastTransitionTime = new Date(world.clock.now()).toISOString();
  const conditions = [{ type: check, status, reason, message, lastTransitionTime }];
  const key = { namespace: NAMESPACE, name };
  await world.client.patchStatus(JOBS, key, { type: 'strategic', body: { status: { conditions } } });
  await world.settle(2 * SECOND);
}
/** As dispatch does, which leaves what checks say as it is. */
async function rest(name: string): Promise<void> {
  const record = await world.record(name);
  if (record === undefined) throw new Error(`Job ${name} was never admitted`);
  const key = { namespace: NAMESPACE, name };
  await world.client.patchStatus(JOBS, key, { type: 'strategic', body: { status: { conditions: [restingAfter(record)] } } });
}
const submit = async (name: string, options = {}): Promise<void> => {
  await world.job(name, options);
  await world.settle(3 * SECOND);
};

describe('in a queue with two checks', () => {
  beforeEach(() => checked([{ name: 'budget' }, { name: 'licence' }], { admissionChecksTimeout: '10m' }));

  test('a Job holds its quota while they are asked, and is admitted once both have said yes', async () => {
    await submit('a');
    await submit('b', { annotations: { 'switchyard.dev/priority': '-1' } });
    expect(await world.running()).toEqual([]);
    expect((await world.getJob('a')).spec.suspend).toBe(true);
    expect(await world.record('a')).toMatchObject({ evicted: true, checks: ['budget', 'licence'], cluster: 'eu-1' });
    expect(await told('a')).toMatchObject({
      status: 'False',
      reason: 'AdmissionChecksPending',
      message: 'quota is reserved in cluster queue main and room on cluster eu-1; waits for admission checks: budget, licence',
    });
    expect((await told('b'))?.reason).toBe('InsufficientQuota');
    expect(await checkOn('a', 'budget')).toMatchObject({ status: 'Unknown', reason: 'Pending' });
    await say('a', 'budget', 'True', 'Ready');
    expect(await world.running()).toEqual([]);
    await say('a', 'licence', 'True', 'Ready');
    expect(await world.running()).toEqual(['a']);
    const record = await world.record('a');
    expect(record).not.toHaveProperty('checks');
    expect(record).not.toHaveProperty('evicted');
  });

  test('the reservation outlives the manager, and what is said meanwhile is heard by the next one', async () => {
    await submit('a');
    await world.stop();
    for (const check of ['budget', 'licence']) await say('a', check, 'True', 'Ready');
    expect(await world.running()).toEqual([]);
    await world.restart();
    await world.settle(SECOND);
    expect(await world.running()).toEqual(['a']);
  });

  test('a check that wants another try sends the Job behind those that wait, and is asked anew when it is its turn', async () => {
    await submit('a');
    await submit('b');
    await say('a', 'licence', 'True', 'Ready');
    await say('a', 'budget', 'False', 'Retry', 'no money before Monday');
    await rest('a');
    await world.settle(3 * SECOND);
    expect(await world.record('b')).toMatchObject({ checks: ['budget', 'licence'] });
    expect(await world.record('a')).not.toHaveProperty('checks');
    const { items } = await world.client.list(EVENTS);
    expect(items).toContainEqual(
      expect.objectContaining({ reason: 'Evicted', message: 'admission check budget wants another try: no money before Monday' }),
    );
    await world.remove('b');
    await world.settle(3 * SECOND);
    expect(await world.record('a')).toMatchObject({ checks: ['budget', 'licence'] });
    // What was said of the first reservation does not count for this one.
    for (const check of ['budget', 'licence']) expect(await checkOn('a', check)).toMatchObject({ status: 'Unknown' });
    for (const check of ['budget', 'licence']) await say('a', check, 'True', 'Ready');
    expect(await world.running()).toEqual(['a']);
  });

  test('a check that rejects a Job gives its quota to others, and keeps it out until it says something else', async () => {
    await submit('a');
    await submit('b');
    await say('a', 'budget', 'False', 'Rejected', 'not for this team');
    await rest('a');
    await world.settle(15 * SECOND);
    expect(await told('a')).toMatchObject({
      reason: 'AdmissionCheckRejected',
      message: 'admission check budget rejected it: not for this team; it waits until that check says something else',
    });
    expect(await world.record('b')).toMatchObject({ checks: ['budget', 'licence'] });
    await world.remove('b');
    await world.settle(60 * SECOND);
    await world.restart();
    await world.settle(60 * SECOND);
    expect(await world.record('a')).not.toHaveProperty('checks');
    await say('a', 'budget', 'False', 'Retry');
    await world.settle(3 * SECOND);
    expect(await world.record('a')).toMatchObject({ checks: ['budget', 'licence'] });
  });

  test('a reservation ends when its checks are not ready in time', async () => {
    await submit('a');
    await submit('b');
    await world.settle(9 * 60 * SECOND);
    expect(await world.record('a')).toHaveProperty('checks');
    await world.settle(60 * SECOND);
    await rest('a');
    await world.settle(3 * SECOND);
    expect(await world.record('b')).toHaveProperty('checks');
    expect(await world.metric('switchyard_evicted_workloads_total', { reason: 'AdmissionCheck' })).toBe(1);
  });

  test('whoever holds a Job, or stops its queue, ends its reservation', async () => {
    await submit('a');
    const admissionChecks = [{ name: 'budget' }];
    await world.queue('other', { cpu: '1', spec: { admissionChecksStrategy: { admissionChecks } } });
    await submit('b', { queue: 'other' });
    await world.client.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body: { spec: { stopPolicy: 'Hold' } } });
    await world.settle(3 * SECOND);
    expect(await world.record('a')).not.toHaveProperty('checks');
    expect(await world.record('b')).toHaveProperty('checks');
    const body = { metadata: { annotations: { 'switchyard.dev/hold': 'true' } } };
    await world.client.patch(JOBS, { namespace: NAMESPACE, name: 'b' }, { type: 'merge', body });
    await world.settle(3 * SECOND);
    expect(await world.record('b')).not.toHaveProperty('checks');
  });

  test('a user who releases a reserved Job is suspended again', async () => {
    await submit('a');
    await world.client.patch(JOBS, { namespace: NAMESPACE, name: 'a' }, { type: 'merge', body: { spec: { suspend: false } } });
    await world.settle(3 * SECOND);
    expect((await world.getJob('a')).spec.suspend).toBe(true);
    expect(await world.running()).toEqual([]);
  });
});

test('a check of one flavor is not asked of Jobs that use another', async () => {
  await checked([{ name: 'spot-market', onFlavors: ['spot'] }]);
  await submit('a');
  expect(await world.running()).toEqual(['a']);
});

test('on a real cluster: the word of a check stays while the Job runs, and a worker cluster has none', async () => {
  const whole = await createWholeWorld({
    clusters: ['eu-1'],
  });
  const jobs = { namespace: NAMESPACE, name: 'sum' };
  const says = async (status: string, reason: string): Promise<void> => {
    const lastTransitionTime = new Date(whole.clock.now()).toISOString();
    const conditions = [{ type: 'budget', status, reason, message: '', lastTransitionTime }];
    await whole.home.patchStatus(JOBS, jobs, { type: 'strategic', body: { status: { conditions } } });
    await whole.clock.advance(5 * SECOND);
  };
  const statusOf = async () => conditionOf(await whole.job('sum'), 'budget')?.status;
  try {
    const spec = { admissionChecksStrategy: { admissionChecks: [{ name: 'budget' }] } };
    await whole.home.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body: { spec } });
    whole.startWorker('eu-1', 'worker');
    whole.startManager('manager');
    await whole.clock.advance(3 * SECOND);
    await whole.submit('sum', { seconds: 60 });
    await whole.clock.advance(5 * SECOND);
    expect(await statusOf()).toBe('Unknown');
    expect(await whole.jobsOn('eu-1')).toEqual([]);
    await says('False', 'Retry');
    // It is reserved anew, and asked anew.
    expect(await statusOf()).toBe('Unknown');
    await says('True', 'Ready');
    expect(await whole.podsOn('eu-1')).toHaveLength(1);
    const forged = [{ type: 'budget', status: 'False', reason: 'Rejected', lastTransitionTime: '2030-01-01T00:00:00Z' }];
    await whole.client('eu-1').patchStatus(JOBS, jobs, { type: 'strategic', body: { status: { conditions: forged } } });
    await whole.clock.advance(10 * SECOND);
    expect(await statusOf()).toBe('True');
    await whole.clock.advance(90 * SECOND);
    const job = await whole.job('sum');
    expect(job.status).toMatchObject({ succeeded: 1 });
    expect(conditionOf(job, 'budget')?.status).toBe('True');
  } finally {
    await whole.close();
  }
});
