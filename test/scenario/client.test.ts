/** The package `switchyard/client`, against a queue as the manager serves it on a real Redis. */
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Job as BullJob, type Job } from 'bullmq';
import type { SubmissionProgress } from '../../shared/api/submission-progress.ts';
import { connect, type Client } from '../../shared/client/client.ts';
import { SubmissionRefused } from '../../manager/submission/submission-queue.ts';
import { QUEUE_NAME, done, failed, refOf, startQueue, type QueueUnderTest } from '../support/queue-under-test.ts';

const MANIFEST = { apiVersion: 'batch/v1', kind: 'Job', metadata: { generateName: 'sum-' } };

let world: QueueUnderTest;
let client: Client;
beforeAll(async () => {
  world = await startQueue(50);
});
afterAll(() => world.close());
beforeEach(() => {
  client = connect({ redis: world.redis.url, queue: QUEUE_NAME });
});
afterEach(async () => {
  await client.close();
  await world.renew();
});

const submission = async (key: string): Promise<Job> => (await world.users.getJob(key)) as Job;
async function parked(key: string): Promise<Job> {
  const job = await submission(key);
  await world.isParked(job);
  return job;
}

describe('a submission', () => {
  test('resolves with the result of its Job', async () => {
    world.consume();
    const key = await client.submit(MANIFEST);
    const result = client.wait(key);
    await world.finish(await parked(key), done(3));
    expect(await result).toMatchObject({ succeeded: 3 });
    // Whoever comes later hears the same.
    expect(await client.wait(key)).toMatchObject({ succeeded: 3 });
  });

  test('rejects with the class of its code', async () => {
    world.consume(async ({ id, ...submitted }) => {
      if (id === 'refused') throw new SubmissionRefused('Forbidden', 'metadata.namespace: is not of this queue');
      return { job: { namespace: 'team', name: 'sum' }, uid: 'u', outcome: failed(String(submitted.name)) };
    });
    await client.submitMany([
      { manifest: MANIFEST, options: { key: 'refused' } },
      { manifest: MANIFEST, options: { key: 'failing', name: 'DeadlineExceeded' } },
    ]);
    await expect(client.wait('refused')).rejects.toMatchObject({ code: 'Forbidden', message: 'metadata.namespace: is not of this queue' });
    await expect(client.wait('failing')).rejects.toMatchObject({ code: 'Failed', reason: 'DeadlineExceeded' });
    await expect(client.wait('nobody')).rejects.toMatchObject({ code: 'Failed', reason: 'NotFound' });
  });

  test('under a key that is taken is the same one, or a conflict', async () => {
    await client.submit(MANIFEST, { key: 'nightly' });
    expect(await client.submit({ metadata: { generateName: 'sum-' }, kind: 'Job', apiVersion: 'batch/v1' }, { key: 'nightly' })).toBe(
      'nightly',
    );
    await expect(client.submit({ ...MANIFEST, spec: {} }, { key: 'nightly' })).rejects.toMatchObject({ code: 'Conflict', key: 'nightly' });
    await expect(client.submit(MANIFEST, { key: '17' })).rejects.toMatchObject({ code: 'Invalid' });
    expect(await world.users.getJobCountByTypes('waiting')).toBe(1);
  });

  test('that ends while it is looked at shows why it failed', async () => {
    world.consume();
    const key = await client.submit(MANIFEST);
    const job = await parked(key);
    const asked = vi.spyOn(BullJob.prototype, 'getState').mockImplementationOnce(async function endFirst(this: Job) {
      await world.finish(job, failed('DeadlineExceeded'));
      await expect(client.wait(key)).rejects.toMatchObject({ reason: 'DeadlineExceeded' });
      return this.getState();
    });
    try {
      expect(await client.look(key)).toMatchObject({
        state: 'Failed',
        failedReason: expect.stringContaining('DeadlineExceeded') as string,
      });
    } finally {
      asked.mockRestore();
    }
  });

  test('that takes too long is not waited for, and goes on', async () => {
    world.consume();
    const key = await client.submit(MANIFEST);
    await expect(client.wait(key, { timeout: 50 })).rejects.toMatchObject({ code: 'TimedOut', key });
    const stop = new AbortController();
    const waiting = client.wait(key, { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await world.finish(await parked(key), done(1));
    expect(await client.wait(key)).toMatchObject({ succeeded: 1 });
  });

  test('is cancelled', async () => {
    world.consume();
    const key = await client.submit(MANIFEST);
    const end = expect(client.wait(key)).rejects.toMatchObject({ code: 'Cancelled' });
    await parked(key);
    expect(await client.cancel(key)).toEqual({ cancelled: true, state: 'delayed' });
    await end;
    expect(world.withdrawn).toHaveLength(1);
    expect(await client.cancel('nobody')).toEqual({ cancelled: false, state: 'unknown' });
  });

  test('that nobody serves is not cancelled yet', async () => {
    const key = await client.submit(MANIFEST);
    await expect(client.cancel(key, { timeout: 50 })).rejects.toMatchObject({ code: 'TimedOut' });
  });

  test('that is removed is cancelled', async () => {
    world.consume();
    const key = await client.submit(MANIFEST);
    const job = await parked(key);
    const end = expect(client.wait(key)).rejects.toMatchObject({ code: 'Cancelled' });
    // The test, the manager and the client read the events.
    const redis = new Redis(world.redis.url);
    await expect.poll(async () => String(await redis.client('LIST')).match(/ cmd=xread /g)?.length).toBe(3);
    redis.disconnect();
    await job.remove();
    await end;
  });

  test('by an id that BullMQ counted is another after the queue was wiped', async () => {
    world.consume();
    const job = await world.users.add('sum', { manifest: MANIFEST });
    await world.isParked(job);
    await world.finish(job, done(1));
    expect(await client.wait(refOf(job).key)).toMatchObject({ succeeded: 1 });
    await expect(client.wait(`${job.id}@5`)).rejects.toMatchObject({ reason: 'NotFound' });
  });

  test('tells how it gets on until it ends', async () => {
    world.consume();
    const key = await client.submit(MANIFEST);
    const job = await parked(key);
    const numbers = { active: 0, succeeded: 0, failed: 0 };
    await world.queue.report(refOf(job), { phase: 'Queued', ...numbers });
    const seen: SubmissionProgress[] = [];
    const following = (async () => {
      for await (const progress of client.progress(key)) seen.push(progress);
    })();
    await expect.poll(() => seen.length).toBe(1);
    await world.queue.report(refOf(job), { phase: 'Running', cluster: 'west', ...numbers, active: 1 });
    await expect.poll(() => seen.length).toBe(2);
    await world.finish(job, done(1));
    await following;
    expect(seen.map(({ phase }) => phase)).toEqual(['Queued', 'Running']);
    expect((await client.logs(key)).map((line) => line.split(' ').slice(1).join(' '))).toEqual(['Queued', 'Running on west']);
  });
});

test('connects without cutting the stream of events for the others', async () => {
  world.consume();
  await client.submit(MANIFEST);
  const redis = new Redis(world.redis.url);
  await redis.hset(`bull:${QUEUE_NAME}:meta`, 'opts.maxLenEvents', 777_777);
  const another = connect({ redis: world.redis.url, queue: QUEUE_NAME });
  await another.submit(MANIFEST);
  expect(await redis.hget(`bull:${QUEUE_NAME}:meta`, 'opts.maxLenEvents')).not.toBe('10000');
  await another.close();
  redis.disconnect();
});

test('waits for thousands, and hears of those, too, whose events were cut', { timeout: 120_000 }, async () => {
  world.consume();
  const count = 1_500;
  const keys = await client.submitMany(Array.from({ length: count }, () => ({ manifest: MANIFEST })));
  await expect.poll(() => world.users.getDelayedCount(), { timeout: 60_000, interval: 200 }).toBe(count);
  const results = keys.map((key) => client.wait(key));
  const jobs = await Promise.all(keys.map(submission));
  // Redis forgets the events behind the client's back, again and again.
  const redis = new Redis(world.redis.url);
  for (let start = 0; start < count; start += 100) {
    await Promise.all(jobs.slice(start, start + 100).map((job, index) => world.finish(job, done(start + index))));
    await redis.xtrim(`bull:${QUEUE_NAME}:events`, 'MAXLEN', 0);
  }
  expect((await Promise.all(results)).map(({ succeeded }) => succeeded)).toEqual(keys.map((_, index) => index));
  redis.disconnect();
});

test('a crash of Redis delays what is asked of the client, and nothing is lost', { timeout: 60_000 }, async () => {
  world.consume();
  const states: string[] = [];
  const patient = connect({ redis: world.redis.url, queue: QUEUE_NAME, onConnection: (state) => states.push(state) });
  const key = await patient.submit(MANIFEST);
  const job = await parked(key);
  const result = patient.wait(key);
  await world.redis.crash();
  await expect.poll(() => states).toEqual(['Lost']);
  const later = patient.submit(MANIFEST, { key: 'later' });
  await world.redis.restart();
  expect(await later).toBe('later');
  await world.finish(job, done(1));
  expect(await result).toMatchObject({ succeeded: 1 });
  expect(states).toEqual(['Lost', 'Regained']);
  await patient.close();
});
