import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRequests } from '../../../../../manager/api/amount.ts';
import {
  advanced,
  contribution,
  countedFor,
  entryPenalty,
  minusConsumed,
  plusConsumed,
  weightedUsage,
  type Consumed,
  type UsagePolicy,
} from '../../../../../manager/admission/fair-sharing/local-queue-usage.ts';

const HOUR = 3_600_000;
const policy: UsagePolicy = { halfLifeMs: HOUR, samplingIntervalMs: HOUR, resourceWeights: new Map() };
const cpu = (amount: number): Consumed => new Map([['cpu', amount]]);
const cpuOf = (consumed: Consumed): number => consumed.get('cpu') ?? 0;
const NOTHING: Consumed = new Map();

describe('usage that decays', () => {
  test('after a half-life half of it is left, and a quarter after two', () => {
    expect(advanced(cpu(800), NOTHING, HOUR, policy)).toEqual(cpu(400));
    expect(advanced(cpu(800), NOTHING, 2 * HOUR, policy)).toEqual(cpu(200));
  });

  test('what is held fills the other half', () => {
    expect(advanced(NOTHING, cpu(1000), HOUR, policy)).toEqual(cpu(500));
    expect(advanced(cpu(1000), cpu(1000), 17 * HOUR, policy)).toEqual(cpu(1000));
  });

  test('a clock that was set back changes nothing', () => {
    expect(advanced(cpu(800), cpu(1), -HOUR, policy)).toEqual(cpu(800));
  });

  test('an admission costs at once what it will use until the next sample', () => {
    expect(entryPenalty(cpu(1000), policy)).toEqual(cpu(500));
    expect(entryPenalty(cpu(1000), { ...policy, samplingIntervalMs: 2 * HOUR })).toEqual(cpu(750));
  });

  test('a Job has added its penalty, decayed, and what it has used', () => {
    expect(contribution(cpu(1000), 0, 0, policy)).toEqual(cpu(500));
    expect(contribution(cpu(1000), 0, HOUR, policy)).toEqual(cpu(250 + 500));
  });

  test('differences are never below nothing', () => {
    expect(minusConsumed(cpu(1), cpu(1.000001))).toEqual(NOTHING);
    expect(plusConsumed(cpu(1), new Map([['memory', 2]]))).toEqual(
      new Map([
        ['cpu', 1],
        ['memory', 2],
      ]),
    );
  });

  test('only what the ClusterQueue gives quota for is counted', () => {
    expect(countedFor(parseRequests({ cpu: '2', memory: '0', pods: '3' }), { cpu: 'default', memory: 'default' })).toEqual(cpu(2000));
  });
});

describe('what LocalQueues are compared by', () => {
  const used = new Map([
    ['cpu', 2000],
    ['memory', 4096],
  ]);
  test('is the sum over resources, of cores, bytes and devices, by their weights', () => {
    expect(weightedUsage(used, 1, policy)).toBe(2 + 4096);
    expect(weightedUsage(used, 1, { resourceWeights: new Map([['memory', 0]]) })).toBe(2);
    expect(weightedUsage(used, 1, { resourceWeights: new Map([['cpu', 10], ['memory', 0.5]]) })).toBe(20 + 2048); // biome-ignore format: one line
  });

  test('is divided by the weight of the LocalQueue, and infinite without one', () => {
    expect(weightedUsage(cpu(2000), 2, policy)).toBe(1);
    expect(weightedUsage(NOTHING, 0, policy)).toBe(Infinity);
  });
});

test('it makes no difference how often usage is looked at', () => {
  const amount = fc.integer({ min: 0, max: 10_000 });
  const time = fc.integer({ min: 0, max: 5 * HOUR });
  fc.assert(
    fc.property(amount, amount, time, time, (consumed, held, first, second) => {
      const inTwo = advanced(advanced(cpu(consumed), cpu(held), first, policy), cpu(held), second, policy);
      const inOne = advanced(cpu(consumed), cpu(held), first + second, policy);
      expect(cpuOf(inTwo)).toBeCloseTo(cpuOf(inOne), 6);
    }),
  );
});
