import { Gauge, type Registry } from 'prom-client';

export type RedisMetrics = ReturnType<typeof createRedisMetrics>;

/** Registers what is told of the Redis that carries submissions. Call once for a registry. */
export function createRedisMetrics(registry: Registry) {
  const registers = [registry];
  const up = new Gauge({
    name: 'switchyard_redis_up',
    help: '1 when the Redis that carries submissions took a write at the last look, else 0. No series before it was looked at.',
    registers,
  });
  const durable = new Gauge({
    name: 'switchyard_redis_durable',
    help: '1 when it keeps on disk what it takes, and forgets nothing when memory runs short; else 0. No series while it does not say.',
    registers,
  });
  // A gauge without labels begins as 0, which would say something.
  for (const gauge of [up, durable]) gauge.remove({});
  return {
    up,
    durable,
    trouble: new Gauge({
      name: 'switchyard_redis_trouble',
      help: '1 while the Redis that carries submissions is in this trouble, by reason; else 0. No series before it was looked at.',
      labelNames: ['reason'],
      registers,
    }),
    memory: new Gauge({
      name: 'switchyard_redis_memory_bytes',
      help: 'Memory that Redis uses, of a cluster each of its masters. No series while it does not say.',
      labelNames: ['server'],
      registers,
    }),
    memoryMax: new Gauge({
      name: 'switchyard_redis_memory_max_bytes',
      help: 'Memory that it may use (maxmemory), where there is a limit.',
      labelNames: ['server'],
      registers,
    }),
  };
}
