/**
 * Goal: whatever a tenant writes to its prefix in Redis (submissions of any shape, parents and dependencies elsewhere, forged marks, gates,
 * schedulers, keys of the wrong type), nothing outside of its namespace and prefix changes, and others' submissions go on. Method: stories
 * for ten seconds here, thousands with `npm run simulate -- --world redis-tenant --seeds 10000`.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRedisFuzz, type RedisFuzz } from '../simulation/redis/redis-fuzz.ts';
import { isSlow } from '../support/slow.ts';

const BUDGET_MS = isSlow ? 120_000 : 10_000;
const LIMIT_MS = BUDGET_MS + 120_000;
/** Others submit in each of them that this divides. */
const STORIES_MIN = 25;

let fuzz: RedisFuzz;
beforeAll(async () => {
  fuzz = await openRedisFuzz();
}, LIMIT_MS);
afterAll(() => fuzz.close());

test('nothing of others changes, story after story', { timeout: LIMIT_MS }, async () => {
  const untilMs = performance.now() + BUDGET_MS;
  const sums = new Map<string, number>();
  for (let seed = 1; seed <= STORIES_MIN || performance.now() < untilMs; seed++) {
    const { violations, faults } = await fuzz.play(seed);
    expect(violations, `seed ${seed}: npm run simulate -- --world redis-tenant --seed ${seed} --trace`).toEqual([]);
    for (const [what, count] of faults) sums.set(what, (sums.get(what) ?? 0) + count);
  }
  // Where everything is refused nothing is shown.
  expect(sums.get('jobs made')).toBeGreaterThan(0);
  expect(sums.get('refused by Redis')).toBeGreaterThan(0);
});
