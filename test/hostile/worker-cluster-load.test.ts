/** A hostile worker cluster plays everything at once against the manager as a program, while two honest ones run Jobs. */
import { expect, test } from 'vitest';
import { measureHostileCluster, print } from '../bench/hostile-cluster.ts';
import { isSlow } from '../support/slow.ts';

const [JOBS, PAIRS] = [600, 2];

test.runIf(!isSlow)('a hostile cluster under load', ({ skip }) =>
  skip('it takes a minute, as part of npm run test:operations: SWITCHYARD_SLOW=1'),
);
test.runIf(isSlow)(
  'a hostile cluster costs the others little and the manager a bounded amount of memory',
  { timeout: 900_000 },
  async () => {
    const figures = await measureHostileCluster(JOBS, PAIRS);
    print(figures);
    // All Jobs ran on the honest clusters, or it would not have come to an end. A busy machine gives each phase another share of itself,
    // and
    // one of a few seconds is mostly the first moments of the attack.
    expect(figures.throughput).toBeGreaterThan(0.5);
    expect(figures.growthMib).toBeLessThan(96);
  },
);
