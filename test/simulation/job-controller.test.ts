/**
 * Goal: the promises of the Job controller hold under every fault that the simulation knows. Method: some seeds here, thousands
 * with `npm run simulate -- --seeds 5000`. A seed that fails is in the test's name; `npm run simulate -- --seed N --trace`
 * tells its story.
 */
import { expect, test } from 'vitest';
import { simulate } from './simulation.ts';
import { isSlow } from '../support/slow.ts';

/** With SWITCHYARD_SLOW=1 more. */
const SEEDS = Array.from({ length: isSlow ? 40 : 12 }, (_, position) => position + 1);

test.each(SEEDS)('seed %d', async (seed) => {
  expect((await simulate(seed)).violations).toEqual([]);
});

test('a seed gives the same run every time', async () => {
  const [first, second] = [[] as string[], [] as string[]];
  await simulate(7, (line) => first.push(line));
  await simulate(7, (line) => second.push(line));
  expect(second).toEqual(first);
});
