/** Goal: submissions on a real Redis Cluster of three masters, under the prefixes that the manager takes by default there. */
import { Queue, QueueEvents } from 'bullmq';
import { Cluster } from 'ioredis';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createManagerMetrics } from '../../manager/metrics/metrics.ts';
import { connectBullmqQueue } from '../../manager/submission/bullmq-queue.ts';
import { connectRedis } from '../../manager/submission/redis-connection.ts';
import { createRedisProbe } from '../../manager/submission/redis-probe.ts';
import type { RedisSettings } from '../../manager/submission/redis-settings.ts';
import { tenantOf } from '../../manager/submission/tenant.ts';
import { connect, type Client } from '../../shared/client/client.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { done, QUEUE_NAME, running, uidOf } from '../support/queue-under-test.ts';
import { redisPrograms } from '../support/redis.ts';
import { startRedisCluster, type TestRedisCluster } from '../support/redis-cluster.ts';

/** As the manager takes it for a SubmissionQueue that names none. */
const { prefix } = tenantOf(
  { metadata: { namespace: 'team', name: 'batch', uid: 'u1', resourceVersion: '1', creationTimestamp: '' }, spec: {} },
  { bytesMax: 1_000, isRedisCluster: true },
).redis;

describe.each(redisPrograms())('%s', (program) => {
  let cluster: TestRedisCluster;
  let users: Cluster;
  const ends: (() => unknown)[] = [];

  beforeAll(async () => {
    cluster = await startRedisCluster(3, program);
    users = new Cluster([...cluster.nodes], { redisOptions: { maxRetriesPerRequest: null } });
    ends.push(() => users.disconnect());
  });
  afterAll(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
    await cluster.stop();
  });

  const settings = (): RedisSettings => ({ servers: { kind: 'Cluster', nodes: cluster.nodes } });

  test('without a hash tag BullMQ gets no submission onto a cluster', async () => {
    const untagged = new Queue(QUEUE_NAME, { connection: users, prefix: 'switchyard:tenant:team' });
    await expect(untagged.add('sum', {})).rejects.toThrow(/CROSSSLOT|same slot|non local key/);
    await untagged.close();
  });

  test('the probe finds a cluster well, and asks every master', async () => {
    const connection = connectRedis(settings(), 'Impatient');
    ends.push(() => connection.disconnect());
    if (connection.status !== 'ready') await new Promise((resolve) => connection.once('ready', resolve));
    const { redis: metrics } = createManagerMetrics(new Registry());
    const probe = createRedisProbe({ connection, clock: systemClock, log: silentLogger, metrics });
    await probe.look();
    expect(probe.troubles()).toEqual([]);
  });

  describe('under the prefix of a tenant', () => {
    let client: Client;
    let events: QueueEvents;
    const withdrawn: string[] = [];
    const made: string[] = [];
    const queue = () =>
      connectBullmqQueue({
        redis: settings(),
        tenant: 'u1',
        name: QUEUE_NAME,
        prefix,
        concurrency: 5,
        clock: systemClock,
        log: silentLogger,
      });
    let served: ReturnType<typeof queue>;
    const stop = new AbortController();
    const ref = (key: string, submittedAt: number) => ({ key, id: key, submittedAt });

    beforeAll(async () => {
      served = queue();
      const consuming = served.consume(
        async (submission) => {
          made.push(submission.key);
          return running(submission);
        },
        stop.signal,
        async (parked) => void withdrawn.push(parked.ref.key),
      );
      events = new QueueEvents(QUEUE_NAME, { connection: users, prefix });
      client = connect({ redis: users, prefix, queue: QUEUE_NAME });
      ends.push(async () => {
        stop.abort();
        await consuming;
        await Promise.all([client.close(), events.close(), served.close()]);
      });
      await events.waitUntilReady();
    });
    const parked = (key: string) =>
      expect.poll(async () => (await client.look(key))?.state === 'Accepted' && made.includes(key)).toBe(true);
    const submittedAt = async (key: string): Promise<number> => (await client.look(key))?.submittedAt ?? 0;

    test('a submission becomes a Job, its submitter sees how it gets on, and hears how it ended', async () => {
      const key = await client.submit({ kind: 'Job' }, { key: 'nightly' });
      const result = client.wait(key);
      await parked(key);
      const at = ref(key, await submittedAt(key));
      await served.report(at, { phase: 'Running', cluster: 'west', active: 1, succeeded: 0, failed: 0 });
      await expect.poll(async () => (await client.look(key))?.progress?.cluster).toBe('west');
      await served.finish(at, done(1), uidOf(key));
      expect(await result).toMatchObject({ succeeded: 1 });
      expect(await client.logs(key)).toEqual([expect.stringMatching(/Running on west$/)]);
    });

    test('a submission that is cancelled, or removed, takes its Job with it', async () => {
      for (const key of ['unwanted', 'removed']) {
        await client.submit({ kind: 'Job' }, { key });
        await parked(key);
      }
      expect(await client.cancel('unwanted')).toMatchObject({ cancelled: true });
      const plain = new Queue(QUEUE_NAME, { connection: users, prefix });
      await expect.poll(() => plain.remove('removed')).toBe(1);
      await plain.close();
      await expect.poll(() => withdrawn).toEqual(['unwanted', 'removed']);
    });

    test('what was put there in bulk, prioritized and delayed hears with plain BullMQ', async () => {
      const plain = new Queue(QUEUE_NAME, { connection: users, prefix });
      const jobs = await plain.addBulk([
        { name: 'sum', data: {}, opts: { jobId: 'first' } },
        { name: 'sum', data: {}, opts: { jobId: 'urgent', priority: 3 } },
        { name: 'sum', data: {}, opts: { jobId: 'late', delay: 50 } },
      ]);
      const results = jobs.map((job) => job.waitUntilFinished(events, 30_000));
      for (const job of jobs) {
        const key = job.id ?? '';
        await expect.poll(() => made.includes(key)).toBe(true);
        await served.finish(ref(key, job.timestamp), done(2), uidOf(key));
      }
      expect(await Promise.all(results)).toMatchObject(jobs.map(() => ({ succeeded: 2 })));
      await plain.close();
    });
  });
});
