import { describe, expect, test } from 'vitest';
import { judgeRedis, type RedisSeen } from '../../../../manager/submission/redis-health.ts';

const GOOD =
  'redis_version:7.0.15\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\naof_last_write_status:ok\r\nrole:master\r\n';
const saying = (more: string): RedisSeen => ({ infos: [`${GOOD}${more}`] });
const reasons = (seen: RedisSeen): string[] => judgeRedis(seen).map(({ reason, works }) => `${reason}${works ? '' : '!'}`);

test('a Redis that keeps what it is given is well', () => {
  expect(judgeRedis({ infos: [GOOD] })).toEqual([]);
  expect(judgeRedis({ infos: [] })).toEqual([]);
});

describe('a write that fails is told by the code of the error', () => {
  test.each([
    ['NOAUTH Authentication required.', 'Unauthenticated!'],
    ['WRONGPASS invalid username-password pair or user is disabled.', 'Unauthenticated!'],
    ['NOPERM No permissions to access a key', 'NotAllowed!'],
    ["READONLY You can't write against a read only replica.", 'ReadOnly!'],
    ["OOM command not allowed when used memory > 'maxmemory'.", 'Full!'],
    ['MISCONF Redis is configured to save RDB snapshots', 'NotDurable!'],
    ['LOADING Redis is loading the dataset in memory', 'Loading!'],
    ['ReplyError: OOM command not allowed', 'Full!'],
    ['connect ECONNREFUSED 10.0.0.1:6379', 'Unreachable!'],
    ['Command timed out', 'Unreachable!'],
    ['', 'Unreachable!'],
  ])('%s', (problem, reason) => {
    expect(reasons({ problem, infos: [] })).toEqual([reason]);
  });
});

describe('what it says of itself', () => {
  test.each([
    ['maxmemory_policy:allkeys-lru', ['Evicting']],
    ['aof_enabled:0', ['NotDurable']],
    ['aof_last_write_status:err', ['NotDurable']],
    ['redis_version:6.0.16', ['TooOld!']],
    ['redis_version:5.0.0', ['TooOld!']],
    ['redis_version:10.0.0', []],
    ['redis_version:6.2.0', []],
    ['redis_version:5.0.0\nvalkey_version:8.0.1', []],
    ['redis_version:unknown', []],
  ])('%s', (line, expected) => {
    expect(reasons(saying(line))).toEqual(expected);
  });

  test('is told once, however many nodes of a cluster say it', () => {
    expect(reasons({ infos: [`${GOOD}aof_enabled:0\n`, GOOD, `${GOOD}aof_enabled:0\n`] })).toEqual(['NotDurable']);
  });

  test('says whether it forgets already, or would', () => {
    expect(judgeRedis(saying('maxmemory_policy:volatile-ttl'))[0]?.message).toContain('would forget');
    expect(judgeRedis(saying('maxmemory_policy:volatile-ttl\nmaxmemory:1000000'))[0]?.message).toContain('Redis forgets');
  });
});

test('a text of any length is told in one line of bounded length', () => {
  const [trouble] = judgeRedis({ problem: `${'x'.repeat(10_000)}\nsecond line`, infos: [] });
  expect(trouble?.message.length).toBeLessThan(500);
  expect(trouble?.message).not.toContain('second line');
});
