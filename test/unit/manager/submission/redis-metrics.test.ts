import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createRedisMetrics } from '../../../../manager/submission/redis-metrics.ts';

test('nothing is said of a Redis that was not looked at, or that there is none of', async () => {
  const registry = new Registry();
  const { up, durable } = createRedisMetrics(registry);
  const told = async (): Promise<string[]> => (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(await told()).toEqual([]);
  up.set(0);
  durable.set(1);
  expect(await told()).toEqual(['switchyard_redis_up 0', 'switchyard_redis_durable 1']);
});
