/**
 * Goal: whoever submits with `logs` reads how his pods ended where he submitted, by a whole manager and a whole worker, with a real Redis
 * and the client of ours.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectBullmqQueue } from '../../manager/submission/bullmq-queue.ts';
import { singleRedis } from '../../manager/submission/redis-settings.ts';
import { KEEP_LOGS_LABEL, SUBMISSION_QUEUE } from '../../shared/api/names.ts';
import { connect, type Client } from '../../shared/client/client.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { testTenant } from '../support/submission-source.ts';
import { createWholeWorld, manifest, type JobParts, type WholeWorld } from './whole-world.ts';

let redis: TestRedis;
let world: WholeWorld;
let client: Client;
beforeEach(async () => {
  redis = await startRedis();
  world = await createWholeWorld({
    clusters: ['east'],
  });
  const name = SUBMISSION_QUEUE;
  const connectQueue = () =>
    connectBullmqQueue({
      redis: singleRedis(redis.url),
      name,
      prefix: 'bull',
      concurrency: 10,
      clock: systemClock,
      log: silentLogger,
    });
  world.startManager('manager', { parts: { submissions: { shared: testTenant(), connect: connectQueue } } });
  world.startWorker('east', 'worker', { podLogs: 'reading\nit went wrong\n' });
  client = connect({ redis: redis.url });
});
afterEach(async () => {
  await client.close();
  await world.close();
  await redis.stop();
});

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) {
    // A step of the world's clock, and a turn for whatever comes from Redis.
    await world.clock.advance(100);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
async function ended(key: string): Promise<unknown> {
  const ends: unknown[] = [];
  client.wait(key).then(
    (result) => ends.push(result),
    (error: unknown) => ends.push(error),
  );
  await until(() => ends.length > 0);
  return ends[0];
}
const submit = (name: string, parts: JobParts, labels: Readonly<Record<string, string>> = {}, logs?: true): Promise<string> => {
  const job = manifest(name, parts);
  return client.submit({ ...job, metadata: { ...job.metadata, labels: { ...job.metadata.labels, ...labels } } }, logs ? { logs } : {});
};
const rows = async (key: string): Promise<string[]> => (await client.logs(key)).filter((line) => line.includes('the end of its log'));

test('who asks is told how each pod ended that failed, of one that succeeded where its log is kept, and nobody else anything', async () => {
  const failing = { spec: { backoffLimit: 1 }, exitCode: 3 };
  const asked = await submit('asked', failing, {}, true);
  const silent = await submit('silent', failing);
  const kept = await submit('kept', {}, { [KEEP_LOGS_LABEL]: 'All' }, true);
  const ends = await Promise.all([ended(asked), ended(silent), ended(kept)]);
  expect(ends).toMatchObject([{ code: 'Failed', reason: 'BackoffLimitExceeded' }, { code: 'Failed' }, { succeeded: 1 }]);

  // An outcome does not wait for them.
  await until(async () => (await rows(asked)).length === 2 && (await rows(kept)).length === 1);
  const told = await rows(asked);
  for (const row of told) expect(row).toMatch(/pod asked-\S+ .*exit code 3.*; the end of its log:\nreading\nit went wrong$/);
  expect(await rows(silent)).toEqual([]);
  expect(await rows(kept)).toEqual([expect.stringMatching(/pod kept-\S+ succeeded; the end of its log:\nreading\nit went wrong$/)]);
});
