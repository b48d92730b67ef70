/**
 * Goal: a key has one Job, whatever Redis forgets and whenever managers die: with a real Redis, BullMQ's own clients and whole managers.
 */
import { Queue, QueueEvents, type Job as Submission, type JobsOptions } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectBullmqQueue } from '../../manager/submission/bullmq-queue.ts';
import { singleRedis } from '../../manager/submission/redis-settings.ts';
import type { Job } from '../../shared/api/kubernetes.ts';
import { CLUSTERS_ANNOTATION, LEDGER_LABEL, QUEUE_NAME_LABEL, SUBMISSION_ATTEMPT_ANNOTATION } from '../../shared/api/names.ts';
import { CONFIG_MAPS, JOBS } from '../../shared/api/resources.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { testTenant } from '../support/submission-source.ts';
import { createDispatchWorld, NAMESPACE, type DispatchWorld, type WorkerSide } from './dispatch-world.ts';

const NAME = 'switchyard-submissions';
const manifest = (parts: object = {}, clusters = 'eu-1'): object => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { namespace: NAMESPACE, labels: { [QUEUE_NAME_LABEL]: 'main' }, annotations: { [CLUSTERS_ANNOTATION]: clusters } },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } }, ...parts },
});

let redis: TestRedis;
let users: Queue;
let events: QueueEvents;
let world: DispatchWorld;
let eu: WorkerSide;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
beforeEach(async () => {
  const connection = { url: redis.url, maxRetriesPerRequest: null };
  users = new Queue(NAME, { connection });
  events = new QueueEvents(NAME, { connection });
  users.on('error', () => undefined); // Redis is wiped on purpose.
  events.on('error', () => undefined);
  await events.waitUntilReady();
  const connect = () =>
    connectBullmqQueue({
      redis: singleRedis(redis.url),
      name: NAME,
      prefix: 'bull',
      concurrency: 10,
      clock: systemClock,
      log: silentLogger,
    });
  world = await createDispatchWorld({ workers: ['eu-1'], realTime: true, submissions: { shared: testTenant(), connect } });
  eu = world.worker('eu-1');
});
afterEach(async () => {
  world.homeLine.instead = undefined;
  await world.close();
  await Promise.all([users.close(), events.close()]);
  await redis.wipe();
});

const jobs = async (): Promise<Job[]> => (await world.home.list(JOBS)).items;
const names = async (): Promise<string[]> => (await jobs()).map(({ metadata }) => metadata.name).toSorted();
const until = (what: () => Promise<unknown>): Promise<void> => expect.poll(what, { timeout: 15_000, interval: 30 }).toBe(true);
const submit = (jobId: string, data: object = { manifest: manifest() }, options: JobsOptions = {}): Promise<Submission> =>
  users.add('sum', data, { jobId, ...options });
const end = (submission: Submission): Promise<string> =>
  submission.waitUntilFinished(events, 15_000).then(
    (value: unknown) => `completed: ${(value as { readonly name: string }).name}`,
    (error: Error) => error.message,
  );
const parked = (submission: Submission): Promise<void> => until(async () => (await submission.getState()) === 'delayed');
async function started(count = 1): Promise<string[]> {
  await until(async () => (await eu.client.list(JOBS)).items.length >= count);
  const copies = (await eu.client.list(JOBS)).items.map(({ metadata }) => metadata.name);
  for (const name of copies) await eu.start(name);
  return copies;
}
async function fails(name: string): Promise<void> {
  const condition = (type: string) => ({
    type,
    status: 'True',
    reason: 'BackoffLimitExceeded',
    message: 'too often',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  await eu.report(name, { active: 0, failed: 1, conditions: [condition('FailureTarget'), condition('Failed')] });
}
/** All that is in Redis, to be had back. */
async function copyOfRedis(): Promise<{ restore(): Promise<void> }> {
  const client = new Redis(redis.url);
  const keys = await client.keys('*');
  const kept = await Promise.all(keys.map(async (key) => [key, await client.dumpBuffer(key)] as const));
  return {
    async restore() {
      await client.flushall();
      for (const [key, value] of kept) if (value !== null) await client.restore(key, 0, value);
      client.disconnect();
    },
  };
}

describe('a key', () => {
  test('keeps its Job when Redis loses all while that runs, and whoever submits again hears how it ends', async () => {
    await parked(await submit('nightly:of:7'));
    const [name = ''] = await started();
    await redis.wipe();
    const again = await submit('nightly:of:7');
    const heard = end(again);
    await parked(again);
    await eu.complete(name);
    expect(await heard).toBe(`completed: ${name}`);
    expect(await names()).toEqual([name]);
  });

  test('is told its first result after Redis lost all and its Job is gone, and another payload is a conflict', async () => {
    const first = await submit('nightly');
    const heard = end(first);
    const [name = ''] = await started();
    await eu.complete(name);
    expect(await heard).toBe(`completed: ${name}`);
    await world.home.delete(JOBS, { namespace: NAMESPACE, name }, { propagationPolicy: 'Background' });
    await until(async () => (await names()).length === 0);
    await redis.wipe();
    await world.stop();
    await world.start();
    expect(await end(await submit('nightly', { manifest: manifest({ backoffLimit: 1 }) }))).toMatch(/^Conflict: .*team\//);
    await redis.wipe();
    expect(await end(await submit('nightly'))).toBe(`completed: ${name}`);
    expect(await names()).toEqual([]);
  });

  test('has one Job when Redis comes back as it was before the submission was taken', async () => {
    await world.stop();
    await users.addBulk(
      [1, 2, 3].map((priority) => ({ name: 'sum', data: { manifest: manifest() }, opts: { jobId: `bulk:of:${priority}`, priority } })),
    );
    await submit('later', { manifest: manifest() }, { delay: 100 });
    const copy = await copyOfRedis();
    await world.start();
    await until(async () => (await names()).length === 4);
    const made = await names();
    await world.stop();
    await copy.restore();
    await world.start();
    const all = (await Promise.all([1, 2, 3].map((index) => users.getJob(`bulk:of:${index}`)))) as Submission[];
    const later = (await users.getJob('later')) as Submission;
    for (const submission of [...all, later]) await parked(submission);
    await until(async () => (await users.getDelayedCount()) === 4);
    expect(await names()).toEqual(made);
  });

  test('has another attempt when it is retried, and no third when it is submitted again', async () => {
    const submission = await submit('flaky');
    const first = end(submission);
    const [name = ''] = await started();
    await fails(name);
    expect(await first).toMatch(/^BackoffLimitExceeded: /);
    await until(async () => (await users.getFailedCount()) === 1);
    await until(async () => (await eu.client.list(JOBS)).items.length === 0);
    await submission.retry();
    const second = end(submission);
    const [next = ''] = await started();
    expect(next).not.toBe(name);
    await eu.complete(next);
    expect(await second).toBe(`completed: ${next}`);
    await redis.wipe();
    expect(await end(await submit('flaky'))).toBe(`completed: ${next}`);
    expect(new Set((await jobs()).map(({ metadata }) => metadata.annotations?.[SUBMISSION_ATTEMPT_ANNOTATION]))).toEqual(
      new Set(['1', '2']),
    );
    expect(await names()).toHaveLength(2);
  });

  test('is tried as often by BullMQ as its submitter asked for, each time with a Job of its own', async () => {
    const submission = await submit('thrice', { manifest: manifest(), options: { retry: true } }, { attempts: 2 });
    const heard = end(submission);
    for (let attempt = 1; attempt <= 2; attempt++) {
      await until(async () => (await names()).length === attempt);
      const job = (await jobs()).find(({ metadata }) => metadata.annotations?.[SUBMISSION_ATTEMPT_ANNOTATION] === String(attempt));
      const name = job?.metadata.name ?? '';
      await until(async () => (await eu.copy(name)) !== undefined);
      await eu.start(name);
      await fails(name);
    }
    expect(await heard).toMatch(/^BackoffLimitExceeded: /);
    expect(await names()).toHaveLength(2);
  });
});

describe('a manager that dies', () => {
  const failure = {
    status: 503,
    headers: {},
    body: JSON.stringify({ kind: 'Status', code: 503, reason: 'ServiceUnavailable', message: 'not now' }),
  };
  const chunks = async () => (await world.home.list(CONFIG_MAPS, { namespace: 'switchyard', labelSelector: LEDGER_LABEL })).items;

  test('between intent and Job leaves the Job to the next', async () => {
    world.homeLine.instead = ({ method, path }) =>
      method === 'POST' && path.startsWith(`/apis/batch/v1/namespaces/${NAMESPACE}/jobs`) ? failure : undefined;
    await submit('cut-short');
    await until(async () => (await chunks()).length === 1);
    expect(await names()).toEqual([]);
    await world.stop();
    world.homeLine.instead = undefined;
    await world.start();
    await until(async () => (await names()).length === 1);
  });

  test('between Job and mark leaves a Job that the next takes for its own', async () => {
    world.homeLine.instead = ({ method, path }) => (method === 'PATCH' && path.includes('/configmaps/') ? failure : undefined);
    const submission = await submit('unmarked');
    await parked(submission);
    await world.stop();
    await redis.wipe();
    world.homeLine.instead = undefined;
    expect(JSON.stringify((await chunks())[0]?.data)).toContain('\\"I\\"');
    await world.start();
    const again = await submit('unmarked');
    await parked(again);
    expect(await names()).toHaveLength(1);
    await until(async () => JSON.stringify((await chunks())[0]?.data).includes('\\"C\\"'));
  });

  test.each(['while no manager is there', 'while it still lives'])(
    'between Job and mark, and whose Job somebody deletes %s, has the next tell that and make none',
    async (when) => {
      world.homeLine.instead = ({ method, path }) => (method === 'PATCH' && path.includes('/configmaps/') ? failure : undefined);
      const waits = { manifest: manifest({}, 'nowhere') };
      const lost = await submit('deleted', waits);
      await parked(lost);
      const [name = ''] = await names();
      const remove = (): Promise<void> => world.home.delete(JOBS, { namespace: NAMESPACE, name }, { propagationPolicy: 'Background' });
      if (when === 'while it still lives') {
        await remove();
        await until(async () => (await jobs()).every(({ metadata }) => metadata.deletionTimestamp !== undefined));
      }
      await world.stop();
      if (when === 'while no manager is there') await remove();
      await redis.wipe();
      world.homeLine.instead = undefined;
      await world.start();
      const again = await submit('deleted', waits);
      expect(await end(again)).toMatch(/^JobDeleted: /);
      await until(async () => (await names()).length === 0);
    },
  );
});
