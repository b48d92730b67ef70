/** Goal: what is wrong with the Redis that carries submissions is told with its remedy, for each way in which Redis and Valkey go wrong. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, test } from 'vitest';
import { createManagerMetrics } from '../../manager/metrics/metrics.ts';
import { connectRedis } from '../../manager/submission/redis-connection.ts';
import { createRedisProbe, type RedisProbe } from '../../manager/submission/redis-probe.ts';
import { singleRedis, type RedisSettings } from '../../manager/submission/redis-settings.ts';
import { createServingCertificate } from '../../shared/controlplane/server/serving-certificate.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { redisPrograms, startRedis, type TestRedis } from '../support/redis.ts';

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function aRedis(options: Parameters<typeof startRedis>[0] = {}): Promise<TestRedis> {
  const redis = await startRedis(options);
  ends.push(() => redis.stop());
  return redis;
}

type Watched = RedisProbe & {
  reasons(): Promise<string[]>;
  /** Values of the gauges without their label, as they are after that. */
  gauges(): Promise<{ readonly up?: number; readonly durable?: number; readonly memory?: number; readonly memoryMax?: number }>;
  readonly connection: ReturnType<typeof connectRedis>;
};

function aProbe(settings: RedisSettings): Watched {
  const connection = connectRedis(settings, 'Impatient');
  ends.push(() => connection.disconnect());
  const { redis: metrics } = createManagerMetrics(new Registry());
  const probe = createRedisProbe({ connection, clock: new FakeClock(), log: silentLogger, metrics });
  return {
    ...probe,
    connection,
    /** As the metric has them, once Redis was looked at. */
    async reasons() {
      await probe.look();
      const told = (await metrics.trouble.get()).values.filter(({ value }) => value === 1).map(({ labels }) => String(labels['reason']));
      expect(told.toSorted()).toEqual(
        probe
          .troubles()
          ?.map(({ reason }) => reason)
          .toSorted(),
      );
      return told;
    },
    async gauges() {
      const { up, durable, memory, memoryMax } = metrics;
      const values = await Promise.all(
        Object.entries({ up, durable, memory, memoryMax }).map(
          async ([name, gauge]) => [name, (await gauge.get()).values[0]?.value] as const,
        ),
      );
      return Object.fromEntries(values.filter(([, value]) => value !== undefined));
    },
  };
}
const event = (connection: { once(name: string, listener: () => void): unknown }, name: string): Promise<void> =>
  new Promise((resolve) => connection.once(name, resolve));
const ready = async (probe: Watched): Promise<Watched> => {
  if (probe.connection.status !== 'ready') await event(probe.connection, 'ready');
  return probe;
};

describe.each(redisPrograms())('%s', (program) => {
  test('that keeps what it is given is well, and is again after it was gone', async () => {
    const redis = await aRedis({ program });
    const probe = await ready(aProbe(singleRedis(redis.url)));
    expect(await probe.reasons()).toEqual([]);
    expect(await probe.gauges()).toEqual({ up: 1, durable: 1, memory: expect.any(Number) });
    const lost = event(probe.connection, 'close');
    await redis.crash();
    await lost;
    expect(await probe.reasons()).toEqual(['Unreachable']);
    expect(await probe.gauges()).toEqual({ up: 0 });
    const back = event(probe.connection, 'ready');
    await redis.restart();
    await back;
    expect(await probe.reasons()).toEqual([]);
  });

  test('that is well is not said to be away while the first connection to it is made', async () => {
    const redis = await aRedis({ program });
    const probe = aProbe(singleRedis(redis.url));
    const stop = new AbortController();
    const running = probe.run(stop.signal);
    while (probe.troubles() === undefined) await new Promise((resolve) => setImmediate(resolve));
    expect(probe.troubles()).toEqual([]);
    stop.abort();
    await running;
  });

  test('that asks for another password', async () => {
    const args = ['--requirepass', 'right'];
    const redis = await aRedis({ program, args, client: { password: 'right' } });
    const none = aProbe(singleRedis(redis.url));
    await event(none.connection, 'error');
    expect(await none.reasons()).toEqual(['Unauthenticated']);
    const wrong = aProbe({ ...singleRedis(redis.url), password: 'wrong' });
    await event(wrong.connection, 'error');
    expect(await wrong.reasons()).toEqual(['Unauthenticated']);
    expect(wrong.troubles()?.[0]?.message).not.toContain('wrong ');
    const right = await ready(aProbe({ ...singleRedis(redis.url), password: 'right' }));
    expect(await right.reasons()).toEqual([]);
  });

  test('that is full', async () => {
    const redis = await aRedis({ program, args: ['--maxmemory', '1'] });
    const probe = await ready(aProbe(singleRedis(redis.url)));
    expect(await probe.reasons()).toEqual(['Full']);
    expect(await probe.gauges()).toEqual({ up: 0, memory: expect.any(Number), memoryMax: 1 });
  });

  test('that is a replica', async () => {
    const master = await aRedis({ program });
    const redis = await aRedis({ program, args: ['--replicaof', '127.0.0.1', new URL(master.url).port] });
    const probe = await ready(aProbe(singleRedis(redis.url)));
    expect(await probe.reasons()).toEqual(['ReadOnly']);
  });

  test('that forgets, or keeps nothing on disk, works, and is told of', async () => {
    const redis = await aRedis({ program, args: ['--appendonly', 'no', '--maxmemory-policy', 'allkeys-lru'] });
    const probe = await ready(aProbe(singleRedis(redis.url)));
    expect(await probe.reasons()).toEqual(['Evicting', 'NotDurable']);
    expect(await probe.gauges()).toEqual({ up: 1, durable: 0, memory: expect.any(Number) });
    expect(probe.troubles()?.every(({ works }) => works)).toBe(true);
  });

  test('of which our ACL user may not write the manager’s keys', async () => {
    const redis = await aRedis({ program, args: ['--user', 'tenant', 'on', '>secret', '~tenant:*', '+@all'] });
    const probe = await ready(aProbe({ ...singleRedis(redis.url), username: 'tenant', password: 'secret' }));
    expect(await probe.reasons()).toEqual(['NotAllowed']);
  });

  test('over TLS with an authority of its own', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-redis-tls-'));
    ends.push(() => rmSync(directory, { recursive: true, force: true }));
    const { certPem, keyPem } = await createServingCertificate('127.0.0.1');
    const [cert, key] = [path.join(directory, 'cert.pem'), path.join(directory, 'key.pem')];
    writeFileSync(cert, certPem);
    writeFileSync(key, keyPem);
    const redis = await aRedis({ program, tls: { cert, key, ca: certPem } });
    const probe = await ready(aProbe({ ...singleRedis(redis.url), tls: { ca: certPem } }));
    expect(await probe.reasons()).toEqual([]);
    const stranger = aProbe(singleRedis(redis.url));
    await event(stranger.connection, 'error');
    expect(await stranger.reasons()).toEqual(['Unreachable']);
    expect(stranger.troubles()?.[0]?.message).toContain('self-signed certificate');
  });

  test('found by its sentinels', async () => {
    const master = await aRedis({ program });
    const sentinel = await aRedis({ program, sentinelOf: { name: 'main', url: master.url } });
    const sentinels = [{ host: '127.0.0.1', port: Number(new URL(sentinel.url).port) }];
    const bySentinel = await ready(aProbe({ servers: { kind: 'Sentinel', sentinels, name: 'main' } }));
    expect(await bySentinel.reasons()).toEqual([]);
  });
});
