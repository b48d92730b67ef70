/** What the intake of some version had stored: its ledger in ConfigMaps, and its keys in Redis, as text. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Queue, type Job as Submission } from 'bullmq';
import { Redis } from 'ioredis';
import { Registry } from 'prom-client';
import { createManagerMetrics } from '../../../manager/metrics/metrics.ts';
import type { LedgerEntry } from '../../../manager/submission/ledger.ts';
import { createSubmissionLedger, type SubmissionLedger } from '../../../manager/submission/ledger-store.ts';
import { singleRedis } from '../../../manager/submission/redis-settings.ts';
import type { Acceptance, Outcome, SubmissionRef } from '../../../manager/submission/submission-queue.ts';
import { connectBullmqQueue } from '../../../manager/submission/bullmq-queue.ts';
import type { ConfigMap } from '../../../shared/api/kubernetes.ts';
import { CONFIG_MAPS } from '../../../shared/api/resources.ts';
import { submissionKey } from '../../../shared/api/submission-key.ts';
import { sleep, systemClock } from '../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import { type EmbeddedCluster, startCluster } from '../../support/embedded-cluster.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { startRedis } from '../../support/redis.ts';

export const NAMESPACE = 'default';
export const QUEUE = 'recorded';
const AT_MS = Date.UTC(2026, 10, 23);
const entry = { payload: 'hash', attempt: 1, atSeconds: AT_MS / 1000, submittedAt: AT_MS - 5000, attemptsMade: 0 };
const job = (name: string) => ({ job: { namespace: 'team', name } });
const OVER: Outcome = { kind: 'Completed', result: { namespace: 'team', name: 'd', uid: 'uid-d', succeeded: 3, failed: 0 } };

/** What the ledger says, by key. */
export const ENTRIES: Readonly<Record<string, LedgerEntry>> = {
  intended: { ...entry, ...job('a'), state: 'Intended' },
  refused: { ...entry, ...job('b'), state: 'Refused' },
  created: { ...entry, ...job('c'), attempt: 2, state: 'Created', uid: 'uid-c' },
  ended: { ...entry, ...job('d'), state: 'Ended', uid: 'uid-d', outcome: OVER },
  failed: {
    ...entry,
    ...job('e'),
    state: 'Ended',
    uid: 'uid-e',
    outcome: { kind: 'Failed', failure: { reason: 'BackoffLimitExceeded', message: 'too often' } },
  },
};

/** A ledger over what is on a cluster, while `use` runs. */
export async function withLedger<T>(cluster: EmbeddedCluster, clock: FakeClock, use: (ledger: SubmissionLedger) => Promise<T>): Promise<T> {
  const metrics = createManagerMetrics(new Registry()).ledger;
  const ledger = createSubmissionLedger({
    client: cluster.client,
    namespace: NAMESPACE,
    runs: () => false,
    clock,
    log: silentLogger,
    metrics,
  });
  const stop = new AbortController();
  const run = ledger.run(stop.signal);
  await clock.advance(100);
  const result = await use(ledger);
  await clock.advance(2000);
  stop.abort(new Error('that was all'));
  await clock.advance(2000);
  await run;
  return result;
}

export const atThatTime = (): FakeClock => new FakeClock(AT_MS);

/** Every key as Redis has it, in a form that any server takes. */
type Key = { readonly key: string; readonly type: string; readonly value: unknown };

async function exported(redis: Redis): Promise<Key[]> {
  const keys = (await redis.keys('*')).toSorted();
  return Promise.all(
    keys.map(async (key) => {
      const type = await redis.type(key);
      switch (type) {
        case 'string':
          return { key, type, value: await redis.get(key) };
        case 'hash':
          return { key, type, value: await redis.hgetall(key) };
        case 'list':
          return { key, type, value: await redis.lrange(key, 0, -1) };
        case 'set':
          return { key, type, value: await redis.smembers(key) };
        case 'zset':
          return { key, type, value: await redis.call('ZRANGE', [key, '0', '-1', 'WITHSCORES']) };
        case 'stream':
          return { key, type, value: await redis.xrange(key, '-', '+') };
        default:
          throw new Error(`${key} is a ${type}, which is not recorded`);
      }
    }),
  );
}

/**
 * As if it were just now that this was stored: what was to happen hours later is still ahead, and what ended is kept as long as it should
 * be.
 */
export async function restoreRedis(redis: Redis, folder: string): Promise<void> {
  const keys = JSON.parse(readFileSync(path.join(folder, 'redis.json'), 'utf8')) as Key[];
  const laterMs = Date.now() - storedMs(keys);
  for (const { key, type, value } of keys) {
    const list = value as string[];
    if (key.endsWith(':delayed'))
      for (let at = 1; at < list.length; at += 2) list[at] = String(Number(list[at]) + laterMs * DELAYED_SCORES_PER_MS);
    if (key.endsWith(':completed')) for (let at = 1; at < list.length; at += 2) list[at] = String(Number(list[at]) + laterMs);
    if (type === 'string') await redis.set(key, value as string);
    else if (type === 'hash') await redis.hset(key, value as Record<string, string>);
    else if (type === 'list') await redis.rpush(key, ...list);
    else if (type === 'set') await redis.sadd(key, ...list);
    else if (type === 'zset') for (let at = 0; at < list.length; at += 2) await redis.zadd(key, list[at + 1] ?? '0', list[at] ?? '');
    else if (type === 'stream') for (const [id, fields] of value as [string, string[]][]) await redis.call('XADD', [key, id, ...fields]);
  }
}

export const readLedger = (folder: string): readonly ConfigMap[] =>
  JSON.parse(readFileSync(path.join(folder, 'ledger.json'), 'utf8')) as ConfigMap[];

/** BullMQ's score of a delayed job: when it is due, in these, and its place among those of that time. */
const DELAYED_SCORES_PER_MS = 0x1000;

/** When the last event was written. */
function storedMs(keys: readonly Key[]): number {
  const ids = keys.flatMap(({ type, value }) =>
    type === 'stream' ? (value as [string, string[]][]).map(([id]) => Number(id.split('-')[0])) : [],
  );
  return Math.max(...ids);
}

/** One submission that has ended, one whose Job runs, and one that nobody has looked at. */
export async function recordIntake(folder: string): Promise<void> {
  const clock = atThatTime();
  const cluster = await startCluster(clock);
  await withLedger(cluster, clock, async (ledger) => {
    for (const [key, value] of Object.entries(ENTRIES)) ledger.of('shared').adopt(key, value);
  });
  const maps = (await cluster.client.list(CONFIG_MAPS, { namespace: NAMESPACE })).items.filter(
    ({ metadata }) => metadata.name !== 'kube-root-ca.crt',
  );
  writeFileSync(path.join(folder, 'ledger.json'), `${JSON.stringify(maps, undefined, 1)}\n`);
  await cluster.plane.close();

  const redis = await startRedis();
  const client = new Redis(redis.url);
  const users = new Queue(QUEUE, { connection: { url: redis.url, maxRetriesPerRequest: null } });
  const queue = queueOfToday(redis.url);
  const stop = new AbortController();
  const consuming = queue.consume(accepted, stop.signal, async () => undefined);
  const over = await users.add('over', { manifest: 1 }, { jobId: 'over' });
  const parked = await users.add('parked', { manifest: 2 }, { jobId: 'parked' });
  const reached = async (state: string, submission: Submission): Promise<void> => {
    while ((await submission.getState()) !== state) await sleep(systemClock, 20);
  };
  for (const submission of [over, parked]) await reached('delayed', submission);
  await queue.finish(refOf(over), done(1), uidOf(refOf(over).key));
  await reached('completed', over);
  stop.abort(new Error('that was all'));
  await consuming;
  await queue.close();
  await users.add('new', { manifest: 3 }, { jobId: 'new' });
  writeFileSync(path.join(folder, 'redis.json'), `${JSON.stringify(await exported(client), undefined, 1)}\n`);
  client.disconnect();
  await users.close();
  await redis.stop();
}

export const refOf = ({ id = '', timestamp: submittedAt }: Submission): SubmissionRef => ({
  key: submissionKey({ id, submittedAt }),
  id,
  submittedAt,
});
export const uidOf = (key: string): string => `uid-of-${key}`;
export const accepted = async ({ key }: { readonly key: string }): Promise<Acceptance> => ({
  ...job(key),
  uid: uidOf(key),
  attempt: 1,
  outcome: undefined,
});
export const done = (succeeded: number): Outcome => ({
  kind: 'Completed',
  result: { namespace: 'team', name: 'sum', uid: 'u', succeeded, failed: 0 },
});

/** The queue of today over a Redis. */
export const queueOfToday = (url: string) =>
  connectBullmqQueue({ redis: singleRedis(url), name: QUEUE, prefix: 'bull', concurrency: 5, clock: systemClock, log: silentLogger });
