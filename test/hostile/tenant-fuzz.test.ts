/**
 * Goal: whatever a tenant with the rights of `edit` writes in his namespace, with no webhook in force, his pods never hold more than his quota, and
 * none runs outside his namespace. Method: some stories here, thousands of writes with SWITCHYARD_SLOW=1 or `npm run simulate -- --world tenant`.
 */
import { expect, test } from 'vitest';
import { fuzzTenant } from '../simulation/dispatch/tenant-fuzz.ts';

const WRITES = 50;
const STORIES = process.env['SWITCHYARD_SLOW'] === '1' ? 200 : 10;

test.each(Array.from({ length: STORIES }, (_, position) => position + 1))('seed %d', async (seed) => {
  const { violations, podsEnded, taken } = await fuzzTenant(seed, WRITES);
  expect(violations).toEqual([]);
  // Where everything is refused nothing is shown.
  expect(taken).toBeGreaterThan(WRITES / 4);
  expect(podsEnded).toBeGreaterThan(0);
});
