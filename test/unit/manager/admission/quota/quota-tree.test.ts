import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClusterQueue } from '../../../../../manager/api/cluster-queue.ts';
import type { Cohort } from '../../../../../manager/api/cohort.ts';
import { parseAmount } from '../../../../../manager/api/amount.ts';
import {
  addUsage,
  available,
  borrowingReach,
  buildQuotaTree,
  potentialAvailable,
  removeUsage,
  type QuotaTree,
} from '../../../../../manager/admission/quota/quota-tree.ts';
import { createUsage } from '../../../../../manager/admission/quota/usage.ts';
import { omitUndefined } from '../../../../../shared/runtime/omit-undefined.ts';

type Quota = { readonly nominal: number; readonly borrowing?: number; readonly lending?: number };
const groups = ({ nominal, borrowing, lending }: Quota) => [
  {
    coveredResources: ['gpu'],
    flavors: [
      {
        name: 'f',
        resources: [
          {
            name: 'gpu',
            nominalQuota: nominal,
            ...omitUndefined({ borrowingLimit: borrowing, lendingLimit: lending }),
          },
        ],
      },
    ],
  },
];
const meta = (name: string) => ({ name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' });
const queue = (name: string, quota: Quota, cohortName?: string): ClusterQueue => ({
  metadata: meta(name),
  spec: { resourceGroups: groups(quota), ...omitUndefined({ cohortName }) },
});
const cohort = (name: string, parentName?: string, quota?: Quota): Cohort => ({
  metadata: meta(name),
  spec: { ...omitUndefined({ parentName }), ...(quota === undefined ? {} : { resourceGroups: groups(quota) }) },
});

const nodeOf = (tree: QuotaTree, name: string) => {
  const node = tree.clusterQueues.get(name);
  if (node === undefined) throw new Error(`no node ${name}`);
  return node;
};
const gpu = (count: number) => parseAmount('gpu', count);
const using = (tree: QuotaTree, used: Record<string, number>) => {
  const usage = createUsage();
  for (const [name, count] of Object.entries(used)) addUsage(nodeOf(tree, name), usage, 'f/gpu', gpu(count));
  return { free: (name: string) => available(nodeOf(tree, name), usage, 'f/gpu'), usage };
};

describe('what a ClusterQueue may use', () => {
  test('alone, it may use its nominal quota', () => {
    const tree = buildQuotaTree([queue('a', { nominal: 10 })], []);
    expect(using(tree, {}).free('a')).toBe(10);
    expect(using(tree, { a: 4 }).free('a')).toBe(6);
  });

  test('quota reduced below usage shows as a negative rest', () => {
    const tree = buildQuotaTree([queue('a', { nominal: 3 })], []);
    expect(using(tree, { a: 5 }).free('a')).toBe(-2);
  });

  test('in a cohort it may use what the others leave idle, even if the cohort is only named', () => {
    const tree = buildQuotaTree([queue('a', { nominal: 10 }, 'team'), queue('b', { nominal: 5 }, 'team')], []);
    expect(using(tree, {}).free('a')).toBe(15);
    expect(using(tree, { b: 3 }).free('a')).toBe(12);
    expect(using(tree, { a: 12 }).free('b')).toBe(3);
  });

  test('borrowingLimit caps what it takes beyond nominal', () => {
    const tree = buildQuotaTree([queue('a', { nominal: 10, borrowing: 2 }, 'team'), queue('b', { nominal: 5 }, 'team')], []);
    expect(using(tree, {}).free('a')).toBe(12);
    expect(using(tree, { a: 11 }).free('a')).toBe(1);
    expect(using(tree, { b: 4 }).free('a')).toBe(11);
    expect(potentialAvailable(nodeOf(tree, 'a'), 'f/gpu')).toBe(12);
  });

  test('lendingLimit keeps the rest of nominal for its owner', () => {
    const tree = buildQuotaTree([queue('a', { nominal: 0 }, 'team'), queue('b', { nominal: 5, lending: 2 }, 'team')], []);
    expect(using(tree, {}).free('a')).toBe(2);
    expect(using(tree, { a: 2 }).free('b')).toBe(3);
    expect(using(tree, { b: 3 }).free('a')).toBe(2);
    expect(using(tree, { b: 4 }).free('a')).toBe(1);
  });

  test('cohorts have quota of their own and pass the rest of it down', () => {
    const tree = buildQuotaTree([queue('a', { nominal: 1 }, 'team')], [cohort('team', undefined, { nominal: 7 })]);
    expect(using(tree, { a: 3 }).free('a')).toBe(5);
  });

  test('a limit of a cohort in the middle holds for all below it', () => {
    const tree = buildQuotaTree(
      [queue('a', { nominal: 2 }, 'left'), queue('b', { nominal: 2 }, 'left'), queue('c', { nominal: 10 }, 'right')],
      [cohort('left', 'top', { nominal: 0, borrowing: 3 }), cohort('right', 'top', { nominal: 0, lending: 8 })],
    );
    expect(using(tree, {}).free('a')).toBe(7);
    expect(using(tree, { b: 5 }).free('a')).toBe(2);
    expect(using(tree, { a: 7 }).free('c')).toBe(7);
    expect(potentialAvailable(nodeOf(tree, 'c'), 'f/gpu')).toBe(14);
  });

  test('knows its weight, and what the parent could lend its children', () => {
    const weighty: ClusterQueue = { ...queue('a', { nominal: 2 }, 'left'), spec: { cohortName: 'left', fairSharing: { weight: '500m' } } };
    const tree = buildQuotaTree(
      [weighty, queue('b', { nominal: 6, lending: 4 }, 'top')],
      [cohort('left', 'top', { nominal: 1, borrowing: 3 }), cohort('top')],
    );
    expect([nodeOf(tree, 'a').weight, tree.cohorts.get('left')?.weight]).toEqual([0.5, 1]);
    expect(nodeOf(tree, 'a').lendable).toEqual(new Map([['gpu', 4]]));
    expect(tree.cohorts.get('left')?.lendable).toEqual(new Map([['gpu', 5]]));
    expect(tree.cohorts.get('top')?.lendable).toEqual(new Map());
  });

  test('a cycle of cohorts leaves its ClusterQueues unusable and the others alone', () => {
    const tree = buildQuotaTree([queue('a', { nominal: 1 }, 'x'), queue('b', { nominal: 1 }, 'z')], [cohort('x', 'y'), cohort('y', 'x')]);
    expect([...tree.clusterQueues.keys()]).toEqual(['b']);
    expect(tree.cycles.get('a')).toBe('x -> y -> x');
  });

  test('borrowing begins where nominal ends', () => {
    const tree = buildQuotaTree([queue('a', { nominal: 2 }, 'team'), queue('b', { nominal: 2 }, 'team')], []);
    const { usage } = using(tree, { a: 1 });
    expect(borrowingReach(nodeOf(tree, 'a'), usage, 'f/gpu', gpu(1))).toEqual({ height: 0, reclaimable: true });
    expect(borrowingReach(nodeOf(tree, 'a'), usage, 'f/gpu', gpu(2))).toEqual({ height: 1, reclaimable: false });
  });

  test('who can borrow from near does not reach up to the root, and can have back what others of the tree took there', () => {
    const tree = buildQuotaTree(
      [queue('a', { nominal: 0 }, 'near'), queue('b', { nominal: 0 }, 'root')],
      [cohort('near', 'root', { nominal: 4 }), cohort('root')],
    );
    const reach = (used: Record<string, number>, count: number) =>
      borrowingReach(nodeOf(tree, 'a'), using(tree, used).usage, 'f/gpu', gpu(count));
    expect(reach({}, 4)).toEqual({ height: 1, reclaimable: true });
    expect(reach({ b: 4 }, 4)).toEqual({ height: 1, reclaimable: true });
    expect(reach({}, 5)).toEqual({ height: 2, reclaimable: false });
    expect(borrowingReach(nodeOf(tree, 'b'), using(tree, {}).usage, 'f/gpu', gpu(4))).toEqual({ height: 2, reclaimable: false });
  });

  test('alone it never borrows', () => {
    const tree = buildQuotaTree([queue('a', { nominal: 2 })], []);
    expect(borrowingReach(nodeOf(tree, 'a'), using(tree, {}).usage, 'f/gpu', gpu(9))).toEqual({ height: 0, reclaimable: false });
  });
});

test('whatever is admitted only where available, the cohort as a whole never exceeds its quota, and all of it comes back', () => {
  const limit = fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined });
  const quota = fc.record({ nominal: fc.integer({ min: 0, max: 8 }), borrowing: limit, lending: limit });
  fc.assert(
    fc.property(
      fc.array(quota, { minLength: 4, maxLength: 4 }),
      fc.array(fc.record({ at: fc.integer({ min: 0, max: 3 }), amount: fc.integer({ min: 1, max: 6 }), remove: fc.boolean() }), {
        maxLength: 40,
      }),
      (quotas, steps) => {
        const plain = quotas.map(
          ({ nominal, borrowing, lending }): Quota => ({
            nominal,
            ...omitUndefined({ borrowing, lending }),
          }),
        );
        const tree = buildQuotaTree(
          plain.map((each, index) => queue(`q${index}`, each, index < 2 ? 'left' : 'right')),
          [cohort('left', 'top'), cohort('right', 'top')],
        );
        const usage = createUsage();
        const held: { readonly at: number; readonly amount: number }[] = [];
        const used = (at: number) => held.filter((each) => each.at === at).reduce((sum, { amount }) => sum + amount, 0);
        for (const { at, amount, remove } of steps) {
          const node = nodeOf(tree, `q${at}`);
          const index = held.findIndex((each) => each.at === at);
          const known = held[index];
          if (remove && known !== undefined) {
            removeUsage(node, usage, 'f/gpu', gpu(known.amount));
            held.splice(index, 1);
          } else if (amount <= available(node, usage, 'f/gpu')) {
            addUsage(node, usage, 'f/gpu', gpu(amount));
            held.push({ at, amount });
          }
          const total = plain.reduce((sum, { nominal }) => sum + nominal, 0);
          expect(used(0) + used(1) + used(2) + used(3)).toBeLessThanOrEqual(total);
          for (const [index2, { nominal, borrowing }] of plain.entries()) {
            expect(usage.get(`ClusterQueue/q${index2}`, 'f/gpu')).toBe(used(index2));
            if (borrowing !== undefined) expect(used(index2)).toBeLessThanOrEqual(nominal + borrowing);
          }
        }
        for (const { at, amount } of held) removeUsage(nodeOf(tree, `q${at}`), usage, 'f/gpu', gpu(amount));
        for (const id of ['ClusterQueue/q0', 'ClusterQueue/q3', 'Cohort/left', 'Cohort/right', 'Cohort/top'])
          expect(usage.get(id, 'f/gpu')).toBe(0);
      },
    ),
    { seed: 7, numRuns: 300 },
  );
});

describe('how far up a ClusterQueue reaches to borrow', () => {
  const tree = buildQuotaTree(
    [queue('a', { nominal: 0 }, 'team'), queue('b', { nominal: 4 }, 'company')],
    [cohort('team', 'division', { nominal: 4, lending: 1 }), cohort('division', 'company', { nominal: 2 }), cohort('company')],
  );
  const reach = (amount: number, used: Record<string, number> = {}) =>
    borrowingReach(nodeOf(tree, 'a'), using(tree, used).usage, 'f/gpu', gpu(amount));

  test('ends where there is room for what the cohorts below do not give of what they keep back', () => {
    expect(reach(4)).toEqual({ height: 1, reclaimable: true });
    // The team keeps three back, so that the division, which has three with the one that the team lends it, is asked for three.
    expect(reach(6)).toEqual({ height: 2, reclaimable: true });
    expect(reach(7)).toEqual({ height: 3, reclaimable: false });
  });

  test('asks the cohorts for no more than it does not keep back itself', () => {
    const keeping = buildQuotaTree(
      [queue('a', { nominal: 4, lending: 1 }, 'team')],
      [cohort('team', 'company', { nominal: 1 }), cohort('company')],
    );
    // Three are its own, and the team has two.
    expect(borrowingReach(nodeOf(keeping, 'a'), createUsage(), 'f/gpu', gpu(5))).toEqual({ height: 1, reclaimable: true });
    expect(borrowingReach(nodeOf(keeping, 'a'), createUsage(), 'f/gpu', gpu(6))).toEqual({ height: 2, reclaimable: false });
  });

  test('counts only what a cohort keeps back and has not used', () => {
    expect(reach(4, { a: 2 })).toEqual({ height: 2, reclaimable: true });
    expect(reach(5, { a: 2 })).toEqual({ height: 3, reclaimable: false });
  });
});
