/**
 * Goal: the interval that is told holds as often as it says. Method: worlds whose run times only the world knows; what is told of one that
 * waits is compared with what becomes of it.
 */
import { describe, expect, test } from 'vitest';
import { estimateStart, type StartEstimate } from '../../../../../manager/insight/estimate/estimate-start.ts';
import { seededRandom, type Random } from '../../../../../shared/runtime/random.ts';
import { aCluster, aClusterQueue } from '../../admission/setup.ts';
import { createWaitingWorld, START_MS, type Arrival, type WaitingWorld } from '../../admission/queues/waiting-world.ts';
import { isSlow } from '../../../../support/slow.ts';

const MINUTE_MS = 60_000;
type Estimate = Extract<StartEstimate, { kind: 'Estimate' }>;
const told = (estimate: StartEstimate): Estimate => {
  if (estimate.kind !== 'Estimate') throw new Error(JSON.stringify(estimate));
  return estimate;
};
const main = (cpu: string) => aClusterQueue('main', { default: cpu });
const job = (name: string, minutes: number, parts: Partial<Arrival> = {}): Arrival => ({
  name,
  clusterQueue: 'main',
  cpu: '1',
  runMs: minutes * MINUTE_MS,
  ...parts,
});
function knowing(world: WaitingWorld, minutes: readonly number[], parts: { clusterQueue?: string; family?: string } = {}): void {
  for (const [index, each] of minutes.entries())
    world.past.runTimes.observe({ clusterQueue: 'main', family: 'team/any', ranMs: each * MINUTE_MS, endedMs: START_MS + index, ...parts });
}
const minutesFrom = (world: WaitingWorld, time: string | undefined): number => (Date.parse(time ?? '') - world.now()) / MINUTE_MS;

describe('when a Job that waits starts', () => {
  test('is when the one that holds its place is likely to end, given how long that has run', () => {
    const world = createWaitingWorld([main('1')], [aCluster('eu')]);
    knowing(world, Array(40).fill(30));
    world.arrive(job('holder', 99));
    world.runUntil(START_MS + 20 * MINUTE_MS);
    world.arrive(job('x', 1));
    const estimate = told(estimateStart(world.question('team/x'), world.past));
    expect([estimate.earliest, estimate.at].map((time) => Math.round(minutesFrom(world, time)))).toEqual([10, 10]);
    expect(minutesFrom(world, estimate.latest)).toBeLessThan(12);
    expect(estimate).toMatchObject({ confidence: 0.8, basis: [{ runTimes: 40, family: 'team/any' }], limits: [] });
  });

  test('is further away, and wider, the more go before it', () => {
    const world = createWaitingWorld([main('1')], [aCluster('eu')]);
    knowing(
      world,
      Array.from({ length: 60 }, (_, index) => 10 + (index % 20)),
    );
    for (const name of ['holder', 'a', 'b', 'c', 'd']) world.arrive(job(name, 20));
    const estimates = ['a', 'b', 'c', 'd'].map((name) => told(estimateStart(world.question(`team/${name}`), world.past)));
    const at = estimates.map((each) => minutesFrom(world, each.at));
    expect(at).toEqual(at.toSorted((a, b) => a - b));
    const widths = estimates.map((each) => minutesFrom(world, each.latest) - minutesFrom(world, each.earliest));
    expect(widths).toEqual(widths.toSorted((a, b) => a - b));
  });

  test('is open, and says so, where the one that holds its place has outrun all before it', () => {
    const world = createWaitingWorld([main('1')], [aCluster('eu')]);
    knowing(world, [5, 6, 7, 8]);
    world.arrive(job('holder', 999));
    world.runUntil(START_MS + 100 * MINUTE_MS);
    world.arrive(job('x', 1));
    const estimate = told(estimateStart(world.question('team/x'), world.past));
    expect(minutesFrom(world, estimate.latest)).toBeGreaterThan(100);
    expect(estimate.limits).toEqual(['1 of 1 Jobs run longer already than any that ended before']);
  });

  test('is no later than the deadline of the one that holds its place', () => {
    const world = createWaitingWorld([main('1')], [aCluster('eu')]);
    knowing(world, [500]);
    world.arrive(job('holder', 60, { longestMs: 60 * MINUTE_MS }));
    world.arrive(job('x', 1));
    expect(minutesFrom(world, told(estimateStart(world.question('team/x'), world.past)).latest)).toBe(60);
  });

  test('is not told where nothing has ended yet', () => {
    const world = createWaitingWorld([main('1')], [aCluster('eu')]);
    for (const name of ['holder', 'x']) world.arrive(job(name, 1));
    expect(estimateStart(world.question('team/x'), world.past)).toEqual({
      kind: 'Unknown',
      reason: 'NoHistory',
      message: 'no Job of cluster queue main has ended yet, nor of any other: nothing is known of run times',
    });
  });

  test('is never where it does not fit with nobody else there', () => {
    const world = createWaitingWorld([main('4')], [aCluster('eu', { capacity: { cpu: '2' } })]);
    knowing(world, [1]);
    world.arrive(job('x', 1, { cpu: '3' }));
    expect(estimateStart(world.question('team/x'), world.past)).toMatchObject({ kind: 'Unknown', reason: 'NeverFits' });
  });

  test('takes those of other queues along that share its quota or its cluster, and no others', () => {
    const of = (cohorts: readonly string[], capacity: Record<string, string> | undefined) => {
      const queues = ['main', 'other'].map((name, index) =>
        aClusterQueue(name, { default: '1' }, cohorts[index] === undefined ? {} : { cohortName: cohorts[index] ?? '' }),
      );
      const world = createWaitingWorld(queues, [aCluster('eu', capacity === undefined ? {} : { capacity })]);
      knowing(world, Array(40).fill(30));
      knowing(world, Array(40).fill(3), { clusterQueue: 'other', family: 'team/brief' });
      world.arrive(job('theirs', 3, { clusterQueue: 'other', family: 'team/brief' }));
      world.arrive(job('holder', 30));
      world.arrive(job('x', 1));
      return Math.round(minutesFrom(world, told(estimateStart(world.question('team/x'), world.past)).at));
    };
    expect(of(['all', 'all'], undefined)).toBe(3);
    expect(of([], undefined)).toBe(30);
  });

  test('is cut off where very many go before it, and says so; the pace goes on', { timeout: 300_000 }, () => {
    const world = createWaitingWorld([main('10')], [aCluster('eu')]);
    knowing(
      world,
      Array.from({ length: 100 }, (_, index) => 8 + (index % 5)),
    );
    for (let index = 0; index < 1_500; index++) world.arrive(job(`j${index}`, 10));
    const estimate = told(estimateStart(world.question('team/j1409'), world.past));
    // The one before the 1,400th after the first ten starts after 140 rounds of ten minutes.
    expect(Math.abs(minutesFrom(world, estimate.at) - 1_400)).toBeLessThan(140);
    expect(estimate.limits).toEqual([
      expect.stringContaining('only the next 128 ends of Jobs were played, with the first 256 of the 1399 Jobs before it'),
    ]);
  });

  test('is told the same when it is asked again, and the world is as it was', () => {
    const world = createWaitingWorld([main('2')], [aCluster('eu')]);
    knowing(world, [1, 5, 9]);
    for (const name of ['a', 'b', 'c', 'x']) world.arrive(job(name, 3));
    const first = estimateStart(world.question('team/x'), world.past);
    expect(estimateStart(world.question('team/x'), world.past)).toEqual(first);
    expect([...world.cache.reservations()].map(({ workload }) => workload.name)).toEqual(['a', 'b']);
  });
});

test('more quota never makes a Job start later, where all ask for the same', { timeout: 300_000 }, () => {
  for (let seed = 1; seed <= 3; seed++) {
    const estimates = [3, 4, 7].map((cpu) => {
      const random = seededRandom(seed);
      const world = createWaitingWorld([main('3')], [aCluster('eu')]);
      knowing(
        world,
        Array.from({ length: 30 }, () => 1 + 40 * random()),
      );
      for (let index = 0; index < 25; index++) world.arrive(job(`j${index}`, 10));
      const wider = createWaitingWorld([main(String(cpu))], [aCluster('eu')]);
      const question = { ...world.question('team/j24'), queueing: wider.cache.queueing() };
      return told(estimateStart(question, world.past));
    });
    for (const [index, each] of estimates.entries()) {
      const before = estimates[index - 1];
      if (before === undefined) continue;
      expect(
        each.at <= before.at && each.earliest <= before.earliest && (each.latest ?? 'z') <= (before.latest ?? 'z'),
        `seed ${seed}`,
      ).toBe(true);
    }
  }
});

type Times = (random: Random) => { readonly minutes: number; readonly family: string };
const normal = (random: Random): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
type Kind = { readonly times: Times; readonly sizes: number; readonly backlog: number; readonly hours: number };
const WORLDS: Readonly<Record<string, Kind>> = {
  'are exponential': {
    times: (random) => ({ minutes: -10 * Math.log(1 - random()), family: 'team/any' }),
    sizes: 1,
    backlog: 8,
    hours: 1.5,
  },
  'are log-normal, of Jobs of several sizes': {
    times: (random) => ({ minutes: 7 * Math.exp(normal(random)), family: 'team/any' }),
    sizes: 4,
    backlog: 12,
    hours: 1.5,
  },
  'are almost the same': { times: (random) => ({ minutes: 10 + random(), family: 'team/any' }), sizes: 1, backlog: 12, hours: 1.5 },
  'are of two kinds, that nobody can tell apart': {
    times: (random) => ({ minutes: random() < 0.7 ? 2 + random() : 30 + 10 * random(), family: 'team/any' }),
    sizes: 1,
    backlog: 12,
    hours: 1.5,
  },
  'are of two kinds, told apart by name': {
    times: (random) =>
      random() < 0.7 ? { minutes: 2 + random(), family: 'team/brief' } : { minutes: 30 + 10 * random(), family: 'team/long' },
    sizes: 1,
    backlog: 12,
    hours: 5,
  },
};
const CASES = 60;
/** One here, all with SWITCHYARD_SLOW=1, as part of npm run test:operations: each takes seconds. */
const PLAYED = Object.entries(WORLDS).slice(0, isSlow ? undefined : 1);

describe('the interval of 80 of 100 holds in 70 to 90 of 100 cases', () => {
  for (const [name, kind] of PLAYED)
    test(`where run times ${name}`, { timeout: 300_000 }, () => {
      const counts = { before: 0, within: 0, after: 0 };
      for (let seed = 1; seed <= CASES; seed++) counts[outcome(seed, kind)]++;
      const share = counts.within / CASES;
      expect(share >= 0.7 && share <= 0.9, JSON.stringify(counts)).toBe(true);
    });
});

/**
 * A queue of ten cpu that has been full for some hours, with always as many that wait; one of them is asked for, and then nobody comes any
 * more.
 */
function caseOf(seed: number, { times, sizes, backlog, hours }: Kind, families = true) {
  const random = seededRandom(seed * 7_919);
  const world = createWaitingWorld([main('10')], [aCluster('eu')]);
  let count = 0;
  const fill = (): void => {
    for (let lack = backlog - world.waiting('main').length; lack > 0; lack--) {
      const { minutes, family } = times(random);
      world.arrive(job(`j${count++}`, minutes, { cpu: String(1 + Math.floor(random() * sizes)), family: families ? family : 'team/any' }));
    }
  };
  for (let minute = 0; minute < 60 * hours; minute += 2) {
    while (world.waiting('main').length < backlog) fill();
    world.runUntil(START_MS + minute * MINUTE_MS);
  }
  while (world.waiting('main').length < backlog) fill();
  const key = world.waiting('main')[Math.floor(random() * backlog)]?.workload.key ?? '';
  const estimate = told(estimateStart(world.question(key), world.past));
  return { world, key, estimate };
}

function outcome(seed: number, kind: Kind): 'before' | 'within' | 'after' {
  const { world, key, estimate } = caseOf(seed, kind);
  const startedMs = world.admissionOf(key) ?? Number.POSITIVE_INFINITY;
  if (startedMs < Date.parse(estimate.earliest)) return 'before';
  return estimate.latest === undefined || startedMs <= Date.parse(estimate.latest) ? 'within' : 'after';
}

test('families that can be told apart make the interval narrower', { timeout: 300_000 }, () => {
  const of = WORLDS['are of two kinds, told apart by name'];
  if (of === undefined) throw new Error('no such world');
  const width = (families: boolean): number => {
    let sum = 0;
    for (let seed = 1; seed <= 15; seed++) {
      const { world, estimate } = caseOf(seed, of, families);
      sum += minutesFrom(world, estimate.latest) - minutesFrom(world, estimate.earliest);
    }
    return sum;
  };
  expect(width(true)).toBeLessThan(0.8 * width(false));
});
