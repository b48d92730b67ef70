/**
 * A producer with the ACL of one tenant, whose submissions name parents, dependencies and keys of others: BullMQ's scripts follow them with
 * the rights of the manager.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectBullmqQueue } from '../../manager/submission/bullmq-queue.ts';
import { singleRedis } from '../../manager/submission/redis-settings.ts';
import { SubmissionRefused, type SubmissionQueue } from '../../manager/submission/submission-queue.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { aclFile, keysOutside, managerUser, tenantUser, testUser } from '../support/redis-acl.ts';
import { redisPrograms, startRedis, type TestRedis } from '../support/redis.ts';

const TEAM = 'switchyard:tenant:team';
const QUEUE = `${TEAM}:batch`;
const VICTIM = 'switchyard:tenant:other:batch';
const LIMIT_MS = 30_000;

describe.each(redisPrograms())('%s', (program) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-acl-'));
  let redis: TestRedis;
  let team: Redis;
  let others: Redis;
  let served: SubmissionQueue;
  let stop: AbortController;
  let serving: Promise<void>;

  beforeAll(async () => {
    const file = path.join(directory, 'users.acl');
    writeFileSync(file, aclFile());
    redis = await startRedis({ program, args: ['--aclfile', file], client: testUser() });
  });
  afterAll(async () => {
    await redis.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  beforeEach(async () => {
    team = new Redis(redis.url, { ...tenantUser('team'), maxRetriesPerRequest: null });
    others = new Redis(redis.url, { ...testUser(), maxRetriesPerRequest: null });
    stop = new AbortController();
    served = connectBullmqQueue({
      redis: { ...singleRedis(redis.url), ...managerUser() },
      tenant: 'uid-of-team',
      prefix: TEAM,
      name: 'batch',
      concurrency: 2,
      clock: systemClock,
      log: silentLogger,
    });
    // Another's submission that waits for children, and one that is parked for its Job.
    const parent = { name: 'flow', data: '{}', opts: '{}', timestamp: 1, delay: 0, priority: 0 };
    await others.hset(`${VICTIM}:flow`, parent);
    await others.zadd(`${VICTIM}:waiting-children`, 1, 'flow');
    await others.sadd(`${VICTIM}:flow:dependencies`, `${VICTIM}:child`);
    await others.hset(`${VICTIM}:parked`, { ...parent, name: 'parked' });
    await others.zadd(`${VICTIM}:delayed`, 9e15, 'parked');
    await others.set('switchyard:{uid-of-other}:outcome:u', 'kept');
    const result = { namespace: 'team', name: 'sum', uid: 'u', succeeded: 1, failed: 0 };
    serving = served.consume(async ({ name }) => {
      if (name.startsWith('bad')) throw new SubmissionRefused('Invalid', 'it is bad');
      return { job: { namespace: 'team', name: 'sum' }, uid: 'u', outcome: { kind: 'Completed', result } };
    }, stop.signal);
  });
  afterEach(async () => {
    stop.abort();
    await serving;
    await served.close();
    for (const connection of [team, others]) connection.disconnect();
    await redis.wipe();
  });

  const write = async (id: string, fields: Readonly<Record<string, string>>): Promise<void> => {
    await team.hset(`${QUEUE}:${id}`, { name: id, data: '{}', opts: '{"attempts":1}', timestamp: 1, delay: 0, priority: 0, ...fields });
  };
  const enqueue = async (...ids: readonly string[]): Promise<void> => {
    await team.lpush(`${QUEUE}:wait`, ...ids);
    await team.zadd(`${QUEUE}:marker`, 0, '0');
  };
  const endedOf = async (id: string): Promise<unknown> => {
    const find = async (): Promise<unknown> =>
      (await team.zscore(`${QUEUE}:failed`, id)) === null
        ? (await team.zscore(`${QUEUE}:completed`, id)) === null
          ? undefined
          : 'completed'
        : team.hget(`${QUEUE}:${id}`, 'failedReason');
    await expect.poll(find, { timeout: LIMIT_MS }).toBeDefined();
    return find();
  };
  /** The next submission that is kept for its deduplication becomes a child of whatever `pdk` says. */
  const requeued = async (first: string, next: string, key: string, parent: string, data: object): Promise<void> => {
    await write(first, { deid: first });
    const fields = { name: next, data: '{}', opts: '{"attempts":1}', pk: parent, pd: JSON.stringify(data), pdk: key, jid: next };
    await team.hset(`${QUEUE}:dn:${first}`, fields);
  };

  test.each(['fpof', 'cpof', 'idof', 'rdof'])(
    'a child that is put among the dependencies of another’s submission ends it by no failure of its own, with %s',
    { timeout: 2 * LIMIT_MS },
    async (how) => {
      const before = await keysOutside(others, TEAM);
      for (const victim of ['flow', 'parked']) {
        const parent = `${VICTIM}:${victim}`;
        const data = { id: victim, queueKey: VICTIM, [how]: true };
        await requeued(`first-${victim}`, `bad-${victim}`, `${parent}:dependencies`, parent, data);
        await enqueue(`first-${victim}`);
        expect(await endedOf(`first-${victim}`)).toBe('completed');
        expect(await endedOf(`bad-${victim}`)).toContain('Invalid');
      }
      expect(await keysOutside(others, TEAM)).toEqual(before);
    },
  );

  test('a set of another, or of the manager, gets no member', { timeout: 2 * LIMIT_MS }, async () => {
    const before = await keysOutside(others, TEAM);
    const keys = ['switchyard:{uid-of-other}:new', `${VICTIM}:flow:dependencies`, `${TEAM}-two:batch:x`, `${TEAM}`];
    for (const [index, key] of keys.entries()) {
      await requeued(`first-${index}`, `next-${index}`, key, '', {});
      await enqueue(`first-${index}`);
      expect(await endedOf(`first-${index}`)).toBe('completed');
    }
    expect(await keysOutside(others, TEAM)).toEqual(before);
  });

  test('a submission that names a parent under another prefix is refused, with the reason', { timeout: LIMIT_MS }, async () => {
    const before = await keysOutside(others, TEAM);
    const parent = JSON.stringify({ id: 'flow', queueKey: VICTIM, fpof: true });
    await write('good', { parentKey: `${VICTIM}:flow`, parent });
    await write('key-alone', { parentKey: `${VICTIM}:flow` });
    await write('data-alone', { parent });
    await enqueue('good', 'key-alone', 'data-alone');
    for (const id of ['good', 'key-alone', 'data-alone'])
      expect(await endedOf(id)).toBe(
        `Invalid: the parent of the submission is ${VICTIM}:flow, which is not under the prefix ${TEAM}: give the parent that prefix, or the submission no parent`,
      );
    expect(await keysOutside(others, TEAM)).toEqual(before);
  });

  test('what has ended and is removed by its age takes nothing of others along', { timeout: LIMIT_MS }, async () => {
    await others.sadd(`${VICTIM}:flow:dependencies`, `${QUEUE}:old`);
    const before = await keysOutside(others, TEAM);
    await write('old', { parentKey: `${VICTIM}:flow` });
    await team.zadd(`${QUEUE}:completed`, 1, 'old');
    await write('new', {});
    await enqueue('new');
    expect(await endedOf('new')).toBe('completed');
    expect(await team.exists(`${QUEUE}:old`)).toBe(0);
    expect(await keysOutside(others, TEAM)).toEqual(before);
  });

  test('a flow of the tenant’s own works: its parent, in another queue of its prefix, goes on when the submission ends', {
    timeout: LIMIT_MS,
  }, async () => {
    const pipeline = `${TEAM}:pipeline`;
    await team.hset(`${pipeline}:p`, { name: 'p', data: '{}', opts: '{}', timestamp: 1, delay: 0, priority: 0 });
    await team.zadd(`${pipeline}:waiting-children`, 1, 'p');
    await team.sadd(`${pipeline}:p:dependencies`, `${QUEUE}:child`);
    await write('child', { parentKey: `${pipeline}:p`, parent: JSON.stringify({ id: 'p', queueKey: pipeline }) });
    await enqueue('child');
    expect(await endedOf('child')).toBe('completed');
    expect(await team.lrange(`${pipeline}:wait`, 0, -1)).toEqual(['p']);
    expect(JSON.parse((await team.hget(`${pipeline}:p:processed`, `${QUEUE}:child`)) ?? '')).toMatchObject({ succeeded: 1 });
  });
});
