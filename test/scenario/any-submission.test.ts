/** Whatever BullMQ lets a producer put on the queue settles: against a real Redis, with BullMQ's own clients. */
import { singleRedis } from '../../manager/submission/redis-settings.ts';
import { FlowProducer, Queue, QueueEvents, Worker, type Job } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectBullmqQueue } from '../../manager/submission/bullmq-queue.ts';
import type { Acceptance, Outcome, Submission, SubmissionQueue, SubmissionRef } from '../../manager/submission/submission-queue.ts';
import { submissionKey } from '../../shared/api/submission-key.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';

const NAME = 'submissions';
const done = (succeeded: number): Outcome => ({
  kind: 'Completed',
  result: { namespace: 'team', name: 'sum', uid: 'u', succeeded, failed: 0 },
});
const failed = (reason: string): Outcome => ({ kind: 'Failed', failure: { reason, message: 'it did not work' } });
const running = (submission: Submission, attempt = 1): Acceptance => ({
  job: { namespace: 'team', name: `job-${attempt}` },
  uid: uidOf(submission.key, attempt),
  attempt,
  outcome: undefined,
});
const uidOf = (key: string, attempt = 1): string => `uid-of-${key}-${attempt}`;
const refOf = ({ id = '', timestamp: submittedAt }: Job): SubmissionRef => ({ key: submissionKey({ id, submittedAt }), id, submittedAt });

let redis: TestRedis;
let connection: { readonly url: string; readonly maxRetriesPerRequest: null };
let queue: SubmissionQueue;
let users: Queue;
let events: QueueEvents;
let stop: AbortController;
let consuming: Promise<void>[];
let seen: Submission[];

beforeAll(async () => {
  redis = await startRedis();
  connection = { url: redis.url, maxRetriesPerRequest: null };
});
afterAll(() => redis.stop());
beforeEach(async () => {
  users = new Queue(NAME, { connection });
  events = new QueueEvents(NAME, { connection });
  queue = connectBullmqQueue({
    redis: singleRedis(redis.url),
    name: NAME,
    prefix: 'bull',
    concurrency: 5,
    clock: systemClock,
    log: silentLogger,
  });
  stop = new AbortController();
  consuming = [];
  seen = [];
  await events.waitUntilReady();
});
afterEach(async () => {
  stop.abort();
  await Promise.all(consuming);
  await Promise.all([queue.close(), users.close(), events.close()]);
  await redis.wipe();
});

const consume = (accept: (submission: Submission) => Acceptance | Promise<Acceptance> = running): void => {
  const noting = async (submission: Submission): Promise<Acceptance> => {
    seen.push(submission);
    return accept(submission);
  };
  consuming.push(queue.consume(noting, stop.signal));
};
const finish = (job: Job, outcome: Outcome, attempt = 1): Promise<void> =>
  queue.finish(refOf(job), outcome, uidOf(refOf(job).key, attempt));
const isParked = async (job: Job): Promise<void> => {
  await expect.poll(() => job.getState(), { timeout: 5_000 }).toBe('delayed');
};
/** Its Job runs, then ends. */
async function settles(job: Job, succeeded: number): Promise<void> {
  const result: Promise<unknown> = job.waitUntilFinished(events, 10_000);
  await isParked(job);
  await finish(job, done(succeeded));
  expect(await result).toMatchObject({ succeeded });
}
async function parkedKeys(): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of queue.parked()) keys.push(...page.map(({ ref }) => ref.key));
  return keys.toSorted();
}

describe('settles', () => {
  test('an id with colons', async () => {
    consume();
    await settles(await users.add('sum', {}, { jobId: 'team:nightly:7' }), 1);
    await expect.poll(parkedKeys).toEqual([]);
  });

  test('what a scheduler of BullMQ makes, again and again', async () => {
    consume();
    const first = await users.upsertJobScheduler('nightly', { every: 500 }, { name: 'sum', data: {} });
    await expect.poll(() => seen.map(({ id }) => id), { timeout: 10_000 }).toContain(first?.id);
    await expect.poll(() => seen.length, { timeout: 10_000 }).toBeGreaterThan(1);
    await users.removeJobScheduler('nightly');
    for (const { id } of seen.slice(0, 2)) {
      expect(id).toMatch(/^repeat:nightly:\d+$/);
      const job = (await users.getJob(id)) as Job;
      await settles(job, 2);
    }
  });

  test('what was delayed, prioritized, or put there in bulk', async () => {
    consume();
    const delayed = await users.add('sum', {}, { delay: 300 });
    const bulk = await users.addBulk([1, 2, 3].map((priority) => ({ name: 'sum', data: {}, opts: { priority } })));
    await expect.poll(() => seen.length, { timeout: 5_000 }).toBe(4);
    for (const [index, job] of [delayed, ...bulk].entries()) await settles(job, index);
    expect(seen.map(({ priority }) => priority).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
  });

  test('a child and a parent in flows of its submitter', async () => {
    consume();
    const flows = new FlowProducer({ connection });
    const steps = new Worker('steps', async () => 'ready', { connection });
    const parent = await flows.add({
      name: 'sum',
      queueName: NAME,
      opts: { jobId: 'flow:of:mine' },
      children: [{ name: 'step', queueName: 'steps' }],
    });
    await settles(parent.job, 5);
    const outer = await flows.add({
      name: 'report',
      queueName: 'steps',
      children: [{ name: 'sum', queueName: NAME, opts: { jobId: 'child:of:mine' } }],
    });
    const child = outer.children?.[0]?.job as Job;
    await settles(child, 6);
    await expect.poll(() => outer.job.getState(), { timeout: 5_000 }).toBe('completed');
    expect(Object.values(await outer.job.getChildrenValues())).toMatchObject([{ succeeded: 6 }]);
    await Promise.all([steps.close(), flows.close()]);
  });
});

describe('a submission whose Job has ended', () => {
  test('does not wait behind what is not looked at yet', async () => {
    const gate = Promise.withResolvers<void>();
    consume(async (submission) => {
      if (submission.name === 'backlog') await gate.promise;
      return running(submission);
    });
    const urgent = await users.add('sum', {}, { jobId: 'not-urgent' });
    const prioritized = await users.add('sum', {}, { jobId: 'of-priority', priority: 9 });
    await Promise.all([isParked(urgent), isParked(prioritized)]);
    // All hands but one are busy, and there is more to do.
    await users.addBulk(Array.from({ length: 4 }, () => ({ name: 'backlog', data: {} })));
    await expect.poll(() => seen.length).toBe(6);
    await users.addBulk(Array.from({ length: 50 }, () => ({ name: 'next', data: {} })));
    await users.addBulk(Array.from({ length: 50 }, () => ({ name: 'last', data: {}, opts: { priority: 1 } })));
    const results = [urgent, prioritized].map((job) => job.waitUntilFinished(events, 10_000));
    await Promise.all([finish(urgent, done(1)), finish(prioritized, done(2))]);
    expect(await Promise.all(results)).toMatchObject([{ succeeded: 1 }, { succeeded: 2 }]);
    gate.resolve();
    await expect.poll(() => seen.length, { timeout: 10_000 }).toBe(106);
  });

  test('and that somebody retries is handed out with what was delivered', async () => {
    consume((submission) => running(submission, (submission.delivered?.attempt ?? 0) + 1));
    const job = await users.add('sum', {}, { jobId: 'again' });
    await isParked(job);
    const first = job.waitUntilFinished(events, 10_000);
    const rejected = expect(first).rejects.toThrow('BackoffLimitExceeded: it did not work');
    await finish(job, failed('BackoffLimitExceeded'));
    await rejected;
    await expect.poll(parkedKeys).toEqual([]);
    await job.retry('failed', { resetAttemptsMade: true });
    await isParked(job);
    const { timestamp: submittedAt } = job;
    expect(seen.at(-1)).toMatchObject({ attemptsMade: 0, delivered: { attempt: 1, submittedAt, attemptsMade: 0 } });
    // That the first attempt is told of again does not end the second.
    await finish(job, failed('BackoffLimitExceeded'));
    await finish(job, done(2), 2);
    expect(await job.waitUntilFinished(events, 10_000)).toMatchObject({ succeeded: 2 });
  });

  test('is tried again by BullMQ as often as its submitter asked for, when it asked for that', async () => {
    consume((submission) => running(submission, submission.attemptsMade + 1));
    const [once, thrice] = await Promise.all([
      users.add('sum', {}, { jobId: 'once', attempts: 3 }),
      users.add('sum', { options: { retry: true } }, { jobId: 'thrice', attempts: 3 }),
    ]);
    const rejected = [once, thrice].map((job) => expect(job.waitUntilFinished(events, 10_000)).rejects.toThrow('DeadlineExceeded'));
    await isParked(once);
    await finish(once, failed('DeadlineExceeded'));
    for (const attempt of [1, 2, 3]) {
      await expect.poll(() => seen.filter(({ id }) => id === 'thrice').length, { timeout: 5_000 }).toBe(attempt);
      await isParked(thrice);
      await finish(thrice, failed('DeadlineExceeded'), attempt);
    }
    await Promise.all(rejected);
    expect(seen.filter(({ id }) => id === 'once')).toHaveLength(1);
    expect(seen.filter(({ id }) => id === 'thrice').at(-1)).toMatchObject({ attemptsMade: 2, delivered: { attempt: 2 } });
  });

  test('is not tried again when somebody deleted the Job', async () => {
    consume();
    const job = await users.add('sum', { options: { retry: true } }, { attempts: 3 });
    const rejected = expect(job.waitUntilFinished(events, 10_000)).rejects.toThrow('JobDeleted');
    await isParked(job);
    await finish(job, failed('JobDeleted'));
    await rejected;
    expect(seen).toHaveLength(1);
  });

  test('and whose outcome BullMQ took although that was not noted is known as retried by its attempts', async () => {
    const client = new Redis(redis.url);
    consume((submission) => running(submission, submission.attemptsMade + 1));
    const job = await users.add('sum', {}, { jobId: 'unnoted' });
    await isParked(job);
    const record = await client.hget('switchyard:{shared}:parked', 'unnoted');
    const rejected = expect(job.waitUntilFinished(events, 10_000)).rejects.toThrow('Evicted');
    await finish(job, failed('Evicted'));
    await rejected;
    await expect.poll(parkedKeys).toEqual([]);
    // As a manager leaves it that is killed between the two.
    await client.hset('switchyard:{shared}:parked', 'unnoted', record ?? '');
    await client.del('switchyard:{shared}:delivered:unnoted');
    await job.retry();
    await isParked(job);
    expect(seen.at(-1)).toMatchObject({ attemptsMade: 1, delivered: { attempt: 1, attemptsMade: 0 } });
    await finish(job, done(1), 2);
    expect(await job.waitUntilFinished(events, 10_000)).toMatchObject({ succeeded: 1 });
    client.disconnect();
  });

  test('is forgotten by a sweep that finds it ended', async () => {
    const client = new Redis(redis.url);
    consume();
    const job = await users.add('sum', {}, { jobId: 'left' });
    await isParked(job);
    const record = await client.hget('switchyard:{shared}:parked', 'left');
    await finish(job, done(1));
    await job.waitUntilFinished(events, 10_000);
    await expect.poll(parkedKeys).toEqual([]);
    await client.hset('switchyard:{shared}:parked', 'left', record ?? '');
    await finish(job, done(1));
    expect(await parkedKeys()).toEqual([]);
    client.disconnect();
  });
});

test('what the version before has parked is taken over, also where BullMQ cannot wake it', async () => {
  const accept = (submission: Submission): Acceptance => ({ ...running(submission), uid: submission.parked?.uid ?? 'made anew' });
  const jobs = await users.addBulk(['plain', 'with:two:colons', 'ended'].map((jobId) => ({ name: 'sum', data: {}, opts: { jobId } })));
  const gates = new Queue(`${NAME}-gates`, { connection });
  const before = new Worker(NAME, undefined, { connection });
  for (const job of jobs) {
    const taken = (await before.getNextJob('token')) as Job;
    const ref = { id: taken.id, submittedAt: taken.timestamp };
    const parent = { id: taken.id ?? '', queue: taken.queueQualifiedName };
    const parked = { ref, job: { namespace: 'team', name: 'old' }, uid: `uid-of-${taken.id}-1` };
    await gates.add('gate', parked, { jobId: `g-${ref.submittedAt}-${ref.id}`.replaceAll(':', '_'), delay: 1e9, parent });
    await taken.moveToWaitingChildren('token');
    expect(await job.getState()).not.toBe('delayed');
  }
  const client = new Redis(redis.url);
  const ended = jobs[2] as Job;
  await client.set(`switchyard:outcome:${NAME}:${ended.timestamp}:ended`, JSON.stringify(done(9)));
  const results = jobs.map((job) => job.waitUntilFinished(events, 10_000) as Promise<unknown>);
  consume(accept);
  for (const job of jobs.slice(0, 2)) {
    await isParked(job);
    await finish(job, done(1));
  }
  expect(await Promise.all(results)).toMatchObject([{ succeeded: 1 }, { succeeded: 1 }, { succeeded: 9 }]);
  expect(new Set(seen.map(({ parked }) => parked?.job.name))).toEqual(new Set(['old']));
  expect(await client.keys(`bull:${NAME}-gates*`)).toEqual([]);
  client.disconnect();
  await Promise.all([gates.close(), before.close()]);
});
