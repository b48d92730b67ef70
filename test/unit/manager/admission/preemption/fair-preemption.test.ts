import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAmount } from '../../../../../manager/api/amount.ts';
import { fairPreemption, type FairCandidate } from '../../../../../manager/admission/preemption/fair-preemption.ts';
import { FairStrategy } from '../../../../../manager/admission/fair-sharing/fair-strategy.ts';
import { isBorrowing, shareOf } from '../../../../../manager/admission/preemption/fair-sharing.ts';
import { addUsage, available, removeUsage } from '../../../../../manager/admission/quota/quota-tree.ts';
import type { Usage } from '../../../../../manager/admission/quota/usage.ts';
import { aTree, charges, type Tree } from '../trees.ts';

type Job = FairCandidate & { readonly name: string; readonly of: string; readonly priority: number };
type Running = readonly [name: string, queue: string, cpu: number, priority?: number];
type Situation = {
  readonly tree: Tree;
  readonly running: readonly Running[];
  readonly wants: { readonly queue: string; readonly cpu: number; readonly priority?: number };
  readonly strategies?: readonly FairStrategy[];
  readonly preemptedFor?: string;
  /** Whom its policies allow: by default those of lower priority in its own queue, and any in others. */
  readonly within?: 'LowerPriority' | 'Never';
  readonly reclaim?: 'Any' | 'LowerPriority';
};
const CPU = 'default/cpu';
const BOTH = Object.values(FairStrategy);

const remove = (usage: Usage, { queue, charges: held }: FairCandidate): void => {
  for (const [key, amount] of held) removeUsage(queue, usage, key, amount);
};
const restore = (usage: Usage, { queue, charges: held }: FairCandidate): void => {
  for (const [key, amount] of held) addUsage(queue, usage, key, amount);
};

function search(situation: Situation) {
  const { tree, running, wants, strategies = BOTH, preemptedFor, within = 'LowerPriority', reclaim = 'Any' } = situation;
  const { queue: nodeOf, usage } = tree;
  const jobs = running.map(([name, of, cpu, priority = 0]): Job => ({ name, of, priority, queue: nodeOf(of), charges: charges({ cpu }) }));
  for (const { of, charges: held } of jobs) for (const [key, amount] of held) addUsage(nodeOf(of), usage, key, amount);
  const { queue, cpu, priority = 0 } = wants;
  const own = nodeOf(queue);
  const borrows = (name: string): boolean => usage.get(nodeOf(name).id, CPU) > (nodeOf(name).subtree.get(CPU) ?? 0);
  const candidates = jobs
    .filter((job) =>
      job.of === queue
        ? within === 'LowerPriority' && job.priority < priority
        : borrows(job.of) && (reclaim === 'Any' || job.priority < priority),
    )
    .toSorted((a, b) => a.priority - b.priority || (a.name < b.name ? -1 : 1));
  const asked = charges({ cpu });
  return {
    jobs,
    victims: fairPreemption<Job>({
      preemptor: { queue: own, charges: asked },
      contested: [CPU],
      candidatesOf: (node) => candidates.filter((job) => job.queue === node),
      compare: (a, b) => candidates.indexOf(a) - candidates.indexOf(b),
      strategies,
      preemptedFor,
      usage,
      remove,
      restore,
      fits: (after) => asked.every(([key, amount]) => amount <= available(own, after, key)),
    }),
  };
}
const preempted = (situation: Situation): string[] =>
  search(situation)
    .victims.map(({ candidate, rule }) => `${candidate.name} ${rule}`)
    .toSorted();

const three = (): Tree => {
  const part = { in: 'all', quota: { cpu: 3 } };
  return aTree({ a: part, b: part, c: part, loose: { in: 'all', quota: { cpu: 0 } } });
};
/** So many Jobs of one cpu each: `a1`, `a2`, ... */
const units = (queue: string, count: number, priority = 0): Running[] =>
  Array.from({ length: count }, (_, index) => [`${queue}${index + 1}`, queue, 1, priority]);

describe('preemption with fair sharing, in three queues of 3 cpu each', () => {
  const cases: (Omit<Situation, 'tree'> & { readonly name: string; readonly expected: readonly string[] })[] = [
    {
      name: 'its own quota is taken back from who borrows most',
      running: [...units('a', 3), ...units('b', 5), ...units('c', 1)],
      wants: { queue: 'c', cpu: 1 },
      expected: ['b1 InCohortReclamation'],
    },
    {
      name: 'its own quota is taken back from who borrows less, where the other has too little to give',
      running: [
        ['a1', 'a', 3],
        ['a2', 'a', 1],
        ['b1', 'b', 2],
        ['b2', 'b', 3],
      ],
      wants: { queue: 'c', cpu: 3 },
      expected: ['a1 InCohortReclamation'],
    },
    {
      name: 'idle quota is taken from who borrows most',
      running: [...units('a', 3), ...units('b', 5), ...units('c', 1)],
      wants: { queue: 'a', cpu: 1 },
      expected: ['b1 InCohortFairSharing'],
    },
    {
      name: 'one Job of each borrower goes, where both borrow as much',
      running: [
        ['a1', 'a', 0.5],
        ['a2', 'a', 0.5],
        ['a3', 'a', 3],
        ['b1', 'b', 0.5],
        ['b2', 'b', 0.5],
        ['b3', 'b', 3],
      ],
      wants: { queue: 'c', cpu: 2 },
      expected: ['a1 InCohortReclamation', 'b1 InCohortReclamation'],
    },
    {
      name: 'where nobody borrows nobody goes',
      running: [...units('a', 3), ...units('b', 3), ...units('c', 3)],
      wants: { queue: 'c', cpu: 1 },
      expected: [],
    },
    {
      name: 'two queues do not change places',
      running: [...units('a', 3), ...units('b', 5)],
      wants: { queue: 'a', cpu: 2 },
      expected: [],
    },
    {
      name: 'Jobs of lower priority of its own queue go',
      running: [['x1', 'a', 1, -1], ['x2', 'a', 1, -1], ['x3', 'a', 1], ['x4', 'a', 1], ...units('b', 5)],
      wants: { queue: 'a', cpu: 2 },
      expected: ['x1 InClusterQueue', 'x2 InClusterQueue'],
    },
    {
      name: 'one of its own and one of who borrows most go together',
      running: [['x1', 'a', 1, -1], ['x2', 'a', 1], ['x3', 'a', 1], ...units('b', 6)],
      wants: { queue: 'a', cpu: 2 },
      expected: ['b1 InCohortFairSharing', 'x1 InClusterQueue'],
    },
    {
      name: 'a huge Job goes for what is its own',
      running: [['b1', 'b', 9]],
      wants: { queue: 'a', cpu: 2 },
      expected: ['b1 InCohortReclamation'],
    },
    {
      name: 'a huge Job does not go for another huge one',
      running: [
        ['a1', 'a', 2],
        ['b1', 'b', 7],
      ],
      wants: { queue: 'a', cpu: 5 },
      expected: [],
    },
    {
      name: 'several small Jobs do not go for a huge one',
      running: [
        ['b1', 'b', 2],
        ['b2', 'b', 2],
        ['b3', 'b', 3],
      ],
      wants: { queue: 'a', cpu: 6 },
      expected: [],
    },
    {
      name: 'a Job of its own goes although it borrows, if that makes it fairer',
      running: [
        ['x1', 'a', 2, -1],
        ['x2', 'a', 1, -1],
        ['b1', 'b', 3],
        ['b2', 'b', 3],
      ],
      wants: { queue: 'a', cpu: 4 },
      expected: ['b1 InCohortFairSharing', 'x1 InClusterQueue'],
    },
    {
      name: 'a Job is spared by the first strategy that would go by the second, if the first finds another',
      running: [
        ['b1', 'b', 2],
        ['b2', 'b', 1],
        ['b3', 'b', 2],
        ['c1', 'c', 1],
      ],
      wants: { queue: 'a', cpu: 3.5 },
      expected: ['b2 InCohortFairSharing'],
    },
    {
      name: 'Jobs of two queues go, if both have more before than it has afterwards',
      running: [
        ['b1', 'b', 2],
        ['b2', 'b', 2.5],
        ['c1', 'c', 2],
        ['c2', 'c', 2.5],
      ],
      wants: { queue: 'a', cpu: 3.5 },
      expected: ['b1 InCohortFairSharing', 'c1 InCohortFairSharing'],
    },
    {
      name: 'what went that way does not come back that way',
      running: [
        ['a1', 'a', 3.5],
        ['b2', 'b', 2.5],
        ['c2', 'c', 2.5],
      ],
      wants: { queue: 'b', cpu: 2 },
      expected: [],
    },
    {
      name: 'a queue that would fall below its own quota is not touched a second time',
      running: [
        ['b1', 'b', 3],
        ['b2', 'b', 3],
        ['c1', 'c', 3],
      ],
      wants: { queue: 'a', cpu: 4 },
      expected: [],
    },
    {
      name: 'a low priority alone is no reason',
      running: [...units('a', 3), ...units('b', 3), ...units('loose', 3, -3)],
      wants: { queue: 'a', cpu: 2 },
      expected: [],
    },
    {
      name: 'by the initial share alone the lowest priority goes first, however big',
      strategies: [FairStrategy.LessThanInitialShare],
      running: [
        ['a1', 'a', 3],
        ['low', 'b', 5],
        ['high', 'b', 1, 1],
      ],
      wants: { queue: 'a', cpu: 1 },
      expected: ['low InCohortFairSharing'],
    },
    {
      name: 'by the final share alone who is small enough goes, whatever its priority',
      strategies: [FairStrategy.LessThanOrEqualToFinalShare],
      running: [
        ['a1', 'a', 3],
        ['low', 'b', 5],
        ['high', 'b', 1, 1],
      ],
      wants: { queue: 'a', cpu: 1 },
      expected: ['high InCohortFairSharing'],
    },
  ];
  test.each(cases)('$name', ({ expected, ...situation }) => {
    expect(preempted({ tree: three(), ...situation })).toEqual(expected);
  });
});

test('one of its own queue goes, though it would fit without, where another was taken for the share that this leaves', () => {
  const running: readonly Running[] = [
    ['a-low', 'a', 2, -1],
    ['a-usual', 'a', 1],
    ['b-first', 'b', 3],
    ['b-second', 'b', 3],
  ];
  // With a-low, queue a would have as much as queue b had before, and a Job of b could take its place back.
  expect(preempted({ tree: three(), running, wants: { queue: 'a', cpu: 3 } })).toEqual([
    'a-low InClusterQueue',
    'b-first InCohortFairSharing',
  ]);
});

describe('a Job that was preempted for another queue', () => {
  const running: readonly Running[] = [...units('a', 3), ['b-middle', 'b', 2], ['b-small', 'b', 1], ['b-usual', 'b', 3]];
  const takes = (cpu: number, preemptedFor?: string, strategies = BOTH): string[] =>
    preempted({ tree: three(), running, wants: { queue: 'a', cpu }, strategies, ...(preemptedFor === undefined ? {} : { preemptedFor }) });

  test('takes nothing back by what the other queue had before', () => {
    expect(takes(1.9)).toEqual(['b-middle InCohortFairSharing']);
    expect(takes(1.9, 'b')).toEqual([]);
    expect(takes(1.9, 'b', [FairStrategy.LessThanInitialShare])).toEqual([]);
    expect(takes(1.9, 'c')).toEqual(['b-middle InCohortFairSharing']);
  });

  test('takes back what leaves the other queue with as much', () => {
    expect(takes(0.9, 'b')).toEqual(['b-middle InCohortFairSharing']);
    expect(takes(0.9, 'b', [FairStrategy.LessThanInitialShare])).toEqual(['b-middle InCohortFairSharing']);
  });
});

describe('preemption with weights', () => {
  const quota = { cpu: 3 };
  test('a queue of twice the weight takes twice as much', () => {
    const tree = aTree({ a: { in: 'all', quota, weight: 2 }, b: { in: 'all', quota }, c: { in: 'all', quota } });
    expect(preempted({ tree, running: [...units('a', 3), ...units('b', 6)], wants: { queue: 'a', cpu: 2 } })).toEqual([
      'b1 InCohortFairSharing',
      'b2 InCohortFairSharing',
    ]);
  });

  test('all that is borrowed without weight may be taken, and nothing that is not', () => {
    const tree = () => aTree({ a: { in: 'all', quota }, b: { in: 'all', quota, weight: 0 }, c: { in: 'all', quota } });
    expect(preempted({ tree: tree(), running: [...units('a', 3), ...units('b', 6)], wants: { queue: 'a', cpu: 3 } })).toHaveLength(3);
    expect(
      preempted({ tree: tree(), running: [...units('a', 3), ...units('b', 3), ...units('c', 3)], wants: { queue: 'a', cpu: 1 } }),
    ).toEqual([]);
  });

  test('what belongs to a cohort without weight is not taken from it', () => {
    const tree = aTree(
      { left: { in: 'root', quota: { cpu: 0 } }, right: { in: 'its-own', quota: { cpu: 0 }, weight: 0 } },
      { 'its-own': { in: 'root', quota: { cpu: 1 }, weight: 0 } },
    );
    expect(preempted({ tree, running: [['right-1', 'right', 1]], wants: { queue: 'left', cpu: 1 } })).toEqual([]);
  });

  test('whoever borrows without weight takes nothing from who has one', () => {
    const one = { cpu: 1 };
    const tree = aTree({ a: { in: 'all', quota: one, weight: 0 }, b: { in: 'all', quota: one } });
    expect(preempted({ tree, running: [...units('a', 1), ...units('b', 2)], wants: { queue: 'a', cpu: 1 } })).toEqual([]);
  });

  test('of two without weight the one that borrows more gives', () => {
    const tree = aTree(
      { a: { in: 'all', quota: { cpu: 1 }, weight: 0 }, b: { in: 'all', quota: { cpu: 0 }, weight: 0 } },
      { all: { quota: { cpu: 3 } } },
    );
    expect(preempted({ tree, running: units('b', 3), wants: { queue: 'a', cpu: 2 } })).toEqual(['b1 InCohortFairSharing']);
  });

  test('whoever has no weight takes back what is its own, and so does a cohort', () => {
    const queue = aTree({ a: { in: 'all', quota: { cpu: 1 }, weight: 0 }, b: { in: 'all', quota: { cpu: 0 } } });
    expect(preempted({ tree: queue, running: units('b', 1), wants: { queue: 'a', cpu: 1 } })).toEqual(['b1 InCohortReclamation']);
    const cohort = aTree(
      { a: { in: 'A', quota: { cpu: 0 }, weight: 0 }, b: { in: 'root', quota: { cpu: 0 } } },
      { A: { in: 'root', quota: { cpu: 1 }, weight: 0 } },
    );
    expect(preempted({ tree: cohort, running: units('b', 1), wants: { queue: 'a', cpu: 1 } })).toEqual(['b1 InCohortFairSharing']);
  });
});

describe('preemption in a tree', () => {
  test('from each branch goes who has most there, until all are as fair as they can be', () => {
    const quota = { cpu: 1 };
    const five = { cpu: 5 };
    const tree = aTree(
      {
        a: { in: 'left', quota, weight: 2 },
        b: { in: 'left', quota },
        c: { in: 'root', quota },
        d: { in: 'right', quota },
        e: { in: 'right', quota, weight: '0.99' },
      },
      { root: { quota: five }, left: { in: 'root', quota: five, weight: 2 }, right: { in: 'root', quota: five } },
    );
    const running = ['b', 'c', 'd', 'e'].flatMap((queue) =>
      [1, 2, 3, 4, 5].map((priority): Running => [`${queue}${priority}`, queue, 1, priority]),
    );
    expect(preempted({ tree, running, wants: { queue: 'a', cpu: 5 }, within: 'Never' })).toEqual(
      ['b1', 'b2', 'c1', 'c2', 'e1'].map((name) => `${name} InCohortFairSharing`),
    );
  });

  test('a queue that borrows from its own cohort only is left alone', () => {
    const tree = aTree(
      { a: { in: 'root', quota: { cpu: 5 }, weight: 10 }, b: { in: 'right', weight: '0.1' } },
      { right: { in: 'root', quota: { cpu: 1 }, weight: '0.1' } },
    );
    expect(preempted({ tree, running: [...units('a', 3, -1), ['b1', 'b', 1, -1]], wants: { queue: 'a', cpu: 5 } })).toEqual(
      ['a1', 'a2', 'a3'].map((name) => `${name} InClusterQueue`),
    );
  });

  test('a high priority that the policy spares leaves only those of its own queue', () => {
    const tree = aTree(
      { a: { in: 'root', quota: { cpu: 5 }, weight: 10 }, b: { in: 'right', weight: '0.1' } },
      { right: { in: 'root', quota: { cpu: 3 }, weight: '0.1' } },
    );
    expect(
      preempted({ tree, running: [...units('a', 3, -1), ['b1', 'b', 4, 100]], wants: { queue: 'a', cpu: 4 }, reclaim: 'LowerPriority' }),
    ).toEqual(['a1', 'a2', 'a3'].map((name) => `${name} InClusterQueue`));
  });

  test('the more important branch takes from the less important one, however deep both are', () => {
    const quota = { cpu: 0 };
    const tree = aTree(
      { a: { in: 'AAA', quota }, b: { in: 'BBB', quota } },
      {
        root: {},
        A: { in: 'root', weight: '1.01' },
        AA: { in: 'A' },
        AAA: { in: 'AA' },
        B: { in: 'root', weight: '0.99' },
        BB: { in: 'B' },
        BBB: { in: 'BB' },
        C: { in: 'root' },
        CC: { in: 'C', quota: { cpu: 1 } },
      },
    );
    expect(preempted({ tree, running: units('b', 1), wants: { queue: 'a', cpu: 1 } })).toEqual(['b1 InCohortFairSharing']);
  });

  test('those whom the first strategy passed over as hopeless are tried by the second, when the shares are others', () => {
    const tree = aTree(
      { p: { in: 'A', quota: { cpu: 2 } }, y: { in: 'A', quota: { cpu: 2 } }, x: { in: 'root', quota: { cpu: 1 } } },
      { A: { in: 'root', quota: { cpu: 1 }, weight: 0 } },
    );
    const running: Running[] = [['p1', 'p', 2], ['y1', 'y', 2], ['y2', 'y', 2], ...units('x', 2)];
    expect(preempted({ tree, running, wants: { queue: 'p', cpu: 1 } })).toEqual(['x1 InCohortFairSharing', 'y1 InCohortFairSharing']);
  });

  test('without a cohort those of lower priority of its own queue go', () => {
    const tree = aTree({ a: { quota: { cpu: 1 } } });
    expect(preempted({ tree, running: units('a', 1), wants: { queue: 'a', cpu: 1, priority: 1000 } })).toEqual(['a1 InClusterQueue']);
    const full = aTree({ a: { quota: { cpu: 1 } } });
    expect(preempted({ tree: full, running: units('a', 1), wants: { queue: 'a', cpu: 2, priority: 1000 } })).toEqual([]);
  });
});

describe('whatever is running', () => {
  const cpu = fc.integer({ min: 1, max: 4 });
  const weight = fc.constantFrom(0, 0.5, 1, 2);
  const QUEUES = ['a', 'b', 'c', 'd'] as const;
  const worlds = fc.record({
    weights: fc.tuple(weight, weight, weight, weight, weight),
    running: fc.array(fc.tuple(fc.constantFrom(...QUEUES), cpu, fc.integer({ min: 0, max: 2 })), { maxLength: 10 }),
    wants: fc.record({ queue: fc.constantFrom(...QUEUES), cpu, priority: fc.integer({ min: 0, max: 2 }) }),
    strategies: fc.constantFrom(BOTH, [FairStrategy.LessThanInitialShare], [FairStrategy.LessThanOrEqualToFinalShare]),
  });

  test('the victims make it fit, each that borrowed is needed for it, and all are where nobody is taken from others by shares', () => {
    fc.assert(
      fc.property(worlds, ({ weights, running, wants, strategies }) => {
        const quota = { cpu: 3 };
        const tree = aTree(
          {
            a: { in: 'left', quota, weight: weights[0] },
            b: { in: 'left', quota, weight: weights[1] },
            c: { in: 'root', quota, weight: weights[2] },
            d: { in: 'root', quota, weight: weights[3] },
          },
          { left: { in: 'root', weight: weights[4] }, root: {} },
        );
        const jobs = running.map(([queue, amount, priority], index): Running => [`j${index}`, queue, amount, priority]);
        const { victims } = search({ tree, running: jobs, wants, strategies });
        const own = tree.queue(wants.queue);
        const asked = parseAmount('cpu', wants.cpu);
        const after = tree.usage.fork();
        for (const { candidate } of victims) remove(after, candidate);
        // Whoever fits asks nobody.
        fc.pre(asked > available(own, tree.usage, CPU));
        if (victims.length === 0) return;
        expect(asked).toBeLessThanOrEqual(available(own, after, CPU));
        const isByShares = victims.some(({ rule }) => rule === 'InCohortFairSharing');
        for (const { candidate } of victims) {
          // Those of its own queue may have to go for the shares alone.
          if (candidate.queue === own && isByShares) continue;
          restore(after, candidate);
          expect(asked).toBeGreaterThan(available(own, after, CPU));
          remove(after, candidate);
        }
        for (const { candidate } of victims.filter(({ candidate: { queue } }) => queue !== own)) {
          expect(isBorrowing(shareOf(candidate.queue, tree.usage))).toBe(true);
        }
      }),
      { numRuns: 400 },
    );
  });
});
