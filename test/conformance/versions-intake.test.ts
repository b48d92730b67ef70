/**
 * Goal: what the intake of an earlier version has written to ConfigMaps and to Redis is understood (recorded in `versions/VERSION` by
 * `versions/record.ts`).
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { Queue, QueueEvents } from 'bullmq';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import type { Submission } from '../../manager/submission/submission-queue.ts';
import { CONFIG_MAPS } from '../../shared/api/resources.ts';
import { startCluster } from '../support/embedded-cluster.ts';
import { startRedis } from '../support/redis.ts';
import {
  accepted,
  atThatTime,
  done,
  ENTRIES,
  QUEUE,
  queueOfToday,
  readLedger,
  refOf,
  restoreRedis,
  uidOf,
  withLedger,
} from './versions/intake.ts';

const FOLDER = path.join(import.meta.dirname, 'versions');
const VERSIONS = readdirSync(FOLDER, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

describe.each(VERSIONS)('the intake of version %s', (version) => {
  const folder = path.join(FOLDER, version);

  test('has left a ledger that is read, entry by entry', async () => {
    const clock = atThatTime();
    const cluster = await startCluster(clock);
    for (const { metadata, ...rest } of readLedger(folder)) {
      const { name, namespace, labels = {} } = metadata;
      await cluster.client.create(CONFIG_MAPS, { ...rest, metadata: { name, namespace, labels } });
    }
    const found = await withLedger(cluster, clock, async (ledger) =>
      Object.fromEntries(Object.keys(ENTRIES).map((key) => [key, ledger.of('shared').get(key)])),
    );
    expect(found).toEqual(ENTRIES);
    await cluster.plane.close();
  });

  test('has left keys in Redis with which its submissions go on', async () => {
    const redis = await startRedis();
    const client = new Redis(redis.url);
    await restoreRedis(client, folder);
    client.disconnect();
    const connection = { url: redis.url, maxRetriesPerRequest: null };
    const users = new Queue(QUEUE, { connection });
    const events = new QueueEvents(QUEUE, { connection });
    await events.waitUntilReady();
    const submission = async (id: string) => {
      const found = await users.getJob(id);
      if (found === undefined) throw new Error(`there is no submission ${id}`);
      return found;
    };
    const queue = queueOfToday(redis.url);
    const seen: Submission[] = [];
    const stop = new AbortController();
    const consuming = queue.consume(
      async (each) => {
        seen.push(each);
        return accepted(each);
      },
      stop.signal,
      async () => undefined,
    );
    // The one that nobody had looked at gets its Job, and the one that was parked stays so until its Job ends; what is over is over.
    await expect.poll(async () => (await submission('new')).getState()).toBe('delayed');
    const parked: string[] = [];
    for await (const page of queue.parked()) parked.push(...page.map(({ ref }) => ref.id));
    expect(parked.toSorted()).toEqual(['new', 'parked']);
    const waits = (await submission('parked')).waitUntilFinished(events);
    const ref = refOf(await submission('parked'));
    await queue.finish(ref, done(2), uidOf(ref.key));
    expect(await waits).toMatchObject({ succeeded: 2 });
    expect(await (await submission('over')).getState()).toBe('completed');
    expect((await submission('over')).returnvalue).toMatchObject({ succeeded: 1 });
    expect(seen.map(({ id }) => id)).toEqual(['new']);
    stop.abort(new Error('that was all'));
    await consuming;
    await Promise.all([queue.close(), users.close(), events.close()]);
    await redis.stop();
  });
});
