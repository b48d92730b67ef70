import { expect, test } from 'vitest';
import { outcomeOf } from '../../../../../manager/insight/estimate/estimate-outcome.ts';

const interval = { earliestMs: 10_000, latestMs: 20_000 };

test('an estimate held where the Job was admitted between its ends, these included, to the second', () => {
  expect([10_000, 15_000, 20_000, 9_001].map((ms) => outcomeOf(interval, ms, 99_000))).toEqual(Array(4).fill('within'));
  expect(outcomeOf(interval, 9_000, 99_000)).toBe('before');
  expect(outcomeOf(interval, 20_001, 99_000)).toBe('after');
});

test('of one that still waits nothing is known before the interval is over, and then it did not hold', () => {
  expect(outcomeOf(interval, undefined, 20_000)).toBeUndefined();
  expect(outcomeOf(interval, undefined, 20_001)).toBe('after');
  expect(outcomeOf({ earliestMs: 10_000, latestMs: Number.POSITIVE_INFINITY }, undefined, 1e15)).toBeUndefined();
});
