import { expect, test } from 'vitest';
import { inParallel } from '../../../worker/in-parallel.ts';

test('every item is worked on once, no more than the limit at a time, and results keep the order', async () => {
  let running = 0;
  let most = 0;
  const results = await inParallel([5, 4, 3, 2, 1, 0], 3, async (item) => {
    most = Math.max(most, ++running);
    for (let turn = 0; turn < item; turn++) await Promise.resolve();
    running--;
    return item * 10;
  });
  expect(results).toEqual([50, 40, 30, 20, 10, 0]);
  expect(most).toBe(3);
});

test('nothing to do is done at once', async () => {
  expect(await inParallel([], 3, () => Promise.reject(new Error('not called')))).toEqual([]);
});
