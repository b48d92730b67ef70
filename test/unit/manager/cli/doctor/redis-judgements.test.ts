import { expect, test } from 'vitest';
import { judgeRedisFound, type RedisFound } from '../../../../../manager/cli/doctor/redis-judgements.ts';

const INFO = [
  'redis_version:7.2.4',
  'role:master',
  'connected_slaves:1',
  'maxmemory_policy:noeviction',
  'aof_enabled:1',
  'used_memory:5242880',
];
const found = (info: readonly string[], more: Partial<RedisFound> = {}): RedisFound => ({
  address: 'redis:6379',
  tookMs: 2,
  hasPassword: true,
  user: 'switchyard',
  masters: [{ server: 'redis:6379', info: info.join('\r\n') }],
  ...more,
});
const lines = (of: RedisFound): string[] => judgeRedisFound(of).map(({ result, check, found: said }) => `${result} ${check}: ${said}`);

test('of a Redis as it should be is said how it is', () => {
  expect(lines(found(INFO))).toEqual([
    'ok redis: redis:6379 answers in 2 ms: Redis 7.2.4, master with 1 replica',
    'ok redis rights: user switchyard may write the keys of the manager',
    'ok redis eviction: maxmemory-policy noeviction',
    'ok redis durability: keeps what it took in an append-only file',
    'ok redis memory: 5.0 MiB used, no limit',
  ]);
});

test('what is wrong is said in its own line, with remedy and alert', () => {
  const bad = INFO.map((line) => line.replace('noeviction', 'allkeys-lru').replace('aof_enabled:1', 'aof_enabled:0'));
  const checks = judgeRedisFound(found([...bad, 'maxmemory:5300000'], { user: 'default', hasPassword: false }));
  expect(checks.map(({ check, result, alert }) => [check, result, alert])).toEqual([
    ['redis', 'ok', undefined],
    ['redis rights', 'note', undefined],
    ['redis memory', 'wrong', 'SwitchyardRedisMemory'],
    ['redis eviction', 'wrong', 'SwitchyardRedisNotDurable'],
    ['redis durability', 'wrong', 'SwitchyardRedisNotDurable'],
  ]);
  expect(checks.find(({ check }) => check === 'redis eviction')?.remedy).toBe('set it to noeviction');
  expect(checks.find(({ check }) => check === 'redis durability')?.remedy).toBe('set appendonly yes');
});

test.each([
  ['connect ECONNREFUSED 127.0.0.1:1', 'redis'],
  ['NOAUTH Authentication required.', 'redis rights'],
  ['NOPERM No permissions to access a key', 'redis rights'],
])('one that takes no write is wrong for that alone: %s', (problem, check) => {
  const checks = judgeRedisFound(found([], { masters: [], problem }));
  expect(checks).toEqual([expect.objectContaining({ check, result: 'wrong', alert: 'SwitchyardRedisUnreachable' })]);
});

test('what a user may not ask for is said to be unknown', () => {
  expect(lines(found([], { masters: [] }))).toEqual([
    'ok redis: redis:6379 answers in 2 ms',
    'ok redis rights: user switchyard may write the keys of the manager',
    'note redis durability: cannot be looked at, nor eviction and memory: our user may not ask for INFO',
  ]);
});
