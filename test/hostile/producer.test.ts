/** Somebody who may put submissions on the queue, and puts there what no manager can use: each waiter hears of it, and the others go on. */
import { Queue, QueueEvents, type Job as Submission } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_JOB_RULES } from '../../manager/api/job-rules.ts';
import { connectBullmqQueue } from '../../manager/submission/bullmq-queue.ts';
import { singleRedis } from '../../manager/submission/redis-settings.ts';
import type { SubmissionQueue } from '../../manager/submission/submission-queue.ts';
import { QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { createDispatchWorld, NAMESPACE, type DispatchWorld } from '../scenario/dispatch-world.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { sourceOf } from '../support/submission-source.ts';

const NAME = 'switchyard-submissions';
const manifest = (metadata: object = {}, spec: object = {}, pod: object = {}): object => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { namespace: NAMESPACE, labels: { [QUEUE_NAME_LABEL]: 'main' }, ...metadata },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }], ...pod } }, ...spec },
});
const requesting = (requests: object): object => ({ containers: [{ name: 'main', image: 'busybox', resources: { requests } }] });

let redis: TestRedis;
let queue: SubmissionQueue;
let producer: Queue;
let events: QueueEvents;
let world: DispatchWorld;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

beforeEach(async () => {
  const connection = { url: redis.url, maxRetriesPerRequest: null };
  producer = new Queue(NAME, { connection });
  events = new QueueEvents(NAME, { connection });
  await events.waitUntilReady();
  // One at a time: whoever is in the way is in everybody's way.
  queue = connectBullmqQueue({
    redis: singleRedis(redis.url),
    name: NAME,
    prefix: 'bull',
    concurrency: 1,
    clock: systemClock,
    log: silentLogger,
  });
  world = await createDispatchWorld({ workers: ['eu-1'], realTime: true, submissions: sourceOf(queue) });
});
afterEach(async () => {
  await world.close();
  await redis.wipe();
  await Promise.all([queue.close(), producer.close(), events.close()]);
});

/** Why a submission was refused; it is refused at its first delivery. */
async function refusalOf(submission: Submission): Promise<string> {
  const outcome: unknown = await submission.waitUntilFinished(events).catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(Error);
  return outcome instanceof Error ? outcome.message : '';
}
/** Resolves when an ordinary submission has become a Job that runs. */
async function othersGoOn(): Promise<void> {
  await producer.add('honest', { manifest: manifest({ name: 'honest' }) });
  while ((await world.worker('eu-1').copy('honest')) === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('a submission that nobody can use is refused with the reason, and the next one becomes a Job', () => {
  const deep = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
  test.each<[string, unknown, RegExp]>([
    ['of 20 MB', { manifest: manifest({ annotations: { filler: 'x'.repeat(20_000_000) } }) }, /has \d+ bytes, and at most 524288 are read/],
    [
      'of more than a Job may have, and less than is read',
      { manifest: manifest({}, {}, { containers: [{ name: 'main', image: 'busybox', args: ['x'.repeat(300_000)] }] }) },
      /job: has 30\d+ bytes as JSON, and at most 262144 are taken; move scripts/,
    ],
    ['that nests a hundred levels deep', { manifest: { ...manifest(), spec: deep(100) } }, /nests more than 64 levels deep/],
    [
      'for a namespace without a name',
      { manifest: manifest({ namespace: '' }) },
      /metadata\.namespace: is "", which no namespace is called/,
    ],
    ['for a namespace that is a path', { manifest: manifest({ namespace: '../..' }) }, /metadata\.namespace: is "\.\.\/\.\."/],
    ['whose containers are a word', { manifest: manifest({}, {}, { containers: 'main' }) }, /containers: must be a list of objects/],
    ['for a billion pods', { manifest: manifest({}, { parallelism: 1e9 }) }, /spec\.parallelism: /],
    [
      'of pods that ask for 1e400 cpu',
      { manifest: manifest({}, {}, requesting({ cpu: '1e400' })) },
      /asks for more cpu than can be counted/,
    ],
    ['of pods that ask for "much" cpu', { manifest: manifest({}, {}, requesting({ cpu: 'much' })) }, /quantities must match/],
  ])('%s', async (_what, data, reason) => {
    const submission = await producer.add('poison', data);
    expect(await refusalOf(submission)).toMatch(reason);
    await othersGoOn();
    expect((await world.home.list(JOBS)).items.map(({ metadata }) => metadata.name)).toEqual(['honest']);
  });

  test.each<[string, string, RegExp]>([
    ['whose text nests a million levels deep', '['.repeat(250_000), /nests more than 64 levels deep/],
    ['whose text is no JSON', '{"manifest":', /is not JSON/],
  ])('%s', async (_what, text, reason) => {
    const connection = new Redis(redis.url);
    await producer.pause();
    const submission = await producer.add('poison', {});
    await connection.hset(`bull:${NAME}:${submission.id}`, 'data', text);
    connection.disconnect();
    await producer.resume();
    expect(await refusalOf(submission)).toMatch(reason);
    await othersGoOn();
  });

  // What the ledger could not read again made Jobs, and held a turn of all tenants, for ever.
  test.each([
    ['timestamp', 'x', /timestamp: is NaN, and must be a whole number/],
    ['timestamp', '-1', /timestamp: is -1, and must be a whole number/],
    ['atm', 'x', /attemptsMade: is NaN, and must be a whole number/],
    ['atm', '-7', /attemptsMade: is -7, and must be a whole number/],
  ])('whose %s somebody has made %s', async (field, text, reason) => {
    const connection = new Redis(redis.url);
    await producer.pause();
    const submission = await producer.add('poison', { manifest: manifest() });
    await connection.hset(`bull:${NAME}:${submission.id}`, field, text);
    connection.disconnect();
    await producer.resume();
    expect(await refusalOf(submission)).toMatch(reason);
    await othersGoOn();
    expect((await world.home.list(JOBS)).items.map(({ metadata }) => metadata.name)).toEqual(['honest']);
  });

  test('with an id of 100,000 characters', async () => {
    const submission = await producer.add('poison', { manifest: manifest() }, { jobId: 'x'.repeat(100_000) });
    expect(await refusalOf(submission)).toMatch(/id of the submission has 100000 characters, and at most 1024 are taken/);
    await othersGoOn();
  });
});

test('of a submission that is too large nothing is read but its length, however often it comes', async () => {
  expect(DEFAULT_JOB_RULES.bytesMax).toBe(262_144);
  const submissions = await Promise.all(
    Array.from({ length: 20 }, () => producer.add('poison', { manifest: manifest({ annotations: { filler: 'x'.repeat(5_000_000) } }) })),
  );
  for (const submission of submissions) expect(await refusalOf(submission)).toMatch(/at most 524288 are read/);
  await othersGoOn();
});
