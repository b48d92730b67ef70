/** Whatever BullMQ lets a producer put on the queue settles: against a real Redis, with BullMQ's own clients. */
import { FlowProducer, Worker, type Job } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { SubmissionRefused } from '../../manager/submission/submission-queue.ts';
import { MARKS, QUEUE_NAME, done, failed, running, startQueue, type QueueUnderTest } from '../support/queue-under-test.ts';

let world: QueueUnderTest;

beforeAll(async () => {
  world = await startQueue();
});
afterAll(() => world.close());
afterEach(() => world.renew());

/** Its Job runs, then ends. */
async function settles(job: Job, succeeded: number): Promise<void> {
  const result: Promise<unknown> = job.waitUntilFinished(world.events, 40_000);
  await world.isParked(job);
  await world.finish(job, done(succeeded));
  expect(await result).toMatchObject({ succeeded });
}

describe('settles', () => {
  test('an id with colons', async () => {
    world.consume();
    await settles(await world.users.add('sum', {}, { jobId: 'team:nightly:7' }), 1);
    await expect.poll(world.parkedKeys).toEqual([]);
  });

  test('what a scheduler of BullMQ makes, again and again', async () => {
    world.consume();
    const first = await world.users.upsertJobScheduler('nightly', { every: 500 }, { name: 'sum', data: {} });
    await expect.poll(() => world.seen.map(({ id }) => id)).toContain(first?.id);
    await expect.poll(() => world.seen.length).toBeGreaterThan(1);
    await world.users.removeJobScheduler('nightly');
    for (const { id } of world.seen.slice(0, 2)) {
      expect(id).toMatch(/^repeat:nightly:\d+$/);
      const job = (await world.users.getJob(id)) as Job;
      await settles(job, 2);
    }
  });

  test('what was delayed, prioritized, or put there in bulk', async () => {
    world.consume();
    const delayed = await world.users.add('sum', {}, { delay: 300 });
    const bulk = await world.users.addBulk([1, 2, 3].map((priority) => ({ name: 'sum', data: {}, opts: { priority } })));
    await expect.poll(() => world.seen.length).toBe(4);
    for (const [index, job] of [delayed, ...bulk].entries()) await settles(job, index);
    expect(world.seen.map(({ priority }) => priority).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
  });

  test('a child and a parent in flows of its submitter', async () => {
    world.consume();
    const flows = new FlowProducer({ connection: world.connection });
    const steps = new Worker('steps', async () => 'ready', { connection: world.connection });
    const parent = await flows.add({
      name: 'sum',
      queueName: QUEUE_NAME,
      opts: { jobId: 'flow:of:mine' },
      children: [{ name: 'step', queueName: 'steps' }],
    });
    await settles(parent.job, 5);
    const outer = await flows.add({
      name: 'report',
      queueName: 'steps',
      children: [{ name: 'sum', queueName: QUEUE_NAME, opts: { jobId: 'child:of:mine' } }],
    });
    const child = outer.children?.[0]?.job as Job;
    await settles(child, 6);
    await expect.poll(() => outer.job.getState()).toBe('completed');
    expect(Object.values(await outer.job.getChildrenValues())).toMatchObject([{ succeeded: 6 }]);
    await Promise.all([steps.close(), flows.close()]);
  });
});

describe('a submission whose Job has ended', () => {
  test('does not wait behind what is not looked at yet', async () => {
    const gate = Promise.withResolvers<void>();
    world.consume(async (submission) => {
      if (submission.name === 'backlog') await gate.promise;
      return running(submission);
    });
    const urgent = await world.users.add('sum', {}, { jobId: 'not-urgent' });
    const prioritized = await world.users.add('sum', {}, { jobId: 'of-priority', priority: 9 });
    await Promise.all([world.isParked(urgent), world.isParked(prioritized)]);
    // All hands but one are busy, and there is more to do.
    await world.users.addBulk(Array.from({ length: 4 }, () => ({ name: 'backlog', data: {} })));
    await expect.poll(() => world.seen.length).toBe(6);
    await world.users.addBulk(Array.from({ length: 50 }, () => ({ name: 'next', data: {} })));
    await world.users.addBulk(Array.from({ length: 50 }, () => ({ name: 'last', data: {}, opts: { priority: 1 } })));
    const results = [urgent, prioritized].map((job) => job.waitUntilFinished(world.events, 40_000));
    await Promise.all([world.finish(urgent, done(1)), world.finish(prioritized, done(2))]);
    expect(await Promise.all(results)).toMatchObject([{ succeeded: 1 }, { succeeded: 2 }]);
    gate.resolve();
    await expect.poll(() => world.seen.length).toBe(106);
  });

  test('and that somebody retries is handed out with what was delivered', async () => {
    world.consume((submission) => running(submission, (submission.delivered?.attempt ?? 0) + 1));
    const job = await world.users.add('sum', {}, { jobId: 'again' });
    await world.isParked(job);
    const first = job.waitUntilFinished(world.events, 40_000);
    const rejected = expect(first).rejects.toThrow('BackoffLimitExceeded: it did not work');
    await world.finish(job, failed('BackoffLimitExceeded'));
    await rejected;
    await expect.poll(world.parkedKeys).toEqual([]);
    await job.retry('failed', { resetAttemptsMade: true });
    await world.isParked(job);
    const { timestamp: submittedAt } = job;
    expect(world.seen.at(-1)).toMatchObject({ attemptsMade: 0, delivered: { attempt: 1, submittedAt, attemptsMade: 0 } });
    // That the first attempt is told of again does not end the second.
    await world.finish(job, failed('BackoffLimitExceeded'));
    await world.finish(job, done(2), 2);
    expect(await job.waitUntilFinished(world.events, 40_000)).toMatchObject({ succeeded: 2 });
  });

  test('is tried again by BullMQ as often as its submitter asked for, when it asked for that', async () => {
    world.consume((submission) => running(submission, submission.attemptsMade + 1));
    const [once, thrice] = await Promise.all([
      world.users.add('sum', {}, { jobId: 'once', attempts: 3 }),
      world.users.add('sum', { options: { retry: true } }, { jobId: 'thrice', attempts: 3 }),
    ]);
    const rejected = [once, thrice].map((job) => expect(job.waitUntilFinished(world.events, 40_000)).rejects.toThrow('DeadlineExceeded'));
    await world.isParked(once);
    await world.finish(once, failed('DeadlineExceeded'));
    for (const attempt of [1, 2, 3]) {
      await expect.poll(() => world.seen.filter(({ id }) => id === 'thrice').length).toBe(attempt);
      await world.isParked(thrice);
      await world.finish(thrice, failed('DeadlineExceeded'), attempt);
    }
    await Promise.all(rejected);
    expect(world.seen.filter(({ id }) => id === 'once')).toHaveLength(1);
    expect(world.seen.filter(({ id }) => id === 'thrice').at(-1)).toMatchObject({ attemptsMade: 2, delivered: { attempt: 2 } });
  });

  test('is not tried again when somebody deleted the Job', async () => {
    world.consume();
    const job = await world.users.add('sum', { options: { retry: true } }, { attempts: 3 });
    const rejected = expect(job.waitUntilFinished(world.events, 40_000)).rejects.toThrow('JobDeleted');
    await world.isParked(job);
    await world.finish(job, failed('JobDeleted'));
    await rejected;
    expect(world.seen).toHaveLength(1);
  });

  test('and whose outcome BullMQ took although that was not noted is known as retried by its attempts', async () => {
    const client = new Redis(world.redis.url);
    world.consume((submission) => running(submission, submission.attemptsMade + 1));
    const job = await world.users.add('sum', {}, { jobId: 'unnoted' });
    await world.isParked(job);
    const record = await client.hget(`${MARKS}parked`, 'unnoted');
    const rejected = expect(job.waitUntilFinished(world.events, 40_000)).rejects.toThrow('Evicted');
    await world.finish(job, failed('Evicted'));
    await rejected;
    await expect.poll(world.parkedKeys).toEqual([]);
    // As a manager leaves it that is killed between the two.
    await client.hset(`${MARKS}parked`, 'unnoted', record ?? '');
    await client.del(`${MARKS}delivered:unnoted`);
    await job.retry();
    await world.isParked(job);
    expect(world.seen.at(-1)).toMatchObject({ attemptsMade: 1, delivered: { attempt: 1, attemptsMade: 0 } });
    await world.finish(job, done(1), 2);
    expect(await job.waitUntilFinished(world.events, 40_000)).toMatchObject({ succeeded: 1 });
    client.disconnect();
  });

  test('and that is refused when it looks again waits for nothing any more, and another under its key is left alone', async () => {
    let refuses = false;
    world.consume((submission) => {
      if (refuses) throw new SubmissionRefused('Conflict', 'the key was used for another payload');
      return running(submission);
    });
    const redis = new Redis(world.redis.url);
    const [job, other] = await world.users.addBulk(['again', 'other'].map((jobId) => ({ name: 'sum', data: {}, opts: { jobId } })));
    if (job === undefined || other === undefined) throw new Error('both are there');
    await Promise.all([world.isParked(job), world.isParked(other)]);
    refuses = true;
    // What is parked under the other's key was put on the queue at another time.
    const record = JSON.parse((await redis.hget(`${MARKS}parked`, 'other')) ?? '') as { ref: object };
    await redis.hset(`${MARKS}parked`, 'other', JSON.stringify({ ...record, ref: { ...record.ref, submittedAt: 1 } }));
    const rejected = [job, other].map((each) => expect(each.waitUntilFinished(world.events, 40_000)).rejects.toThrow('Conflict: '));
    await Promise.all([job.promote(), other.promote()]);
    await Promise.all(rejected);
    await expect.poll(world.parkedKeys).toEqual(['other']);
    redis.disconnect();
  });

  test('is forgotten by a sweep that finds it ended', async () => {
    const client = new Redis(world.redis.url);
    world.consume();
    const job = await world.users.add('sum', {}, { jobId: 'left' });
    await world.isParked(job);
    const record = await client.hget(`${MARKS}parked`, 'left');
    await world.finish(job, done(1));
    await job.waitUntilFinished(world.events, 40_000);
    await expect.poll(world.parkedKeys).toEqual([]);
    await client.hset(`${MARKS}parked`, 'left', record ?? '');
    await world.finish(job, done(1));
    expect(await world.parkedKeys()).toEqual([]);
    client.disconnect();
  });
});
