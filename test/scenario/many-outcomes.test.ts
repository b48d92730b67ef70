/** Thousands of submissions that settle while their submitters do not listen. On a real Redis, with BullMQ's own clients. */
import { Queue, QueueEvents, type Job } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { QUEUE_NAME, done, startQueue, type QueueUnderTest } from '../support/queue-under-test.ts';

const COUNT = 8_000;
const LIMIT_MS = 200_000;

let world: QueueUnderTest;
beforeAll(async () => {
  world = await startQueue(50);
});
afterAll(() => world.close());

async function settleAll(jobs: readonly Job[]): Promise<void> {
  const left = [...jobs];
  const some = async (): Promise<void> => {
    for (let job = left.pop(); job !== undefined; job = left.pop()) await world.finish(job, done(1));
  };
  await Promise.all(Array.from({ length: 32 }, some));
  await expect.poll(() => world.users.getCompletedCount(), { timeout: LIMIT_MS, interval: 200 }).toBe(COUNT);
}

test(
  'a client that was stalled while 8,000 settled hears of each of them, although somebody connected with the length of BullMQ’s default',
  async () => {
    world.consume();
    const payloads = Array.from({ length: COUNT }, () => ({ name: 'sum', data: {} }));
    const jobs = await world.users.addBulk(payloads);
    await expect.poll(() => world.users.getDelayedCount(), { timeout: LIMIT_MS, interval: 200 }).toBe(COUNT);
    const redis = new Redis(world.redis.url);
    const [[stalledAt] = ['0']] = await redis.xrevrange(`bull:${QUEUE_NAME}:events`, '+', '-', 'COUNT', 1);
    const other = new Queue(QUEUE_NAME, { connection: world.connection });
    await other.waitUntilReady();
    await other.close();
    await expect.poll(() => redis.hget(`bull:${QUEUE_NAME}:meta`, 'opts.maxLenEvents')).toBe('1000000');
    await settleAll(jobs);
    // What a client does that goes on: it reads from the last event that it has seen.
    const heard = new Set<string>();
    const events = new QueueEvents(QUEUE_NAME, { connection: world.connection, lastEventId: stalledAt });
    events.on('completed', ({ jobId }) => heard.add(jobId));
    await expect.poll(() => heard.size, { timeout: LIMIT_MS, interval: 200 }).toBe(COUNT);
    await events.close();
    redis.disconnect();
  },
  LIMIT_MS,
);
