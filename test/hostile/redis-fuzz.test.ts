/**
 * Goal: whatever a tenant writes to its prefix in Redis (submissions of any shape, records of others and of its own that are gone, parents
 * and dependencies elsewhere, forged marks, schedulers, keys of the wrong type), nothing outside of its namespace and prefix changes, and
 * others' submissions end as their Jobs do. Method: stories for ten seconds here, with SWITCHYARD_SLOW=1 1,500 or as many as
 * SWITCHYARD_REDIS_STORIES says; `npm run simulate -- --world redis-tenant` plays others, one at a time.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRedisFuzz, type RedisFuzz } from '../simulation/redis/redis-fuzz.ts';
import { isSlow } from '../support/slow.ts';

/** At least as many stories are played, and more for as long; 10,000 take a quarter of an hour. */
const STORIES_MIN = isSlow ? Number(process.env['SWITCHYARD_REDIS_STORIES'] ?? 1_500) : 40;
const BUDGET_MS = isSlow ? 0 : 10_000;
const AT_ONCE = isSlow ? 50 : 20;
const LIMIT_MS = isSlow ? 5_400_000 : 240_000;

let fuzz: RedisFuzz;
beforeAll(async () => {
  fuzz = await openRedisFuzz();
}, LIMIT_MS);
afterAll(() => fuzz.close());

test('nothing of others changes, story after story', { timeout: LIMIT_MS }, async () => {
  const untilMs = performance.now() + BUDGET_MS;
  const sums = new Map<string, number>();
  for (let seed = 1; seed <= STORIES_MIN || performance.now() < untilMs; seed += AT_ONCE) {
    const { violations, faults } = await fuzz.playAll(Array.from({ length: AT_ONCE }, (_, index) => seed + index));
    expect(
      violations,
      `one of ${AT_ONCE} stories from ${seed} on: npm run simulate -- --world redis-tenant --seed ${seed} --trace`,
    ).toEqual([]);
    for (const [what, count] of faults) sums.set(what, (sums.get(what) ?? 0) + count);
  }
  // Where everything is refused nothing is shown.
  expect(sums.get('jobs made')).toBeGreaterThan(0);
  expect(sums.get('refused by Redis')).toBeGreaterThan(0);
});
