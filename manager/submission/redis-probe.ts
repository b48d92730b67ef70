import { Cluster } from 'ioredis';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { RedisMetrics } from '../metrics.ts';
import type { RedisConnection } from './redis-connection.ts';
import { judgeRedis, RedisTroubleReason, type RedisSeen, type RedisTrouble } from './redis-health.ts';

export type RedisProbeDeps = {
  /** An impatient connection, for the probe alone. */
  readonly connection: RedisConnection;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: RedisMetrics;
};

/** Looks after the Redis that carries submissions. Nothing depends on it: it tells. */
export interface RedisProbe {
  /** What was wrong the last time it looked. */
  troubles(): readonly RedisTrouble[];
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
  let troubles: readonly RedisTrouble[] = [];
  /** Why there is no connection: a command only says that there is none. */
  let connectionError: string | undefined;
  connection.on('error', (error: Error) => (connectionError = reasonOf(error)));
  connection.on('ready', () => (connectionError = undefined));

  const look = async (): Promise<void> => {
    const seen = await observe(connection);
    const now = judgeRedis(seen.problem === undefined || connectionError === undefined ? seen : { ...seen, problem: connectionError });
    const isNews = (before: readonly RedisTrouble[]) => (each: RedisTrouble) => before.every(({ reason }) => reason !== each.reason);
    for (const { reason, message } of now.filter(isNews(troubles))) log.warn('Redis is in trouble', { reason, why: message });
    for (const { reason } of troubles.filter(isNews(now))) log.info('Redis is no longer in this trouble', { reason });
    troubles = now;
    for (const reason of Object.values(RedisTroubleReason))
      metrics.trouble.set({ reason }, now.some((each) => each.reason === reason) ? 1 : 0);
  };

  return {
    troubles: () => troubles,
    look,
    async run(signal) {
      while (!signal.aborted) {
        await look();
        await sleep(clock, INTERVAL_MS, signal);
      }
    },
  };
}

async function observe(connection: RedisConnection): Promise<RedisSeen> {
  try {
    await connection.set(KEY, '1', 'PX', KEPT_MS);
  } catch (error) {
    return { problem: reasonOf(error), infos: [] };
  }
  const masters = connection instanceof Cluster ? connection.nodes('master') : [connection];
  const infos = await Promise.allSettled(masters.map((master) => master.info()));
  // A user without the right to INFO can work all the same.
  return { infos: infos.flatMap((info) => (info.status === 'fulfilled' ? [info.value] : [])) };
}

/** A cluster hides the cause behind its own words. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { lastNodeError } = error as { lastNodeError?: unknown };
  return lastNodeError instanceof Error ? lastNodeError.message : error.message;
}
