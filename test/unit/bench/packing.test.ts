import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createConservativeBackfilling } from '../../bench/packing/conservative-backfilling.ts';
import { createEasyBackfilling } from '../../bench/packing/easy-backfilling.ts';
import { createFirstFit } from '../../bench/packing/first-fit.ts';
import { CLUSTER_CPU, generateJobs, isLarge, type PackingJob } from '../../bench/packing/jobs.ts';
import { createOwnAdmission } from '../../bench/packing/own-admission.ts';
import { lowerBound, packingFigures } from '../../bench/packing/packing-figures.ts';
import { play, type Machine, type PackingScheduler } from '../../bench/packing/play.ts';
import { runTimeEstimates } from '../../bench/packing/run-time-estimates.ts';
import { parseSwf } from '../../bench/packing/swf.ts';

const MINUTE_MS = 60_000;
const job = (name: string, arrivalMin: number, cpu: number, runMin: number, parts: Partial<PackingJob> = {}): PackingJob => ({
  name,
  queue: 0,
  family: name,
  arrivalMs: arrivalMin * MINUTE_MS,
  cpu,
  pods: 1,
  runMs: runMin * MINUTE_MS,
  limitMs: runMin * MINUTE_MS,
  ...parts,
});
const ONE: Machine = { clusters: 1, clusterCpu: 10 };
const exact = () => runTimeEstimates('exact');

/** When each Job starts, in minutes. */
const startsOf = (jobs: readonly PackingJob[], scheduler: PackingScheduler, machine = ONE): Readonly<Record<string, number>> =>
  Object.fromEntries(play(jobs, machine, scheduler).map(({ job: { name }, startMs }) => [name, startMs / MINUTE_MS]));

/** `big` waits for `first`. Of the Jobs after it `short` ends before that, `thin` needs only what `big` leaves, `wide` is in its way. */
const QUEUE = [job('first', 0, 6, 10), job('big', 1, 8, 10), job('wide', 2, 4, 20), job('short', 3, 2, 5), job('thin', 3, 2, 30)];

describe('the schedulers beside admission', () => {
  test('first fit starts all that fits, and the large Job comes last', () => {
    expect(startsOf(QUEUE, createFirstFit(ONE))).toEqual({ first: 0, wide: 2, short: 10, thin: 10, big: 22 });
  });

  test('EASY delays the first Job that waits by nothing', () => {
    expect(startsOf(QUEUE, createEasyBackfilling(ONE, exact()))).toEqual({ first: 0, short: 3, thin: 3, big: 10, wide: 20 });
  });

  test('conservative backfilling delays no Job by one that came later', () => {
    const jobs = [...QUEUE, job('late', 4, 2, 25)];
    // `late` would take from `wide`, which EASY does not protect.
    const starts = startsOf(jobs, createConservativeBackfilling(ONE, exact()));
    expect(starts).toMatchObject({ first: 0, big: 10, wide: 20, short: 3, thin: 3 });
    expect(starts['late']).toBe(20);
  });

  test('a Job that outlives its estimate delays what counted on its end, and nothing is overcommitted', () => {
    const jobs = [job('first', 0, 6, 10, { limitMs: 5 * MINUTE_MS }), job('big', 1, 8, 10), job('short', 3, 4, 2)];
    for (const create of [createEasyBackfilling, createConservativeBackfilling]) {
      const scheduler = create(ONE, runTimeEstimates('limit'));
      expect(startsOf(jobs, scheduler)).toEqual({ first: 0, short: 3, big: 10 });
    }
  });
});

test('the manager’s own admission plays the same Jobs by its own rules', () => {
  const own = createOwnAdmission(ONE, { queues: 1, spec: { queueingStrategy: 'BestEffortFIFO' }, estimate: 'exact' });
  expect(startsOf([job('first', 0, 6, 10), job('big', 1, 8, 10), job('small', 2, 4, 2)], own)).toEqual({ first: 0, small: 2, big: 10 });
});

test('run times are known from what was stated, or from the last two runs of the family', () => {
  const stated = job('stated', 0, 1, 10, { limitMs: 30 * MINUTE_MS, family: 'nightly' });
  expect(runTimeEstimates('exact').of(stated)).toBe(10 * MINUTE_MS);
  expect(runTimeEstimates('limit').of(stated)).toBe(30 * MINUTE_MS);
  const history = runTimeEstimates('history');
  for (const minutes of [60, 20, 10]) history.ended({ ...stated, runMs: minutes * MINUTE_MS });
  expect(history.of(stated)).toBe(15 * MINUTE_MS);
  expect(history.of({ ...stated, family: 'new' })).toBe(30 * MINUTE_MS);
});

test('a scheduler that overcommits a cluster, or forgets a Job, is found', () => {
  const jobs = [job('first', 0, 6, 10), job('second', 0, 6, 10)];
  const careless: PackingScheduler = {
    ...forgetful(),
    start: (_now, begin) => {
      for (const each of jobs) begin(each, 0);
    },
  };
  expect(() => play(jobs, ONE, careless)).toThrow('second starts on cluster 0, which has 10 cpus, and then uses 12');
  expect(() => play(jobs, ONE, forgetful())).toThrow('2 of 2 Jobs never start');
});
const forgetful = (): PackingScheduler => ({ arrive: () => undefined, end: () => undefined, start: () => undefined });

describe('figures', () => {
  test('waits are of arrival to start, use is of the first to the last arrival', () => {
    const jobs = [job('first', 0, 10, 10), job('second', 0, 4, 10), job('third', 20, 2, 5)];
    const figures = packingFigures(play(jobs, ONE, createFirstFit(ONE)), ONE);
    expect(figures).toMatchObject({ used: 0.7, small: 5, large: 0, p95: 10 });
    expect(figures.byWork).toBeCloseTo((10 * 40) / 150, 10);
  });

  test('where all Jobs could run as they come, the bound is what they use, and no wait', () => {
    expect(lowerBound([job('first', 0, 10, 10), job('second', 20, 2, 5)], ONE)).toEqual({ used: 0.5, byWork: 0 });
  });

  test('what comes faster than all cpus work is left over: by that much Jobs wait at least', () => {
    // 20 cpus are asked for during 10 minutes, and 10 are there: the rest grows to 100 cpu minutes, and goes away in 10 minutes.
    const bound = lowerBound([job('first', 0, 10, 10), job('second', 0, 10, 10), job('third', 20, 1, 5)], ONE);
    expect(bound.used).toBeCloseTo(1, 10);
    expect(bound.byWork).toBeCloseTo(1000 / 205, 10);
  });

  test('no scheduler passes the bound', () => {
    const machine = { clusters: 2, clusterCpu: CLUSTER_CPU };
    const jobs = generateJobs({ seed: 7, jobs: 150, queues: 2, clusters: 2 });
    const bound = lowerBound(jobs, machine);
    for (const scheduler of [
      createFirstFit(machine),
      createEasyBackfilling(machine, exact()),
      createConservativeBackfilling(machine, exact()),
      createOwnAdmission(machine, { queues: 2, spec: {}, estimate: 'exact' }),
    ]) {
      const { used, byWork } = packingFigures(play(jobs, machine, scheduler), machine);
      expect(used).toBeLessThanOrEqual(bound.used + 1e-9);
      expect(byWork).toBeGreaterThanOrEqual(bound.byWork - 1e-9);
    }
  });
});

test('the same seed makes the same Jobs: their load is 0.95, of some 15 % at least half a cluster is asked', () => {
  const load = { seed: 3, jobs: 2_000, queues: 4, clusters: 3 };
  const jobs = generateJobs(load);
  expect(generateJobs(load)).toEqual(jobs);
  const work = jobs.reduce((sum, { cpu, runMs }) => sum + cpu * runMs, 0);
  expect(work / ((jobs.at(-1)?.arrivalMs ?? 0) * 3 * CLUSTER_CPU)).toBeCloseTo(0.95, 4);
  const large = jobs.filter((each) => isLarge(each, CLUSTER_CPU)).length / jobs.length;
  expect(large).toBeGreaterThan(0.12);
  expect(large).toBeLessThan(0.18);
  expect(jobs.every(({ runMs, limitMs }) => limitMs >= runMs && limitMs <= 5 * runMs + 1)).toBe(true);
});

describe('a log in the Standard Workload Format', () => {
  const sample = readFileSync(path.join(import.meta.dirname, '../../bench/packing/sample.swf'), 'utf8');

  test('gives the Jobs that ran; what did not run, and the parts of a Job, are left out', () => {
    const { jobs, processors, leftOut } = parseSwf(sample);
    expect({ processors, leftOut }).toEqual({ processors: 64, leftOut: 2 });
    expect(jobs.map(({ arrivalMs, cpu, runMs, limitMs, queue }) => ({ arrivalMs, cpu, runMs, limitMs, queue }))).toEqual([
      { arrivalMs: 0, cpu: 64, runMs: 3_600_000, limitMs: 7_200_000, queue: 1 },
      { arrivalMs: 60_000, cpu: 16, runMs: 600_000, limitMs: 900_000, queue: 1 },
      // Neither the processors that it had are known nor what time it asked for.
      { arrivalMs: 180_000, cpu: 32, runMs: 1_800_000, limitMs: 1_800_000, queue: 2 },
    ]);
  });

  test('another format is refused by line', () => {
    expect(() => parseSwf('; a header\n1 2 3')).toThrow(
      'line 2 is not of the Standard Workload Format: it needs 18 numbers, and -1 where one is not known',
    );
  });
});
