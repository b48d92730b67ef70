/**
 * Goal: over all worker clusters at most one copy of a Job runs, no team holds more than its quota, and when the faults stop every Job ends
 * and nothing is left behind. Method: some seeds here, thousands with `npm run simulate -- --world dispatch --seeds 2000`; `--seed N
 * --trace` tells a story.
 */
import { expect, test } from 'vitest';
import { simulateDispatch } from './dispatch-simulation.ts';
import { isSlow } from '../../support/slow.ts';

/** With SWITCHYARD_SLOW=1 more. */
const STORIES = isSlow ? 40 : 4;

test.each(Array.from({ length: STORIES }, (_, position) => position + 1))('seed %d', async (seed) => {
  expect((await simulateDispatch(seed)).violations).toEqual([]);
});

test('a seed gives the same run every time', async () => {
  const [first, second] = [[] as string[], [] as string[]];
  await simulateDispatch(3, (line) => first.push(line));
  await simulateDispatch(3, (line) => second.push(line));
  expect(second).toEqual(first);
});
