import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { confineScripts } from './confined-scripts.ts';
import type { RedisSettings, RedisTls } from './redis-settings.ts';

export type RedisConnection = Redis | Cluster;

/** A command that waits for the connection, however long that takes, as BullMQ's workers require; or one that fails soon. */
export type Patience = 'Patient' | 'Impatient';

const IMPATIENT_MS = 5_000;
const SENTINEL_RETRY_MAX_MS = 2_000;

/** A patient connection that says once each time that it is lost or there again. */
export function openRedis(settings: RedisSettings, log: Logger): RedisConnection {
  const redis = connectRedis(settings);
  let lost = false;
  redis.on('error', (error: Error) => {
    if (!lost) log.warn('the connection to Redis is lost; submissions wait, running Jobs go on', { error });
    lost = true;
  });
  redis.on('close', () => {
    if (!lost) log.warn('the connection to Redis is closed');
    lost = true;
  });
  redis.on('ready', () => {
    log.info('connected to Redis', { again: lost });
    lost = false;
  });
  return redis;
}

/**
 * Connects at once, and again whenever the connection is lost. The caller listens to `error`: without a listener it would throw. Scripts
 * that are defined on it reach the keys of their queue's prefix alone.
 */
export const connectRedis = (settings: RedisSettings, patience: Patience = 'Patient'): RedisConnection =>
  confineScripts(connected(settings, patience));

function connected({ servers, username, password, tls }: RedisSettings, patience: Patience): RedisConnection {
  const common: Omit<RedisOptions, 'replyMapping'> = {
    ...omitUndefined({ username, password, tls: tls && tlsOptions(tls) }),
    ...(patience === 'Patient'
      ? { maxRetriesPerRequest: null }
      : { maxRetriesPerRequest: 0, enableOfflineQueue: false, connectTimeout: IMPATIENT_MS, commandTimeout: IMPATIENT_MS }),
  };
  switch (servers.kind) {
    case 'Single':
      return new Redis(servers.url, common);
    case 'Sentinel':
      return new Redis({
        ...common,
        sentinels: [...servers.sentinels],
        name: servers.name,
        ...omitUndefined({ sentinelPassword: servers.password, sentinelTLS: common.tls }),
        enableTLSForSentinelMode: tls !== undefined,
        sentinelRetryStrategy: (times) => Math.min(SENTINEL_RETRY_MAX_MS, times * 100),
      });
    case 'Cluster':
      return new Cluster([...servers.nodes], { redisOptions: common, enableOfflineQueue: patience === 'Patient' });
  }
}

const READY_MS = 10_000;

/** Until the connection is made or has failed, or ten seconds have passed, or the signal. What it is good for a command shows. */
export async function untilReady(connection: RedisConnection, clock: Clock, signal?: AbortSignal): Promise<void> {
  if (connection.status === 'ready') return;
  const settled = new AbortController();
  const over = (): void => settled.abort();
  for (const event of SETTLED) connection.once(event, over);
  await sleep(clock, READY_MS, AbortSignal.any([settled.signal, ...(signal === undefined ? [] : [signal])]));
  for (const event of SETTLED) connection.off(event, over);
}
const SETTLED = ['ready', 'error', 'end'] as const;

const tlsOptions = ({ ca, cert, key, serverName }: RedisTls): NonNullable<RedisOptions['tls']> =>
  omitUndefined({ ca, cert, key, servername: serverName });
