import { describe, expect, test } from 'vitest';
import { createRunTimes, familyOf, runFactsOf, runOf, type Run } from '../../../../../manager/insight/estimate/run-times.ts';
import type { AdmissionRecord } from '../../../../../manager/api/records.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const run = (ranMs: number, parts: Partial<Run> = {}): Run => ({ clusterQueue: 'main', family: 'team/train', ranMs, endedMs: 0, ...parts });
const record = (parts: Partial<AdmissionRecord> = {}): AdmissionRecord => ({
  clusterQueue: 'main',
  cluster: 'eu',
  flavors: {},
  epoch: 1,
  since: '2026-01-01T00:00:00Z',
  requests: {},
  ...parts,
});
const aJob = (parts: { metadata?: object; spec?: object; status?: object }): Job =>
  ({
    metadata: { name: 'train-7', namespace: 'team', ...parts.metadata },
    spec: parts.spec ?? {},
    status: parts.status ?? {},
  }) as unknown as Job;
const ended = (type: string, at: string) => ({ conditions: [{ type, status: 'True', lastTransitionTime: at }] });

describe('what is remembered of run times', () => {
  test('is nothing before anything has ended', () => {
    expect(createRunTimes().of('main', 'team/train')).toBeUndefined();
  });

  test('is that of the ClusterQueue, the shortest first', () => {
    const runTimes = createRunTimes();
    for (const ranMs of [3, 1, 2]) runTimes.observe(run(ranMs));
    expect(runTimes.of('main', 'team/else')).toMatchObject({ clusterQueue: 'main', runs: [{ ranMs: 1 }, { ranMs: 2 }, { ranMs: 3 }] });
  });

  test('of a family counts alone once enough of it have ended', () => {
    const runTimes = createRunTimes();
    for (let index = 0; index < 8; index++) runTimes.observe(run(100, { family: 'team/short' }));
    for (let index = 0; index < 7; index++) runTimes.observe(run(900, { family: 'team/long' }));
    expect(runTimes.of('main', 'team/short')).toMatchObject({ family: 'team/short', runs: { length: 8 } });
    expect(runTimes.of('main', 'team/long')?.family).toBeUndefined();
    expect(runTimes.of('main', 'team/long')?.runs).toHaveLength(15);
  });

  test('of all stands for a ClusterQueue of which nothing has ended', () => {
    const runTimes = createRunTimes();
    runTimes.observe(run(5));
    const history = runTimes.of('new', 'team/train');
    expect([history?.clusterQueue, history?.runs.map(({ ranMs }) => ranMs)]).toEqual([undefined, [5]]);
  });

  test('is bounded: the oldest go, and the newest weigh most, in whatever order they are told', () => {
    const runTimes = createRunTimes();
    const order = Array.from({ length: 400 }, (_, index) => (index * 7) % 400);
    for (const index of order) runTimes.observe(run(index, { endedMs: index, family: `team/${index}-x` }));
    const runs = runTimes.of('main', '')?.runs ?? [];
    expect([runs.length, runs[0]?.ranMs, runs.at(-1)?.ranMs]).toEqual([256, 144, 399]);
    expect(runs.at(-1)?.weight).toBe(1);
    expect(runs.at(-1 - 128)?.weight).toBe(0.5);
  });
});

describe('the run time of a Job', () => {
  test('is from its last admission to its end, however it ended', () => {
    const complete = aJob({ status: { ...ended('Complete', '2026-01-01T00:02:00Z'), completionTime: '2026-01-01T00:01:30Z' } });
    expect(runOf(JOB_KIND, complete, record())).toMatchObject({ clusterQueue: 'main', family: 'team/train', ranMs: 90_000 });
    expect(runOf(JOB_KIND, aJob({ status: ended('Failed', '2026-01-01T00:00:10Z') }), record())?.ranMs).toBe(10_000);
  });

  test('is none of one that runs, was not admitted when it ended, or says that it ended before', () => {
    const status = ended('Failed', '2026-01-01T00:00:10Z');
    expect(runOf(JOB_KIND, aJob({}), record())).toBeUndefined();
    expect(runOf(JOB_KIND, aJob({ status }), undefined)).toBeUndefined();
    expect(runOf(JOB_KIND, aJob({ status }), record({ evicted: true }))).toBeUndefined();
    expect(runOf(JOB_KIND, aJob({ status }), record({ since: '2026-01-01T00:00:11Z' }))).toBeUndefined();
    expect(runOf(JOB_KIND, aJob({ status: ended('Failed', 'soon') }), record())).toBeUndefined();
  });

  test('is at most what its deadline, counted from its start, and the time that it may be admitted for allow', () => {
    const job = aJob({
      metadata: { labels: { 'switchyard.dev/max-exec-time-seconds': '50' } },
      spec: { activeDeadlineSeconds: 40 },
      status: { startTime: '2026-01-01T00:00:05Z' },
    });
    expect(runFactsOf(JOB_KIND, job).longestMs(record())).toBe(45_000);
    expect(runFactsOf(JOB_KIND, job).longestMs(undefined)).toBe(40_000);
    expect(runFactsOf(JOB_KIND, job).longestMs(record({ executedSeconds: 30 }))).toBe(20_000);
    expect(runFactsOf(JOB_KIND, aJob({})).longestMs(record())).toBeUndefined();
  });
});

test('of one family are Jobs of one controller, of one generateName, or of one name but for its number', () => {
  const family = (metadata: object) => familyOf(aJob({ metadata }));
  expect(family({ ownerReferences: [{ kind: 'CronJob', name: 'nightly', controller: true }] })).toBe('team/CronJob/nightly');
  expect(family({ name: 'train-x7k2p', generateName: 'train-' })).toBe('team/train-');
  expect([family({ name: 'train-12' }), family({ name: 'train-3-7' }), family({ name: 'train' })]).toEqual(Array(3).fill('team/train'));
  expect(family({ name: '2026' })).toBe('team/2026');
});
