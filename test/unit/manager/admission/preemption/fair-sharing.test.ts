import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  borrowsAnyOf,
  compareShares,
  isBorrowing,
  shareAfter,
  shareOf,
  shownShare,
  weightedShare,
  type Share,
} from '../../../../../manager/admission/preemption/fair-sharing.ts';
import { aTree, charges, type Tree } from '../trees.ts';

const GPU = 'example.com/gpu';
const gpu = (amount: number) => ({ [`default/${GPU}`]: amount });
const team = (own: Readonly<Record<string, number>>, other: Readonly<Record<string, number>>, weight: string | number = 1): Tree => {
  const keyed = (quota: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(quota).map(([key, n]) => [`default/${key}`, n]));
  return aTree({ mine: { in: 'team', quota: keyed(own), weight }, other: { in: 'team', quota: keyed(other) } });
};
const shown = ({ queue, usage }: Tree, name: string) => {
  const share = shareOf(queue(name), usage);
  return { share: shownShare(share), of: share.dominantResource, borrows: isBorrowing(share) };
};

describe('the share of a ClusterQueue', () => {
  const cases: {
    readonly name: string;
    readonly tree: Tree;
    readonly used: Readonly<Record<string, number>>;
    readonly expected: { readonly share: number; readonly of: string | undefined; readonly borrows: boolean };
  }[] = [
    {
      name: 'is nothing below its own quota',
      tree: team({ cpu: 2, [GPU]: 5 }, { cpu: 8, [GPU]: 5 }),
      used: { cpu: 1, ...gpu(2) },
      expected: { share: 0, of: undefined, borrows: false },
    },
    {
      name: 'is that of the resource of which most is borrowed',
      tree: team({ cpu: 2, [GPU]: 5 }, { cpu: 8, [GPU]: 5 }),
      used: { cpu: 3, ...gpu(7) },
      expected: { share: 200, of: GPU, borrows: true },
    },
    {
      name: 'is that of the first by name where as much is borrowed of two',
      tree: team({ cpu: 2, [GPU]: 2 }, { cpu: 8, [GPU]: 8 }),
      used: { ...gpu(3), cpu: 3 },
      expected: { share: 100, of: 'cpu', borrows: true },
    },
    {
      name: 'takes no notice of resources within quota',
      tree: team({ cpu: 2, [GPU]: 5 }, { cpu: 8, [GPU]: 5 }),
      used: { cpu: 3, ...gpu(3) },
      expected: { share: 100, of: 'cpu', borrows: true },
    },
    {
      name: 'is shown rounded up, so that who borrows a little is seen to',
      tree: team({ [GPU]: 500 }, { [GPU]: 1000 }),
      used: gpu(501),
      expected: { share: 1, of: GPU, borrows: true },
    },
    {
      name: 'is divided by a weight above 1',
      tree: team({ [GPU]: 5 }, { [GPU]: 5 }, 2),
      used: gpu(7),
      expected: { share: 100, of: GPU, borrows: true },
    },
    {
      name: 'is divided by a weight below 1',
      tree: team({ [GPU]: 5 }, { [GPU]: 5 }, '500m'),
      used: gpu(7),
      expected: { share: 400, of: GPU, borrows: true },
    },
    {
      name: 'is infinite with weight 0, as soon as it borrows',
      tree: team({ [GPU]: 5 }, { [GPU]: 10 }, 0),
      used: gpu(7),
      expected: { share: 2 ** 63 - 1024, of: GPU, borrows: true },
    },
    {
      name: 'is nothing with weight 0, as long as it does not',
      tree: team({ [GPU]: 5 }, { [GPU]: 10 }, 0),
      used: gpu(5),
      expected: { share: 0, of: undefined, borrows: false },
    },
    {
      name: 'is a little of a quota that is as good as unlimited',
      tree: team({ cpu: 0 }, { cpu: 1e18 }),
      used: { cpu: 1 },
      expected: { share: 1, of: 'cpu', borrows: true },
    },
  ];
  test.each(cases)('$name', ({ tree, used, expected }) => {
    tree.use('mine', used);
    expect(shown(tree, 'mine')).toEqual(expected);
    expect(shown(tree, 'other')).toEqual({ share: 0, of: undefined, borrows: false });
  });

  test('without a cohort there is nobody to borrow from', () => {
    const tree = aTree({ alone: { quota: { cpu: 1 } } });
    tree.use('alone', { cpu: 3 });
    expect(shown(tree, 'alone')).toEqual({ share: 0, of: undefined, borrows: false });
  });

  test('what nobody lends counts nothing, though it is borrowed', () => {
    const tree = aTree({
      mine: { in: 'team', quota: { cpu: 2, gpu: { nominal: 2, lending: 0 } } },
      other: { in: 'team', quota: { cpu: 8, gpu: { nominal: 64, lending: 0 } } },
    });
    tree.use('mine', { cpu: 5, gpu: 5 });
    expect(shown(tree, 'mine')).toEqual({ share: 300, of: 'cpu', borrows: true });
    tree.use('mine', { cpu: -3 });
    expect(shown(tree, 'mine')).toEqual({ share: 0, of: undefined, borrows: true });
  });

  test('flavors of one resource count together: what is borrowed of one against what all of them lend', () => {
    const tree = aTree({
      mine: { in: 'team', quota: { 'on-demand/cpu': 20, 'spot/cpu': 80 } },
      other: { in: 'team', quota: { 'default/cpu': 100 } },
    });
    tree.use('mine', { 'on-demand/cpu': 25, 'spot/cpu': 5 });
    expect(shown(tree, 'mine')).toEqual({ share: 25, of: 'cpu', borrows: true });
  });
});

describe('the shares of a tree', () => {
  test('a cohort borrows from the one above, divided by its own weight', () => {
    const { use, queue, cohort, usage } = aTree(
      { mine: { in: 'child', quota: { gpu: 5 } } },
      { child: { in: 'root', weight: 2 }, root: { quota: { gpu: 45 } } },
    );
    use('mine', { gpu: 10 });
    expect([queue('mine'), cohort('child'), cohort('root')].map((node) => shownShare(shareOf(node, usage)))).toEqual([100, 50, 0]);
  });

  test('quota that only the root has is lent, too', () => {
    const { use, queue, cohort, usage } = aTree(
      { mine: { in: 'child', quota: { gpu: 0 } } },
      { child: { in: 'root', weight: 2 }, root: { quota: { gpu: 50 } } },
    );
    use('mine', { gpu: 10 });
    expect([queue('mine'), cohort('child')].map((node) => shownShare(shareOf(node, usage)))).toEqual([200, 100]);
  });

  test('a borrowingLimit makes what could be lent less, for those below it', () => {
    const { use, queue, cohort, usage } = aTree(
      { mine: { in: 'child', quota: { gpu: 0 } } },
      { child: { in: 'root', quota: { gpu: { nominal: 0, borrowing: 10 } } }, root: { quota: { gpu: 50 } } },
    );
    use('mine', { gpu: 10 });
    expect([queue('mine'), cohort('child')].map((node) => shownShare(shareOf(node, usage)))).toEqual([1000, 200]);
  });

  test('a share after an admission is the share that it has once it is charged', () => {
    const tree = team({ cpu: 2, [GPU]: 5 }, { cpu: 8, [GPU]: 5 });
    tree.use('mine', { cpu: 1, ...gpu(2) });
    const wanted = charges({ cpu: 4, ...gpu(4) });
    const after = shareAfter(tree.queue('mine'), tree.queue('mine'), tree.usage, wanted);
    expect(shownShare(after)).toBe(300);
    expect(shown(tree, 'mine').share).toBe(0);
    expect(borrowsAnyOf(after, charges({ cpu: 1 }))).toBe(true);
    expect(borrowsAnyOf(after, [...charges({ memory: 1 }), ...charges({ cpu: 0 })])).toBe(false);
  });
});

describe('comparing shares', () => {
  const share = (ratio: number, weight: number): Share => ({ ratio, weight, dominantResource: 'cpu', borrowed: new Set() });

  test('whoever borrows without weight has more than all others, and among those the ratio decides', () => {
    expect(compareShares(share(1, 0), share(1e6, 1e-6))).toBeGreaterThan(0);
    expect(compareShares(share(1, 0), share(2, 0))).toBeLessThan(0);
    expect(compareShares(share(0, 0), share(0, 1))).toBe(0);
    expect(compareShares(share(0, 0), share(1, 5))).toBeLessThan(0);
  });

  test('it is an order: antisymmetric and transitive', () => {
    const shares = fc.record({ ratio: fc.nat(4), weight: fc.constantFrom(0, 0.5, 1, 2) }).map(({ ratio, weight }) => share(ratio, weight));
    fc.assert(
      fc.property(shares, shares, shares, (a, b, c) => {
        expect(Math.sign(compareShares(a, b))).toBe(-Math.sign(compareShares(b, a)) + 0);
        if (compareShares(a, b) <= 0 && compareShares(b, c) <= 0) expect(compareShares(a, c)).toBeLessThanOrEqual(0);
      }),
    );
  });
});

describe('whatever the tree', () => {
  const worlds = fc.record({
    quota: fc.integer({ min: 0, max: 5 }),
    lent: fc.integer({ min: 1, max: 20 }),
    weight: fc.constantFrom(0, 0.5, 1, 3),
    used: fc.integer({ min: 0, max: 20 }),
    more: fc.integer({ min: 0, max: 10 }),
  });
  const built = ({ quota, lent, weight, used }: { quota: number; lent: number; weight: number; used: number }) => {
    const tree = aTree(
      { mine: { in: 'child', quota: { gpu: quota }, weight }, other: { in: 'root', quota: { gpu: lent } } },
      { child: { in: 'root', weight } },
    );
    tree.use('mine', { gpu: used });
    return tree;
  };

  test('more use never makes a share less', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { queue, cohort, usage } = built(world);
        for (const node of [queue('mine'), cohort('child')]) {
          const after = shareAfter(node, queue('mine'), usage, charges({ gpu: world.more }));
          expect(compareShares(shareOf(node, usage), after)).toBeLessThanOrEqual(0);
        }
      }),
    );
  });

  test('twice the weight is half the share', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const once = built(world);
        const twice = built({ ...world, weight: world.weight * 2 });
        const share = weightedShare(shareOf(twice.queue('mine'), twice.usage));
        expect(share).toBe(weightedShare(shareOf(once.queue('mine'), once.usage)) / (world.weight === 0 ? 1 : 2));
      }),
    );
  });
});
