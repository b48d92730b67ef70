import { Cluster, type Redis } from 'ioredis';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { RedisMetrics } from './redis-metrics.ts';
import { untilReady, type RedisConnection } from './redis-connection.ts';
import { judgeRedis, LOSES, memoryOf, RedisTroubleReason, type RedisTrouble } from './redis-health.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';

export type RedisProbeDeps = {
  /** An impatient connection, for the probe alone. */
  readonly connection: RedisConnection;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: RedisMetrics;
};

/** Looks after the Redis that carries submissions. Nothing depends on it: it tells. */
export interface RedisProbe {
  /** What was wrong the last time it looked; undefined: it has not yet. */
  readonly troubles: () => readonly RedisTrouble[] | undefined;
  look(): Promise<void>;
  /** Looks from time to time. */
  run(signal: AbortSignal): Promise<void>;
}

/** Under the prefix that is the manager's alone. */
const KEY = 'switchyard:probe';
const INTERVAL_MS = 10_000;
const KEPT_MS = 60_000;

/** By ability, not by answer: it writes a key, because a Redis that is full, read-only or locked answers a PING. */
export function createRedisProbe({ connection, clock, log, metrics }: RedisProbeDeps): RedisProbe {
  let troubles: readonly RedisTrouble[] | undefined;
  /** Why there is no connection: a command only says that there is none. */
  let connectionError: string | undefined;
  connection.on('error', (error: Error) => (connectionError = reasonOf(error)));
  connection.on('ready', () => (connectionError = undefined));

  const look = async (): Promise<void> => {
    const { problem, masters } = await observeRedis(connection);
    const infos = problem === undefined ? masters.map(({ info }) => info) : [];
    const now = judgeRedis({ infos, ...omitUndefined({ problem: problem && (connectionError ?? problem) }) });
    const hasChanged = (before: readonly RedisTrouble[]) => (each: RedisTrouble) => before.every(({ reason }) => reason !== each.reason);
    for (const { reason, message } of now.filter(hasChanged(troubles ?? []))) log.warn('Redis is in trouble', { reason, why: message });
    for (const { reason } of (troubles ?? []).filter(hasChanged(now))) log.info('Redis is no longer in this trouble', { reason });
    troubles = now;
    for (const reason of Object.values(RedisTroubleReason))
      metrics.trouble.set({ reason }, now.some((each) => each.reason === reason) ? 1 : 0);
    metrics.up.set(problem === undefined ? 1 : 0);
    if (infos.length === 0) metrics.durable.remove({});
    else metrics.durable.set(now.some(({ reason }) => LOSES.includes(reason)) ? 0 : 1);
    for (const gauge of [metrics.memory, metrics.memoryMax]) gauge.reset();
    for (const { server, info } of masters) {
      const { used, max } = memoryOf(info);
      if (used !== undefined) metrics.memory.set({ server }, used);
      if (max !== undefined) metrics.memoryMax.set({ server }, max);
    }
  };

  return {
    troubles: () => troubles,
    look,
    async run(signal) {
      // A connection that is only being made takes no write, and says nothing of Redis.
      await untilReady(connection, clock, signal);
      while (!signal.aborted) {
        await look();
        await sleep(clock, INTERVAL_MS, signal);
      }
    },
  };
}

/** What came of a write, and what each master says of itself. */
export type ObservedRedis = { readonly problem?: string; readonly masters: readonly { readonly server: string; readonly info: string }[] };

/** Writes a key for a minute, and asks. */
export async function observeRedis(connection: RedisConnection): Promise<ObservedRedis> {
  try {
    await connection.set(KEY, '1', 'PX', KEPT_MS);
  } catch (error) {
    // Who refuses a write, such as one whose memory is full, says how it is all the same.
    return { problem: reasonOf(error), masters: isRefusal(error) ? await told(connection) : [] };
  }
  return { masters: await told(connection) };
}

/** A user without the right to INFO can work all the same. */
async function told(connection: RedisConnection): Promise<ObservedRedis['masters']> {
  const masters = connection instanceof Cluster ? connection.nodes('master') : [connection];
  const seen = await Promise.allSettled(masters.map(async (master) => ({ server: serverOf(master), info: await master.info() })));
  return seen.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
}

const isRefusal = (error: unknown): boolean => error instanceof Error && error.name === 'ReplyError';

/** Behind sentinels it is whoever is master now. */
const serverOf = ({ options: { sentinels, name, path, host, port } }: Redis): string =>
  sentinels === undefined || sentinels === null ? (path ?? `${host}:${port}`) : (name ?? 'master');

/** A cluster hides the cause behind its own words. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { lastNodeError } = error as { lastNodeError?: unknown };
  return lastNodeError instanceof Error ? lastNodeError.message : error.message;
}
