/** A hostile worker cluster plays everything at once against the manager as a program, while two honest ones run Jobs. */
import { expect, test } from 'vitest';
import { measureHostileCluster, print } from '../bench/hostile-cluster.ts';

/** With SWITCHYARD_SLOW=1 it goes on for more than a minute. */
const SLOW = process.env['SWITCHYARD_SLOW'] === '1';
const [JOBS, PAIRS] = SLOW ? [1_000, 4] : [60, 1];

test('a hostile cluster costs the others little and the manager a bounded amount of memory', { timeout: 900_000 }, async () => {
  const figures = await measureHostileCluster(JOBS, PAIRS);
  print(figures);
  // All Jobs ran on the honest clusters, or it would not have come to an end. A busy machine gives each phase another share of itself, and
  // one of a few seconds is mostly the first moments of the attack.
  expect(figures.throughput).toBeGreaterThan(SLOW ? 0.5 : 0.2);
  expect(figures.growthMib).toBeLessThan(96);
});
