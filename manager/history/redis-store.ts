import { Redis } from 'ioredis';
import type { KeyValueStore } from './key-value-store.ts';

/**
 * Each value under a key of its own, and one sorted set of all keys, which lists them in order. All have `prefix`, with a hash tag on a
 * Redis cluster.
 */
export function openRedisStore(url: string, prefix: string, onError: (error: Error) => void): KeyValueStore {
  const redis = new Redis(url, { lazyConnect: false, maxRetriesPerRequest: 2, commandTimeout: COMMAND_MS });
  redis.on('error', onError);
  const index = `${prefix}index`;
  const of = (key: string): string => `${prefix}${key}`;
  return {
    async put(entries) {
      if (entries.length === 0) return;
      const transaction = redis.multi();
      for (const { key, value } of entries) transaction.set(of(key), value).zadd(index, 0, key);
      allDone(await transaction.exec());
    },
    get: async (key) => (await redis.getBuffer(of(key))) ?? undefined,
    async list({ prefix: start, after = '', limit }) {
      const from = after >= start && after !== '' ? `(${after}` : `[${start}`;
      const keys = await redis.zrangebylex(index, from, `(${start}\u007f`, 'LIMIT', 0, limit);
      if (keys.length === 0) return [];
      const lengths = redis.pipeline();
      for (const key of keys) lengths.strlen(of(key));
      const sizes = allDone(await lengths.exec());
      return keys.map((key, k) => ({ key, bytes: Number(sizes[k] ?? 0) }));
    },
    async delete(keys) {
      if (keys.length === 0) return;
      const transaction = redis.multi();
      for (const key of keys) transaction.del(of(key)).zrem(index, key);
      allDone(await transaction.exec());
    },
    async close() {
      redis.disconnect();
    },
  };
}

const COMMAND_MS = 5_000;

function allDone(results: readonly (readonly [Error | null, unknown])[] | null): unknown[] {
  if (results === null) throw new Error('Redis has given a transaction up');
  return results.map(([error, value]) => {
    if (error !== null) throw error;
    return value;
  });
}
