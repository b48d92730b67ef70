import { describe, expect, test } from 'vitest';
import {
  clusterAt,
  HOURS_SHOWN,
  jobAt,
  jobsAt,
  parsePlace,
  queueAt,
  takeToken,
  overviewAt,
} from '../../../../../manager/dashboard/page/place.ts';
import {
  age,
  behindNamespace,
  count,
  csvField,
  duration,
  firstClause,
  nameOf,
  namespaceOf,
  BYTE_STEPS,
  isOfBytes,
  quantity,
} from '../../../../../manager/dashboard/page/words.ts';

describe('words of the page', () => {
  test('times are told in one unit', () => {
    expect([50, 9_940, 42_000, 600_000, 4 * 3_600_000, 3 * 86_400_000].map(duration)).toEqual(['0.1s', '9.9s', '42s', '10m', '4h', '3d']);
    expect([-5, 3_700, 61_000].map(age)).toEqual(['0s', '3s', '61s']);
  });

  test('quantities are told as people read them', () => {
    expect(['2750m', '1536Mi', '512Mi', '8', '2048Gi', 'unlimited', '1000k'].map(quantity)).toEqual([
      '2.75',
      '1.5 Gi',
      '512 Mi',
      '8',
      '2 Ti',
      'unlimited',
      '1 M',
    ]);
    expect([count(1, 'Job'), count(1_200, 'Job'), count(2, 'waits', 'wait')]).toEqual(['1 Job', '1,200 Jobs', '2 wait']);
  });

  test('steps of an axis of bytes are powers of two, written without a fraction', () => {
    for (const step of BYTE_STEPS) expect(quantity(`${step}Mi`)).toMatch(/^\d+ [MGTP]i$/);
    expect(BYTE_STEPS.slice(0, 3)).toEqual([1, 2, 4]);
    expect(['memory', 'ephemeral-storage', 'hugepages-2Mi', 'cpu', 'pods'].map(isOfBytes)).toEqual([true, true, true, false, false]);
    expect(['3145728Mi', '4096Ti'].map(quantity)).toEqual(['3 Ti', '4 Pi']);
  });

  test('a reason is told without what stands beside it', () => {
    expect(firstClause('cluster queue batch: flavor default is short of 200m cpu; west: cordoned')).toBe(
      'flavor default is short of 200m cpu',
    );
    expect([nameOf('team/sum'), namespaceOf('team/sum'), behindNamespace('team/sum')]).toEqual(['sum', 'team', 'sum']);
    const crew = 'team/crews.example.com/argo';
    expect([nameOf(crew), namespaceOf(crew), behindNamespace(crew)]).toEqual(['argo', 'team', 'crews.example.com/argo']);
  });

  test('no field of CSV is a formula, and none runs into the next', () => {
    expect(['=HYPERLINK("x")', 'a,b', '-3', '@x', 'two\nlines', undefined].map(csvField)).toEqual([
      '"\'=HYPERLINK(""x"")"',
      '"a,b"',
      '-3',
      "'@x",
      '"two\nlines"',
      '',
    ]);
  });
});

describe('the address of a place', () => {
  test('leads to it, and back', () => {
    expect(parsePlace('')).toEqual({ page: 'yard' });
    expect(parsePlace(overviewAt(24, 1_767_225_600_000))).toEqual({ page: 'yard', hours: 24, at: 1_767_225_600_000 });
    expect([overviewAt(HOURS_SHOWN), parsePlace('#/yard?hours=x&at=-1')]).toEqual(['#/yard', { page: 'yard' }]);
    expect(parsePlace(jobsAt({ state: 'Waiting', text: 'a b&c', cluster: undefined }))).toEqual({
      page: 'jobs',
      query: { state: 'Waiting', text: 'a b&c' },
    });
    expect(parsePlace(jobAt('team/a%20b', 'yaml'))).toEqual({ page: 'job', namespace: 'team', name: 'a%20b', tab: 'yaml' });
    const name = 'crews.example.com/argo';
    expect(parsePlace(jobAt(`team/${name}`))).toEqual({ page: 'job', namespace: 'team', name, tab: '' });
    expect(parsePlace(queueAt('gpu'))).toEqual({ page: 'queue', name: 'gpu' });
    expect(parsePlace(clusterAt('east'))).toEqual({ page: 'cluster', name: 'east' });
    expect([parsePlace('#/queues'), parsePlace('#/clusters'), parsePlace(jobsAt({}))].map(({ page }) => page)).toEqual([
      'queues',
      'clusters',
      'jobs',
    ]);
  });

  test('that is none is told to be lost, and a lone percent sign hurts nobody', () => {
    expect(parsePlace('#/nowhere')).toEqual({ page: 'lost', path: '/nowhere' });
    expect(parsePlace('#/jobs/only-a-namespace')).toEqual({ page: 'lost', path: '/jobs/only-a-namespace' });
    expect(parsePlace('#/queues/%')).toEqual({ page: 'queue', name: '%' });
  });

  test('has no token any more once that is taken out', () => {
    expect(takeToken('#/yard?token=abc.d-e_f')).toEqual({ token: 'abc.d-e_f', rest: '#/yard' });
    expect(takeToken('#/jobs?state=Waiting')).toEqual({ token: undefined, rest: '#/jobs?state=Waiting' });
  });
});
