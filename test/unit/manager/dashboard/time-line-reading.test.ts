import { beforeEach, describe, expect, test } from 'vitest';
import { endedRecord } from '../../../../manager/admission/cache/execution-time.ts';
import { parseRequests } from '../../../../manager/api/amount.ts';
import type { JobAct } from '../../../../manager/api/job-acts.ts';
import { SwitchyardCondition } from '../../../../manager/api/reasons.ts';
import type { AdmissionRecord } from '../../../../manager/api/records.ts';
import { createFairScheduler } from '../../../../manager/dashboard/fair-scheduler.ts';
import { createJobIndex } from '../../../../manager/dashboard/job-index.ts';
import type { KeptJob } from '../../../../manager/dashboard/job-view.ts';
import type { Rights } from '../../../../manager/dashboard/rights.ts';
import { createTimeLines, type TimeLineDeps, type TimeLines } from '../../../../manager/dashboard/time-line-reading.ts';
import { historyRecord } from '../../../../manager/history/history-record.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { ACTS_ANNOTATION } from '../../../../shared/api/names.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { aCondition, aHomeJob, anAdmittedJob, aRecord } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const ALL: Rights = { namespaces: 'All', queues: 'All', clusters: 'All' };
const ANN: Rights = { namespaces: new Set(['ann']), queues: new Set(), clusters: new Set() };
let clock: FakeClock;
let index: ReturnType<typeof createJobIndex>;
let read: number;
let lines: TimeLines;
const at = (minutes: number): string => new Date(clock.now() - minutes * 60_000).toISOString();
const gone = (parts: Partial<KeptJob>): KeptJob => ({
  uid: String(parts.name),
  namespace: 'ann',
  name: 'hers',
  outcome: 'Complete',
  localQueue: 'main',
  clusterQueue: 'main',
  cluster: 'east',
  created: at(50),
  admitted: at(40),
  ended: at(30),
  requests: { cpu: '1500m' },
  succeeded: 1,
  failed: 0,
  ...parts,
});
/** As it is told when it is not too much. */
const told = async <T>(answer: Promise<T | undefined>): Promise<T> => {
  const value = await answer;
  if (value === undefined) throw new Error('there was no turn for it');
  return value;
};
const make = (kept: readonly KeptJob[] | undefined): TimeLines => {
  const ended: TimeLineDeps['ended'] = kept && (async () => (read++, kept));
  return createTimeLines({
    index,
    ended,
    clusterQueueOf: () => 'main',
    nominalOf: () => parseRequests({ cpu: '4' }),
    capacityOf: () => parseRequests({ cpu: '8', memory: '16Gi', 'ephemeral-storage': '1Ti' }),
    turns: createFairScheduler({ clock, waitingMax: 4 }),
    clock,
  });
};
beforeEach(() => {
  [clock, index, read] = [new FakeClock(), createJobIndex(JOB_KIND), 0];
  lines = make([
    gone({ name: 'hers' }),
    gone({ name: 'his', namespace: 'bob', clusterQueue: 'other', created: at(38), admitted: at(20), ended: at(10) }),
  ]);
});

test('the yard of a moment has Jobs that are gone where they were, for each who may see them', async () => {
  const then = async (minutes: number, seen: Rights) => {
    const { waiting, running, note } = await told(lines.yardAt(clock.now() - minutes * 60_000, seen, 'admin'));
    const names = (of: typeof waiting | typeof running) => of.map(({ name, first }) => `${name}: ${first.map(({ key }) => key).join()}`);
    expect(note).toBeUndefined();
    return [names(waiting), names(running)];
  };
  expect(await then(45, ALL)).toEqual([['main: ann/hers'], []]);
  expect(await then(35, ALL)).toEqual([['main: bob/his'], ['east: ann/hers']]);
  expect(await then(35, ANN)).toEqual([[], ['east: ann/hers']]);
  // Whoever may not see the queue is told of his own one.
  expect(await then(45, ANN)).toEqual([['ann/main: ann/hers'], []]);
  expect(await then(5, ALL)).toEqual([[], []]);
});

test('of a queue it is told what its Jobs held, and its part of the whole to who may see the whole', async () => {
  const { held, share, buckets } = await told(lines.ofQueue('main', 1, ALL, 'admin'));
  expect(held.map(({ resource, nominal, levels }) => [resource, nominal, Math.max(...levels), levels.at(-1)])).toEqual([
    ['cpu', 4, 1.5, 0],
  ]);
  expect([Math.max(...share), Math.max(...buckets.map(({ running }) => running))]).toEqual([1, 1]);
  expect((await told(lines.ofQueue('main', 1, { ...ANN, queues: new Set(['main']) }, 'ann'))).share).toEqual([]);
});

describe('of a cluster it is told', () => {
  const sums = async (seen: Rights, cluster = 'east') => {
    const { buckets, held, note } = await told(lines.ofCluster(cluster, 1, seen, 'admin'));
    const sum = (of: (bucket: (typeof buckets)[number]) => number): number => buckets.reduce((all, bucket) => all + of(bucket), 0);
    const counts = {
      placed: sum((b) => b.placed),
      complete: sum((b) => b.complete),
      failed: sum((b) => b.failed),
      left: sum((b) => b.left),
    };
    return { counts, most: Math.max(...buckets.map(({ running }) => running)), held, note };
  };

  test('what all its Jobs requested, against what it has today, and what became of those that the viewer may see', async () => {
    lines = make([
      gone({ name: 'hers' }),
      gone({ name: 'his', namespace: 'bob', admitted: at(35), ended: at(20), outcome: 'Failed', requests: { cpu: '2', 'a.com/gpu': '1' } }),
      gone({ name: 'elsewhere', cluster: 'west' }),
    ]);
    const all = await sums(ALL);
    expect(all.counts).toEqual({ placed: 2, complete: 1, failed: 1, left: 0 });
    expect(all.held.map(({ resource, capacity, levels }) => [resource, capacity, Math.max(...levels), levels.at(-1)])).toEqual([
      ['cpu', 8, 3.5, 0],
      ['memory', 16 * 2 ** 30, 0, 0],
      ['a.com/gpu', undefined, 1, 0],
    ]);
    const hers = await sums(ANN);
    expect([hers.counts, hers.most, hers.held]).toEqual([{ placed: 1, complete: 1, failed: 0, left: 0 }, 1, all.held]);
    expect((await sums(ALL, 'north')).counts).toEqual({ placed: 0, complete: 0, failed: 0, left: 0 });
  });

  test('that a Job left it before its end, where it was admitted again elsewhere', async () => {
    const moved = endedRecord(aRecord({ cluster: 'east', since: at(50) }), clock.now() - 40 * 60_000);
    const { evicted: _evicted, ...record } = moved;
    index.handler.added?.(
      anAdmittedJob(
        { metadata: { namespace: 'ann', name: 'train', uid: 'train', creationTimestamp: at(55) } },
        { ...record, cluster: 'west', since: at(30) },
      ),
      false,
    );
    lines = make([]);
    expect(await sums(ALL)).toMatchObject({ counts: { placed: 1, complete: 0, failed: 0, left: 1 }, most: 1 });
    expect(await sums(ALL, 'west')).toMatchObject({ counts: { placed: 1, complete: 0, failed: 0, left: 0 }, most: 1 });
  });

  test('which placements of a Job are not recorded', async () => {
    lines = make([gone({ name: 'hers', admittedSeconds: 1_500 })]);
    expect((await sums(ALL)).note).toMatch(/^earlier admissions of 1 Job are not recorded/);
  });
});

test('a Job that is there still is counted once, though history has it, and one that waits again waits', async () => {
  index.handler.added?.(
    anAdmittedJob(
      { metadata: { namespace: 'ann', name: 'hers', uid: 'hers', creationTimestamp: at(50) } },
      { cluster: 'east', since: at(40) },
    ),
    false,
  );
  index.handler.added?.(aHomeJob({ metadata: { namespace: 'ann', name: 'new', uid: 'new', creationTimestamp: at(5) } }), false);
  const { waiting, running } = await told(lines.yardAt(clock.now(), ALL, 'admin'));
  expect(waiting.flatMap(({ first }) => first.map(({ key }) => key))).toEqual(['ann/new']);
  expect(running.flatMap(({ first }) => first.map(({ key }) => key))).toEqual(['ann/hers']);
});

describe('a Job that was preempted, moved, held and resumed', () => {
  const job = (record: Partial<AdmissionRecord>, acts: readonly JobAct[] = [], status: Partial<Job['status']> = {}) =>
    anAdmittedJob(
      {
        metadata: {
          namespace: 'ann',
          name: 'train',
          uid: 'train',
          creationTimestamp: at(60),
          ...(acts.length === 0 ? {} : { annotations: { [ACTS_ANNOTATION]: JSON.stringify(acts) } }),
        },
        status,
      },
      record,
    );
  /** As admission writes it: ended, and admitted again. */
  const ended = (record: AdmissionRecord, minutes: number): AdmissionRecord => endedRecord(record, clock.now() - minutes * 60_000);
  const again = ({ evicted: _evicted, ...record }: AdmissionRecord, cluster: string, minutes: number): AdmissionRecord => ({
    ...record,
    cluster,
    since: at(minutes),
  });
  const states = async (moments: readonly number[]) => {
    const found: string[] = [];
    for (const minutes of moments) {
      const { waiting, running, unknown } = await told(make([]).yardAt(clock.now() - minutes * 60_000, ALL, 'admin'));
      found.push(
        [
          ...waiting.flatMap(({ first }) => first.map(({ state }) => state)),
          ...running.flatMap(({ name, first }) => first.map(() => name)),
          ...(unknown?.first.map(() => 'unknown') ?? []),
        ].join(),
      );
    }
    return found;
  };
  const HELD = { what: 'Hold', user: 'ann', at: '' } as const;

  test('is shown at each moment as it was then', async () => {
    const preempted = ended(aRecord({ cluster: 'east', since: at(50) }), 40);
    const held = ended(again(preempted, 'west', 30), 20);
    const resumed = again(held, 'west', 5);
    const acts: readonly JobAct[] = [
      { ...HELD, at: at(20) },
      { ...HELD, what: 'Release', at: at(10) },
    ];
    index.handler.added?.(job(resumed, acts), false);
    expect(await states([55, 45, 35, 25, 15, 7, 0])).toEqual(['Waiting', 'east', 'Waiting', 'west', 'Held', 'Waiting', 'west']);
    // And so it is once it has ended, and when it is gone.
    const status = { completionTime: at(2), conditions: [aCondition('Complete', { lastTransitionTime: at(2) })] };
    const complete = job(resumed, acts, status);
    index.handler.updated?.(complete, complete);
    expect(await states([55, 45, 35, 25, 15, 7, 3, 1])).toEqual(['Waiting', 'east', 'Waiting', 'west', 'Held', 'Waiting', 'west', '']);
    index.handler.deleted?.(complete, false);
    const kept = historyRecord(complete, resumed, { kind: JOB_KIND, namespace: undefined, nowMs: clock.now() });
    const { running } = await told(make([kept]).yardAt(clock.now() - 45 * 60_000, ALL, 'admin'));
    expect(running.map(({ name }) => name)).toEqual(['east']);
    const { waiting } = await told(make([kept]).yardAt(clock.now() - 15 * 60_000, ALL, 'admin'));
    expect(waiting.flatMap(({ first }) => first.map(({ state }) => state))).toEqual(['Held']);
  });

  test('and rests now, waits since it was evicted', async () => {
    index.handler.added?.(job(ended(aRecord({ cluster: 'east', since: at(50) }), 40)), false);
    expect(await states([55, 45, 35, 0])).toEqual(['Waiting', 'east', 'Waiting', 'Waiting']);
  });

  test('by a manager that recorded no past admissions, is not known until what is recorded', async () => {
    index.handler.added?.(job(aRecord({ cluster: 'west', since: at(20), executedSeconds: 600, epoch: 2 })), false);
    expect(await states([55, 35, 10])).toEqual(['unknown', 'unknown', 'west']);
    const reserved = aCondition(SwitchyardCondition.QuotaReserved, { status: 'False', lastTransitionTime: at(40) });
    const rests = job(aRecord({ cluster: 'east', since: at(50), executedSeconds: 600, evicted: true }), [], { conditions: [reserved] });
    index.handler.updated?.(rests, rests);
    expect(await states([55, 45, 35])).toEqual(['unknown', 'unknown', 'Waiting']);
    expect((await told(make([]).of(6, ALL, 'admin'))).note).toContain('earlier admissions of 1 Job are not recorded');
  });
});

test('history is read once for many who look, and what is not known is said', async () => {
  await Promise.all([
    lines.of(6, ALL, 'admin'),
    lines.of(6, ANN, 'ann'),
    lines.yardAt(clock.now() - 5.5 * 3_600_000, ALL, 'admin'),
    lines.ofQueue('main', 6, ALL, 'admin'),
  ]);
  expect(read).toBe(1);
  const without = make(undefined);
  expect((await told(without.of(6, ALL, 'admin'))).note).toContain('--history-store');
  expect((await told(make(Array.from({ length: 2_000 }, (_, number) => gone({ name: `n${number}` }))).of(6, ALL, 'admin'))).note).toContain(
    'only the last 2000',
  );
});

test('whoever asks about many moments at once is refused what is too much; others are not', async () => {
  const many = Array.from({ length: 10 }, (_, minute) => lines.yardAt(clock.now() - minute * 60_000, ALL, 'admin'));
  const other = lines.of(1, ANN, 'ann');
  expect((await Promise.all(many)).filter((answer) => answer === undefined)).toHaveLength(6);
  expect(await other).toBeDefined();
  expect(await lines.yardAt(clock.now() - 9 * 60_000, ALL, 'admin')).toBeDefined();
});
