/**
 * Goal: whatever a tenant with the rights of `edit` writes in his namespace, with no webhook in force, his pods never hold more than his
 * quota, and none runs outside his namespace. Method: some stories here, thousands of writes with SWITCHYARD_SLOW=1 or `npm run simulate --
 * --world tenant`.
 */
import { expect, test } from 'vitest';
import { fuzzTenant, SHRINKING_STORY } from '../simulation/dispatch/tenant-fuzz.ts';
import { isSlow } from '../support/slow.ts';

const WRITES = 50;
const STORIES = isSlow ? 200 : 10;

/** Pods that the tenant got to run, by story. */
const ran: number[] = [];

test.each(Array.from({ length: STORIES }, (_, position) => position + 1))('seed %d', async (seed) => {
  const { violations, podsEnded, taken } = await fuzzTenant(seed, WRITES);
  expect(violations).toEqual([]);
  expect(taken).toBeGreaterThan(WRITES / 4);
  ran.push(podsEnded);
});

// 37 had him lower the parallelism of a Job and raise it while its pods stopped; 14 had its copy refused for ever.
test.each([14, 37])('one whose Jobs give quota back while they run, seed %d', async (seed) => {
  const { violations, podsEnded, calls } = await fuzzTenant(seed, 2 * WRITES, undefined, SHRINKING_STORY);
  expect(violations).toEqual([]);
  expect(podsEnded).toBeGreaterThan(0);
  expect(calls).toBeLessThan(3_000);
});

test('in most stories some of it runs: where everything is refused nothing is shown', () => {
  expect(ran.filter((pods) => pods > 0).length).toBeGreaterThan(STORIES / 2);
});
