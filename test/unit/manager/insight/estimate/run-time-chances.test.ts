import { describe, expect, test } from 'vitest';
import { chancesOf, LONGEST_MS } from '../../../../../manager/insight/estimate/run-time-chances.ts';
import { seededRandom } from '../../../../../shared/runtime/random.ts';

const history = (times: readonly number[]) => ({ runs: times.toSorted((a, b) => a - b).map((ranMs) => ({ ranMs, weight: 1 })) });
const MINUTE_MS = 60_000;
const tens = history(Array.from({ length: 99 }, (_, index) => (index + 1) * MINUTE_MS));
/** The share of draws for which it holds, over many histories that might have been. */
function share(times: typeof tens, elapsedMs: number, outran: number, holds: (ms: number) => boolean): number {
  const random = seededRandom(3);
  let count = 0;
  for (let round = 0; round < 4_000; round++) if (holds(chancesOf(times, outran, random)(elapsedMs, random()))) count++;
  return count / 4_000;
}

describe('how long a Job holds its place', () => {
  test('is spread as those before it were', () => {
    expect(share(tens, 0, 0, (ms) => ms <= 20 * MINUTE_MS)).toBeCloseTo(0.2, 1);
    expect(share(tens, 0, 0, (ms) => ms <= 80 * MINUTE_MS)).toBeCloseTo(0.8, 1);
  });

  test('is longer than all of n before it in one of n + 1 cases', () => {
    expect(share(history([1, 2, 3, 4].map((n) => n * MINUTE_MS)), 0, 0, (ms) => ms > 4 * MINUTE_MS)).toBeCloseTo(0.2, 1);
  });

  test('is, once it has run for a while, that of those that ran longer than that', () => {
    expect(share(tens, 50 * MINUTE_MS, 0, (ms) => ms <= 50 * MINUTE_MS)).toBe(0);
    expect(share(tens, 50 * MINUTE_MS, 0, (ms) => ms <= 75 * MINUTE_MS)).toBeCloseTo(0.5, 1);
  });

  test('is open where it has outrun all of them: in a quarter of cases twice what it has run', () => {
    const long = 500 * MINUTE_MS;
    expect(share(tens, long, 1, (ms) => ms < long)).toBe(0);
    expect(share(tens, long, 1, (ms) => ms > 2 * long)).toBeCloseTo(0.25, 1);
    expect(chancesOf(tens, 1, seededRandom(1))(long, 1 - 2 ** -50)).toBeLessThanOrEqual(long + LONGEST_MS);
  });

  test('is more often longer than all before it the more that run now are', () => {
    expect(share(tens, 0, 100, (ms) => ms > 99 * MINUTE_MS)).toBeCloseTo(0.5, 1);
  });

  test('is the same for the same luck, and no less for having run longer', () => {
    for (let seed = 1; seed < 50; seed++) {
      const chances = chancesOf(tens, 0, seededRandom(seed));
      const drawn = [0, 10, 20, 60, 99, 150].map((minutes) => chances(minutes * MINUTE_MS, seed / 50));
      expect(drawn).toEqual(drawn.toSorted((a, b) => a - b));
      expect(chancesOf(tens, 0, seededRandom(seed))(0, seed / 50)).toBe(drawn[0]);
    }
  });
});
