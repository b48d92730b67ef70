import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hasNoVictimElsewhere } from '../../../../../manager/admission/preemption/fair-bound.ts';
import { fairPreemption, type FairCandidate, type FairSearch } from '../../../../../manager/admission/preemption/fair-preemption.ts';
import { FairStrategy } from '../../../../../manager/admission/fair-sharing/fair-strategy.ts';
import { addUsage, available, removeUsage } from '../../../../../manager/admission/quota/quota-tree.ts';
import { aTree, charges } from '../trees.ts';

const CPU = 'default/cpu';
const QUEUES = ['a', 'b', 'c', 'd'] as const;
type Queue = (typeof QUEUES)[number];

/** Queues a and b stand below a Cohort of their own, c and d beside it; each has a quota of 3. */
function searchIn(
  running: readonly (readonly [queue: Queue, cpu: number])[],
  wants: readonly [queue: Queue, cpu: number],
  {
    weights = [1, 1, 1, 1, 1],
    strategies = Object.values(FairStrategy),
  }: { weights?: readonly number[]; strategies?: readonly FairStrategy[] } = {},
): FairSearch<FairCandidate> {
  const [a = 1, b = 1, c = 1, d = 1, left = 1] = weights;
  const quota = { cpu: 3 };
  const { queue, usage } = aTree(
    {
      a: { in: 'left', quota, weight: a },
      b: { in: 'left', quota, weight: b },
      c: { in: 'root', quota, weight: c },
      d: { in: 'root', quota, weight: d },
    },
    { left: { in: 'root', weight: left }, root: {} },
  );
  const jobs = running.map(([of, cpu]): FairCandidate => ({ queue: queue(of), charges: charges({ cpu }) }));
  const put: FairSearch<FairCandidate>['restore'] = (to, job) => {
    for (const [key, amount] of job.charges) addUsage(job.queue, to, key, amount);
  };
  for (const job of jobs) put(usage, job);
  const own = queue(wants[0]);
  const asked = charges({ cpu: wants[1] });
  return {
    preemptor: { queue: own, charges: asked },
    contested: [CPU],
    candidatesOf: (node) => jobs.filter((job) => job.queue === node && job.queue !== own),
    compare: (x, y) => jobs.indexOf(x) - jobs.indexOf(y),
    strategies,
    usage,
    remove: (from, job) => {
      for (const [key, amount] of job.charges) removeUsage(job.queue, from, key, amount);
    },
    restore: put,
    fits: (after) => asked.every(([key, amount]) => amount <= available(own, after, key)),
  };
}

describe('whether anybody elsewhere may go', () => {
  test('nobody does for one that would have more than all others', () => {
    expect(
      hasNoVictimElsewhere(
        searchIn(
          [
            ['c', 6],
            ['d', 6],
          ],
          ['d', 1],
        ),
      ),
    ).toBe(true);
  });
  test('somebody may for one that would have as much as another', () => {
    expect(
      hasNoVictimElsewhere(
        searchIn(
          [
            ['c', 7],
            ['d', 5],
          ],
          ['d', 2],
        ),
      ),
    ).toBe(false);
  });
  test('somebody may for one that takes back its own', () => {
    expect(
      hasNoVictimElsewhere(
        searchIn(
          [
            ['c', 10],
            ['d', 2],
          ],
          ['d', 1],
        ),
      ),
    ).toBe(false);
  });
  test('what is written to the usage later counts', () => {
    const search = searchIn(
      [
        ['c', 6],
        ['d', 6],
      ],
      ['d', 1],
    );
    expect(hasNoVictimElsewhere(search)).toBe(true);
    const { queue } = search.preemptor;
    const other = queue.parent?.children.find(({ clusterQueue }) => clusterQueue === 'c');
    search.restore(search.usage, { queue: other ?? queue, charges: charges({ cpu: 5 }) });
    expect(hasNoVictimElsewhere(search)).toBe(false);
  });
});

test('where it says that nobody goes, the search finds nobody, whatever is running', () => {
  const cpu = fc.integer({ min: 1, max: 5 });
  const weight = fc.constantFrom(0, 0.5, 1, 2);
  const job = fc.tuple(fc.constantFrom(...QUEUES), cpu);
  const strategies = fc.constantFrom(
    Object.values(FairStrategy),
    [FairStrategy.LessThanInitialShare],
    [FairStrategy.LessThanOrEqualToFinalShare],
  );
  let [spared, searched] = [0, 0];
  fc.assert(
    fc.property(
      fc.array(job, { maxLength: 10 }),
      job,
      fc.array(weight, { minLength: 5, maxLength: 5 }),
      strategies,
      (running, wants, weights, given) => {
        const search = searchIn(running, wants, { weights, strategies: given });
        searched++;
        if (!hasNoVictimElsewhere(search)) return;
        spared++;
        expect(fairPreemption(search)).toEqual([]);
      },
    ),
    { numRuns: 1000 },
  );
  expect(spared / searched).toBeGreaterThan(0.1);
});
