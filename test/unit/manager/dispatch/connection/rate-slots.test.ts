import { expect, test } from 'vitest';
import { createRateSlots } from '../../../../../manager/dispatch/connection/rate-slots.ts';

test('some may ask at once, the others one after the other, in the order in which they came', () => {
  const turns = createRateSlots({ perSecond: 5, burst: 2 });
  expect(['a', 'b', 'c', 'd', 'e'].map((key) => turns.waitMs(key, 0))).toEqual([0, 0, 0, 200, 400]);
  expect(turns.waitMs('e', 100)).toBe(300);
  expect(turns.waitMs('d', 200)).toBe(0);
  expect(turns.waitMs('d', 200)).toBe(400);
});

test('after a pause some may ask at once again', () => {
  const turns = createRateSlots({ perSecond: 5, burst: 2 });
  for (const key of ['a', 'b', 'c', 'd']) turns.waitMs(key, 0);
  expect(['e', 'f', 'g', 'h'].map((key) => turns.waitMs(key, 60_000))).toEqual([0, 0, 0, 200]);
});

test('a hundred thousand that never come again are not remembered', () => {
  const turns = createRateSlots({ perSecond: 5, burst: 2 });
  const waits = Array.from({ length: 100_000 }, (_each, index) => turns.waitMs(`key-${index}`, 0));
  expect(Math.max(...waits)).toBeLessThan(10_000 * 200 + 1);
  expect(turns.waitMs('another', 0)).toBe(60_000);
  expect(turns.waitMs('another', 10_000_000)).toBe(0);
});
