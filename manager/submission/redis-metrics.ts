import { Gauge, type Registry } from 'prom-client';

export type RedisMetrics = ReturnType<typeof createRedisMetrics>;

/** Registers what is told of the Redis that carries submissions. Call once for a registry. */
export function createRedisMetrics(registry: Registry) {
  const registers = [registry];
  const up = new Gauge({
    name: 'switchyard_redis_up',
    help: '1 when the Redis of submissions took the last write, else 0.',
    registers,
  });
  const durable = new Gauge({
    name: 'switchyard_redis_durable',
    help: '1 when Redis keeps data on disk and evicts nothing, else 0.',
    registers,
  });
  // A gauge without labels begins as 0, which would say something.
  for (const gauge of [up, durable]) gauge.remove({});
  return {
    up,
    durable,
    trouble: new Gauge({
      name: 'switchyard_redis_trouble',
      help: '1 while the Redis of submissions has this problem, by reason, else 0.',
      labelNames: ['reason'],
      registers,
    }),
    memory: new Gauge({
      name: 'switchyard_redis_memory_bytes',
      help: 'Memory that Redis uses, of a cluster each master.',
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
