/**
 * Somebody who may write whatever the queue of one tenant, and even the manager's own marks, consist of, and names there a Job that is not
 * theirs.
 */
import { Registry } from 'prom-client';
import { Redis } from 'ioredis';
import { Queue } from 'bullmq';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectBullmqQueue } from '../../manager/submission/bullmq-queue.ts';
import { singleRedis } from '../../manager/submission/redis-settings.ts';
import { QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { JOBS, NAMESPACES } from '../../shared/api/resources.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { createDispatchWorld, NAMESPACE, type DispatchWorld } from '../scenario/dispatch-world.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { sourceOf } from '../support/submission-source.ts';

const NAME = 'switchyard-submissions';
const MARKS = `switchyard:{shared}:bull:${NAME}:parked`;
const LIMIT_MS = 60_000;
const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } };

let redis: TestRedis;
let writer: Redis;
let producer: Queue;
let world: DispatchWorld;

beforeAll(async () => {
  redis = await startRedis();
}, LIMIT_MS);
afterAll(() => redis.stop());
beforeEach(async () => {
  writer = new Redis(redis.url);
  producer = new Queue(NAME, { connection: { url: redis.url, maxRetriesPerRequest: null } });
}, LIMIT_MS);
afterEach(async () => {
  await world.close();
  writer.disconnect();
  await producer.close();
  await redis.wipe();
});

async function begin(): Promise<void> {
  const queue = connectBullmqQueue({
    redis: singleRedis(redis.url),
    name: NAME,
    prefix: 'bull',
    concurrency: 5,
    clock: systemClock,
    log: silentLogger,
  });
  world = await createDispatchWorld({ workers: ['eu-1'], realTime: true, registry: new Registry(), submissions: sourceOf(queue) });
}

/** A Job that no submission was made into. */
async function bystander(): Promise<string> {
  await world.home.create(NAMESPACES, { metadata: { name: 'theirs' } });
  const { metadata } = await world.home.create(JOBS, { metadata: { namespace: 'theirs', name: 'bystander' }, spec: { template } } as never);
  return metadata.uid;
}

/** Resolves when an ordinary submission has become a Job, after everything that was on the queue before it. */
async function othersGoOn(): Promise<void> {
  const metadata = { namespace: NAMESPACE, name: 'honest', labels: { [QUEUE_NAME_LABEL]: 'main' } };
  await producer.add('honest', { manifest: { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { template } } });
  await expect.poll(async () => (await world.worker('eu-1').copy('honest')) !== undefined, { timeout: LIMIT_MS }).toBe(true);
}

const BAD_UIDS: readonly [string, (uid: string) => unknown][] = [
  ['its UID', (uid) => uid],
  ['null for a UID', () => null],
  ['a number for a UID', () => 7],
  ['a list for a UID', (uid) => [uid]],
  ['no UID', () => undefined],
  ['an empty UID', () => ''],
];

describe('a Job that is not of the submission is not deleted, where a parked mark names it', () => {
  test.each(BAD_UIDS)('with %s', { timeout: 2 * LIMIT_MS }, async (_what, uidOf) => {
    await begin();
    const uid = await bystander();
    const ref = { key: 'gone', id: 'gone', submittedAt: 1_000 };
    const parked = { ref, job: { namespace: 'theirs', name: 'bystander' }, uid: uidOf(uid), attempt: 1, attemptsMade: 0 };
    await writer.hset(MARKS, 'gone', JSON.stringify(parked));
    // BullMQ writes the same when somebody removes a submission: the manager then looks whose Job is to go.
    await writer.xadd(`bull:${NAME}:events`, '*', 'event', 'removed', 'jobId', 'gone', 'prev', 'delayed');
    await othersGoOn();
    // A record of the right shape has been looked at and forgotten; another is passed over.
    if (uidOf(uid) === uid) await expect.poll(() => writer.hexists(MARKS, 'gone'), { timeout: LIMIT_MS }).toBe(0);
    expect((await world.home.get(JOBS, { namespace: 'theirs', name: 'bystander' })).metadata.uid).toBe(uid);
  });
});

test('a queue of gates is nobody’s instruction: what stands there is not read', { timeout: 2 * LIMIT_MS }, async () => {
  const gates = new Queue(`${NAME}-gates`, { connection: { url: redis.url, maxRetriesPerRequest: null } });
  const ref = { key: 'gone', id: 'gone', submittedAt: 1_000 };
  await gates.add('gate', { ref, job: { namespace: 'theirs', name: 'bystander' }, uid: null }, { delay: 1e9 });
  await begin();
  const uid = await bystander();
  await othersGoOn();
  expect(await writer.hexists(MARKS, 'gone')).toBe(0);
  expect(await gates.getDelayedCount()).toBe(1);
  expect((await world.home.get(JOBS, { namespace: 'theirs', name: 'bystander' })).metadata.uid).toBe(uid);
  await gates.close();
});
