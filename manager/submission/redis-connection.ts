import { Redis } from 'ioredis';
import type { Logger } from '../../shared/runtime/logger.ts';

/** Connects at once, and again whenever the connection is lost, and says so once each time. */
export function openRedis(url: string, log: Logger): Redis {
  // BullMQ's workers require that a command waits for the connection, however long that takes.
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  let lost = false;
  redis.on('error', (error) => {
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
