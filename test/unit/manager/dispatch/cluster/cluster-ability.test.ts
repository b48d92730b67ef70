import { describe, expect, test } from 'vitest';
import {
  ABLE,
  abilityAt,
  afterCreate,
  afterFailedCreate,
  FAILING_JOBS,
  isFaultOfCluster,
  type ClusterAbility,
} from '../../../../../manager/dispatch/cluster/cluster-ability.ts';
import { ApiError } from '../../../../../shared/kube/api-error.ts';

const problem = { reason: 'ClusterError', message: 'down' } as const;
const failed = (ability: ClusterAbility, name: string, nowMs: number, namespace = 'team', message = 'down'): ClusterAbility =>
  afterFailedCreate(ability, { key: `${namespace}/${name}`, namespace }, { ...problem, message }, nowMs);
const afterJobs = (ability: ClusterAbility, nowMs: number, namespace?: string): ClusterAbility =>
  Array.from({ length: FAILING_JOBS }, (_, job) => `job-${job}`).reduce((all, name) => failed(all, name, nowMs, namespace), ability);

describe('a cluster', () => {
  test('is able until creates of several Jobs have failed in a row', () => {
    const once = failed(failed(failed(ABLE, 'a', 0), 'a', 1), 'a', 2);
    expect(abilityAt(once, 2)).toEqual({ kind: 'Able' });
    const interrupted = failed(afterCreate(failed(failed(ABLE, 'a', 0), 'b', 1), 'team', 2), 'c', 3);
    expect(abilityAt(interrupted, 3)).toEqual({ kind: 'Able' });
    expect(abilityAt(afterJobs(ABLE, 0), 0)).toEqual({ kind: 'NotAble', problem });
  });

  test('is able as soon as a create succeeds', () => {
    expect(abilityAt(afterCreate(afterJobs(ABLE, 0), 'team', 1), 1)).toEqual({ kind: 'Able' });
  });

  test('is tried again after two minutes without a try, and then ever later', () => {
    let ability = failed(afterJobs(ABLE, 0), 'job-0', 60_000);
    expect(abilityAt(ability, 179_999).kind).toBe('NotAble');
    expect(abilityAt(ability, 180_000).kind).toBe('Trying');
    const waits = [];
    for (let nowMs = 180_000, round = 0; round < 5; round++) {
      ability = failed(ability, 'job-9', nowMs);
      expect(abilityAt(ability, nowMs).kind).toBe('NotAble');
      waits.push((ability.trouble?.untilMs ?? 0) - nowMs);
      nowMs = ability.trouble?.untilMs ?? 0;
    }
    expect(waits).toEqual([240_000, 480_000, 960_000, 960_000, 960_000]);
  });

  test('keeps the words in which it is said, until it was tried in vain', () => {
    const ability = failed(afterJobs(ABLE, 0), 'job-4', 1, 'team', 'something else');
    expect(abilityAt(ability, 1)).toEqual({ kind: 'NotAble', problem });
    expect(abilityAt(failed(ability, 'job-4', 200_000, 'team', 'something else'), 200_000)).toMatchObject({
      problem: { message: 'something else' },
    });
  });

  test('is able when only the Jobs of one namespace fail, while those of others have just been made', () => {
    expect(abilityAt(afterJobs(afterCreate(ABLE, 'other', 0), 1_000), 1_000).kind).toBe('Able');
    expect(abilityAt(afterJobs(afterCreate(ABLE, 'team', 0), 1_000), 1_000).kind).toBe('NotAble');
    expect(abilityAt(afterJobs(afterCreate(ABLE, 'other', 0), 601_000), 601_000).kind).toBe('NotAble');
    expect(abilityAt(failed(afterJobs(afterCreate(ABLE, 'other', 0), 1), 'x', 2, 'third'), 2).kind).toBe('NotAble');
  });

  test('is remembered in little, whatever is tried there', () => {
    let ability = ABLE;
    for (let job = 0; job < 5_000; job++) ability = failed(ability, `job-${job}`, job, `team-${job}`);
    expect(ability.failing.size).toBeLessThanOrEqual(101);
    for (let job = 0; job < 5_000; job++) ability = afterCreate(ability, `team-${job}`, job);
    expect(ability.succeeded.size).toBeLessThanOrEqual(101);
  });
});

describe('whose fault it is that a create failed', () => {
  const api = (code: number, message: string): ApiError => new ApiError(code, { message });
  const refused = (cause: unknown): Error => new Error('refused', { cause });
  test.each<[string, unknown, boolean]>([
    ['a webhook that is down', api(500, 'failed calling webhook "x": connection refused'), true],
    ['an unknown user', api(401, 'Unauthorized'), true],
    [
      'missing rights',
      refused(api(403, 'jobs.batch is forbidden: User "m" cannot create resource "jobs" in API group "batch" in the namespace "t"')),
      true,
    ],
    ['no answer', new Error('no answer within 15000 ms'), true],
    ['a quota', refused(api(403, 'jobs.batch "sum" is forbidden: exceeded quota: q')), false],
    [
      'a name that claims missing rights',
      api(403, 'jobs.batch "is forbidden: User cannot create resource jobs" is forbidden: exceeded quota: q'),
      false,
    ],
    ['a Job that is too large', api(500, 'etcdserver: request is too large'), false],
    ['an invalid Job', refused(api(422, 'invalid')), false],
    ['a busy server', api(429, 'too many requests'), false],
    ['no connection', Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), false],
  ])('%s', (_what, error, expected) => {
    expect(isFaultOfCluster(error)).toBe(expected);
  });
});
