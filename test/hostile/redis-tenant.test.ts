/** Goal: with the ACLs of docs/redis-acl.md a tenant of one Redis works with plain BullMQ, and reaches nothing that is not its own. */
import { readFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Queue, QueueEvents } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectBullmqQueue } from '../../manager/submission/bullmq-queue.ts';
import { singleRedis } from '../../manager/submission/redis-settings.ts';
import type { SubmissionQueue } from '../../manager/submission/submission-queue.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { redisPrograms, startRedis, type TestRedis } from '../support/redis.ts';

const lines = readFileSync('docs/redis-acl.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('user '));
const passwordOf = (user: string): string => `CHANGE-ME-${user.replace(/^switchyard-|^tenant-/, '')}`;

describe.each(redisPrograms())('%s', (program) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-acl-'));
  const connections: Redis[] = [];
  let redis: TestRedis;
  let served: SubmissionQueue;
  const stop = new AbortController();
  let serving: Promise<void>;

  /** As BullMQ's documentation has it. */
  const connectAs = (username: string): Redis => {
    const connection = new Redis(redis.url, { username, password: passwordOf(username), maxRetriesPerRequest: null });
    connections.push(connection);
    return connection;
  };

  beforeAll(async () => {
    const file = path.join(directory, 'users.acl');
    writeFileSync(file, `${lines.join('\n')}\n`);
    const manager = { username: 'switchyard-manager', password: passwordOf('switchyard-manager') };
    redis = await startRedis({ program, args: ['--aclfile', file], client: manager });
    served = connectBullmqQueue({
      redis: { ...singleRedis(redis.url), ...manager },
      tenant: 'uid-of-team',
      prefix: 'switchyard:tenant:team',
      name: 'batch',
      concurrency: 2,
      clock: systemClock,
      log: silentLogger,
    });
    const result = { namespace: 'team', name: 'sum', uid: 'u', succeeded: 1, failed: 0 };
    const accept = async () => ({ job: { namespace: 'team', name: 'sum' }, uid: 'u', outcome: { kind: 'Completed', result } as const });
    serving = served.consume(accept, stop.signal);
  });
  afterAll(async () => {
    stop.abort();
    await serving;
    await served.close();
    for (const connection of connections) connection.disconnect();
    await redis.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  test('a tenant submits and hears how it ended, with plain BullMQ', async () => {
    const connection = connectAs('tenant-team');
    const queue = new Queue('batch', { connection, prefix: 'switchyard:tenant:team' });
    const events = new QueueEvents('batch', { connection, prefix: 'switchyard:tenant:team' });
    await events.waitUntilReady();
    const job = await queue.add('sum', { manifest: {} }, { jobId: 'one' });
    expect(await job.waitUntilFinished(events, 30_000)).toMatchObject({ name: 'sum', succeeded: 1 });
    expect(await queue.getJobCounts('completed')).toEqual({ completed: 1 });
    await events.close();
    await queue.close();
  });

  test('a tenant reaches nothing of another, of the manager, or of the server', async () => {
    const manager = connectAs('switchyard-manager');
    await manager.set('switchyard:tenant:other:batch:1', 'secret');
    await manager.set('switchyard:{uid-of-team}:outcome:u', 'kept');
    const team = connectAs('tenant-team');
    const attempts: Readonly<Record<string, () => Promise<unknown>>> = {
      'read another’s submission': () => team.get('switchyard:tenant:other:batch:1'),
      'read it from a script': () => team.eval("return redis.call('GET', 'switchyard:tenant:other:batch:1')", 0),
      'read it as a declared key': () => team.eval("return redis.call('GET', KEYS[1])", 1, 'switchyard:tenant:other:batch:1'),
      'submit as another': () => team.hset('switchyard:tenant:other:batch:2', 'name', 'x'),
      'a prefix that only begins alike': () => team.get('switchyard:tenant:team-two:batch:1'),
      'copy it to itself': () => team.copy('switchyard:tenant:other:batch:1', 'switchyard:tenant:team:stolen'),
      'write an outcome': () => team.set('switchyard:{uid-of-team}:outcome:u', 'forged'),
      'forget an outcome': () => team.del('switchyard:{uid-of-team}:outcome:u'),
      'list keys': () => team.keys('*'),
      'list keys by scanning': () => team.scan(0),
      'list keys by chance': () => team.randomkey(),
      'count keys': () => team.dbsize(),
      'watch what others do': () => team.call('MONITOR'),
      'hear what others publish': () => connectAs('tenant-team').psubscribe('*'),
      'who else is connected': () => team.client('LIST'),
      'throw others out': () => team.call('CLIENT', 'KILL', 'TYPE', 'normal'),
      'empty the server': () => team.flushall(),
      'drop everybody’s scripts': () => team.script('FLUSH'),
      'reconfigure the server': () => team.config('SET', 'maxmemory', '1'),
      'give itself more': () => team.acl('SETUSER', 'tenant-team', '~*'),
      'stop the server': () => team.call('SHUTDOWN', 'NOSAVE'),
      'make the server write elsewhere': () => team.call('REPLICAOF', '127.0.0.1', '1'),
    };
    const outcomes = await Promise.all(
      Object.entries(attempts).map(
        async ([what, attempt]) => `${what}: ${await attempt().then((found) => `got ${String(found)}`, refusal)}`,
      ),
    );
    expect(outcomes).toEqual(Object.keys(attempts).map((what) => `${what}: NOPERM`));
    expect(await manager.mget('switchyard:tenant:other:batch:1', 'switchyard:{uid-of-team}:outcome:u')).toEqual(['secret', 'kept']);
  });

  test('whoever names no user gets nothing', async () => {
    const nobody = new Redis(redis.url, { maxRetriesPerRequest: 0, retryStrategy: () => null, enableReadyCheck: false });
    nobody.on('error', () => undefined);
    connections.push(nobody);
    await expect(nobody.get('switchyard:tenant:team:batch:one')).rejects.toThrow(/NOAUTH/);
  });
});

const refusal = (error: Error): string =>
  /\bNOPERM\b|can't access at least one of the keys|ACL failure in script/.test(error.message) ? 'NOPERM' : error.message;
