import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFairOrder, type Contender } from '../../../../../manager/admission/scheduling/fair-order.ts';
import { borrowsAnyOf, compareShares, shareAfter } from '../../../../../manager/admission/preemption/fair-sharing.ts';
import { compareQueued } from '../../../../../manager/admission/workload/ordering.ts';
import { addUsage, type QuotaNode } from '../../../../../manager/admission/quota/quota-tree.ts';
import type { Usage } from '../../../../../manager/admission/quota/usage.ts';
import { aWorkload, queued } from '../setup.ts';
import { aTree, charges, type Tree } from '../trees.ts';

type Wanted = { readonly asks: Readonly<Record<string, number>>; readonly priority?: number; readonly createdMs?: number };
const contender = (tree: Tree, name: string, { asks, priority = 0, createdMs = 0 }: Wanted): Contender => ({
  node: tree.queue(name),
  charges: charges(asks),
  head: queued(aWorkload(name, {}, { createdMs }), 0, priority),
});
const nameOf = ({ head }: Contender): string => head.workload.name;
const admit = ({ node, charges: asked }: Contender, usage: Usage): void => {
  for (const [key, amount] of asked) addUsage(node, usage, key, amount);
};
/** The names in order, where each is admitted as soon as it is its turn. */
function orderOf(tree: Tree, wanted: Readonly<Record<string, Wanted>>): string[] {
  const order = createFairOrder(
    Object.entries(wanted).map(([name, each]) => contender(tree, name, each)),
    tree.usage,
  );
  const names: string[] = [];
  for (let next = order.next(); next !== undefined; next = order.next()) {
    names.push(nameOf(next));
    admit(next, tree.usage);
  }
  return names;
}
const one = { asks: { cpu: 1 } };

describe('the order of nominees with fair sharing', () => {
  test('the least share after its own admission goes first', () => {
    const quota = { cpu: 0 };
    const tree = aTree({ a: { in: 'team', quota }, b: { in: 'team', quota } }, { team: { quota: { cpu: 10 } } });
    tree.use('a', { cpu: 2 });
    expect(orderOf(tree, { a: { ...one, priority: 100 }, b: { asks: { cpu: 2 } } })).toEqual(['b', 'a']);
  });

  test('a small request goes before a big one of who has used as much', () => {
    const quota = { cpu: 0 };
    const tree = aTree({ a: { in: 'team', quota }, b: { in: 'team', quota } }, { team: { quota: { cpu: 10 } } });
    expect(orderOf(tree, { a: { asks: { cpu: 3 }, priority: 5 }, b: { asks: { cpu: 2 } } })).toEqual(['b', 'a']);
  });

  test('twice the weight may have used twice as much', () => {
    const quota = { cpu: 0 };
    const tree = aTree({ a: { in: 'team', quota, weight: 2 }, b: { in: 'team', quota } }, { team: { quota: { cpu: 20 } } });
    tree.use('a', { cpu: 4 });
    tree.use('b', { cpu: 3 });
    expect(orderOf(tree, { b: one, a: one })).toEqual(['a', 'b']);
  });

  test('of equal shares the higher priority goes first, then the older Job', () => {
    const quota = { cpu: 0 };
    const tree = aTree({ a: { in: 'team', quota }, b: { in: 'team', quota }, c: { in: 'team', quota } }, { team: { quota: { cpu: 20 } } });
    expect(orderOf(tree, { a: { ...one, createdMs: 2 }, b: { ...one, createdMs: 1 }, c: { ...one, priority: 1, createdMs: 3 } })).toEqual([
      'c',
      'b',
      'a',
    ]);
  });

  test('who does not borrow what it asks for goes before who does, though it borrows more of something else', () => {
    const tree = aTree(
      { a: { in: 'team', quota: { cpu: 5, gpu: 0 } }, b: { in: 'team', quota: { cpu: 0 } } },
      { team: { quota: { cpu: 100, gpu: 10 } } },
    );
    tree.use('a', { gpu: 10 });
    expect(orderOf(tree, { b: one, a: one })).toEqual(['a', 'b']);
  });

  test('a cohort that borrows less goes first, whatever the ClusterQueue in it borrows from its sister', () => {
    const tree = aTree(
      {
        left: { in: 'frugal', quota: { cpu: 0 } },
        right: { in: 'greedy', quota: { cpu: 0 } },
        other: { in: 'greedy', quota: { cpu: 0 } },
      },
      { frugal: { in: 'root', quota: { cpu: 4 } }, greedy: { in: 'root' }, root: { quota: { cpu: 20 } } },
    );
    tree.use('left', { cpu: 4 });
    tree.use('other', { cpu: 2 });
    expect(orderOf(tree, { right: one, left: one })).toEqual(['left', 'right']);
  });

  test('what is admitted counts for those that come after it', () => {
    const quota = { cpu: 0 };
    const tree = aTree(
      { a: { in: 'left', quota }, b: { in: 'left', quota }, c: { in: 'root', quota } },
      { left: { in: 'root' }, root: { quota: { cpu: 20 } } },
    );
    tree.use('c', { cpu: 1 });
    // Left has nothing yet, and as much as c once a or b has its 2.
    expect(orderOf(tree, { a: { asks: { cpu: 1 } }, b: { asks: { cpu: 2 } }, c: one })).toEqual(['a', 'c', 'b']);
  });

  test('trees know nothing of one another: their winners go by priority and age', () => {
    const tree = aTree({ alone: { quota: { cpu: 1 } }, a: { in: 'one', quota: { cpu: 0 } }, b: { in: 'two', quota: { cpu: 1 } } });
    tree.use('a', { cpu: 5 });
    expect(
      orderOf(tree, { alone: { ...one, createdMs: 3 }, b: { ...one, createdMs: 2 }, a: { ...one, priority: 1, createdMs: 4 } }),
    ).toEqual(['a', 'b', 'alone']);
  });

  test('several of one ClusterQueue take part one after the other, as they are given', () => {
    const quota = { cpu: 0 };
    const tree = aTree({ a: { in: 'team', quota }, b: { in: 'team', quota } }, { team: { quota: { cpu: 20 } } });
    const [first, second] = [contender(tree, 'a', { asks: { cpu: 3 } }), contender(tree, 'a', { ...one, priority: 9 })];
    const order = createFairOrder([first, second, contender(tree, 'b', { asks: { cpu: 2 } })], tree.usage);
    const names = [order.next(), order.next(), order.next(), order.next()].map((each) => each && [nameOf(each), each.charges[0]?.[1]]);
    expect(names).toEqual([['b', 2000], ['a', 3000], ['a', 1000], undefined]);
  });

  test('what a cycle frees elsewhere counts once it is told', () => {
    const quota = { cpu: 0 };
    const tree = aTree({ a: { in: 'team', quota }, b: { in: 'team', quota } }, { team: { quota: { cpu: 10 } } });
    tree.use('a', { cpu: 5 });
    const order = createFairOrder([contender(tree, 'a', one), contender(tree, 'b', { asks: { cpu: 3 } })], tree.usage);
    tree.use('a', { cpu: -5 });
    order.changed(tree.queue('a'));
    expect([order.next(), order.next(), order.next()].map((each) => each && nameOf(each))).toEqual(['a', 'b', undefined]);
  });
});

/** The tournament as Kueue plays it: anew for every turn, over the whole tree. */
function bruteForce(contenders: readonly Contender[], usage: Usage): Contender | undefined {
  const children = new Map<QuotaNode, Set<QuotaNode>>();
  for (const { node: queue } of contenders) {
    for (let node = queue; node.parent !== undefined; node = node.parent) {
      children.set(node.parent, (children.get(node.parent) ?? new Set()).add(node));
    }
  }
  const winnerOf = (node: QuotaNode): Contender | undefined => {
    const own = contenders.find((each) => each.node === node);
    if (own !== undefined) return own;
    const candidates = [...(children.get(node) ?? [])].flatMap((child) => {
      const winner = winnerOf(child);
      return winner === undefined ? [] : [{ winner, share: shareAfter(child, winner.node, usage, winner.charges) }];
    });
    const better = (a: (typeof candidates)[number], b: (typeof candidates)[number]): number =>
      Number(borrowsAnyOf(a.share, a.winner.charges)) - Number(borrowsAnyOf(b.share, b.winner.charges)) ||
      compareShares(a.share, b.share) ||
      compareQueued(a.winner.head, b.winner.head);
    return candidates.toSorted(better)[0]?.winner;
  };
  const roots = new Set(contenders.map(({ node }) => node).map(rootOf));
  return [...roots].flatMap((root) => winnerOf(root) ?? []).toSorted((a, b) => compareQueued(a.head, b.head))[0];
}
const rootOf = (node: QuotaNode): QuotaNode => (node.parent === undefined ? node : rootOf(node.parent));

describe('whatever the tree', () => {
  const COHORTS = ['root', 'left', 'right', 'deep', 'other'] as const;
  const amount = fc.integer({ min: 0, max: 4 });
  const weight = fc.constantFrom(0, 0.5, 1, 3);
  const queueOf = fc.record({
    in: fc.constantFrom(...COHORTS, undefined),
    quota: fc.record({ cpu: amount, gpu: fc.record({ nominal: amount, lending: fc.constant(0) }) }),
    weight,
    used: fc.record({ cpu: amount, gpu: amount }),
    asks: fc.record({ cpu: amount, gpu: amount }),
    priority: fc.integer({ min: 0, max: 1 }),
    createdMs: fc.nat(1000),
    /** Whether it is admitted when its turn comes. */
    admitted: fc.boolean(),
  });

  test('the matches that are played again are those whose outcome may have changed', () => {
    fc.assert(
      fc.property(
        fc.array(queueOf, { minLength: 1, maxLength: 8 }),
        fc.array(weight, { minLength: 4, maxLength: 4 }),
        (queues, weights) => {
          const named = Object.fromEntries(
            queues.map(({ in: parent, quota, weight: own }, index) => [
              `q${index}`,
              {
                ...(parent === undefined ? {} : { in: parent, quota }),
                ...(parent === undefined ? { quota: { cpu: quota.cpu } } : {}),
                weight: own,
              },
            ]),
          );
          const tree = aTree(named, {
            root: { quota: { cpu: 5, gpu: 5 } },
            left: { in: 'root', weight: weights[0] ?? 1 },
            right: { in: 'root', weight: weights[1] ?? 1, quota: { cpu: 2 } },
            deep: { in: 'left', weight: weights[2] ?? 1, quota: { gpu: 1 } },
            other: { weight: weights[3] ?? 1, quota: { cpu: 3 } },
          });
          for (const [index, { used }] of queues.entries()) tree.use(`q${index}`, used);
          // No two are equal: the last word is the arrival.
          const contenders = queues.map((each, index) => {
            const made = contender(tree, `q${index}`, each);
            return { ...made, head: { ...made.head, arrival: index } };
          });
          const order = createFairOrder(contenders, tree.usage);
          let left = contenders;
          while (left.length > 0) {
            const expected = bruteForce(left, tree.usage);
            const next = order.next();
            expect(next && nameOf(next)).toBe(expected && nameOf(expected));
            const index = contenders.findIndex((each) => each === next);
            const winner = contenders[index];
            if (winner !== undefined && queues[index]?.admitted === true) admit(winner, tree.usage);
            left = left.filter((each) => each !== winner);
          }
          expect(order.next()).toBeUndefined();
        },
      ),
      { numRuns: 300 },
    );
  });

  test('whoever waits for its nomination comes when it would if it had been nominated before, and nobody is nominated twice', () => {
    const one = fc.record({
      asks: fc.record({ cpu: amount, gpu: amount }),
      priority: fc.integer({ min: 0, max: 1 }),
      createdMs: fc.nat(1000),
      admitted: fc.boolean(),
      /** Its place among those of its queue, which only its nomination tells; below 0: it does not take part. */
      place: fc.integer({ min: -2, max: 9 }),
    });
    const queue = fc.record({
      in: fc.constantFrom(...COHORTS, undefined),
      cpu: amount,
      weight,
      used: amount,
      waits: fc.boolean(),
      sends: fc.array(one, { minLength: 1, maxLength: 3 }),
    });
    let [early, all] = [0, 0];
    fc.assert(
      fc.property(fc.array(queue, { minLength: 2, maxLength: 8 }), fc.array(weight, { minLength: 2, maxLength: 2 }), (queues, weights) => {
        const world = (isLate: boolean) => {
          const tree = aTree(
            Object.fromEntries(
              queues.map(({ in: parent, cpu, weight: own }, index) => [
                `q${index}`,
                { ...(parent === undefined ? {} : { in: parent }), quota: { cpu }, weight: own },
              ]),
            ),
            {
              root: { quota: { cpu: 5, gpu: 5 } },
              left: { in: 'root', weight: weights[0] ?? 1 },
              right: { in: 'root', weight: weights[1] ?? 1 },
              deep: { in: 'left' },
              other: { quota: { cpu: 3 } },
            },
          );
          for (const [index, { used }] of queues.entries()) tree.use(`q${index}`, { cpu: used });
          const sent = queues.flatMap(({ sends, waits }, of) =>
            sends.map(({ admitted, place, ...each }, index) => {
              const made = contender(tree, `q${of}`, each);
              return { ...made, head: { ...made.head, arrival: of * 10 + index }, name: `${of}-${index}`, of, place, admitted, waits };
            }),
          );
          const inOrder = (those: readonly (typeof sent)[number][]) =>
            those.filter(({ place }) => place >= 0).toSorted((a, b) => a.place - b.place);
          const nominated: string[] = [];
          type Sent = (typeof sent)[number];
          const order = createFairOrder<Sent, Sent & { readonly isWaiting: true }>(
            queues.flatMap((_, of): (Sent | (Sent & { readonly isWaiting: true }))[] => {
              const own = sent.filter((each) => each.of === of);
              return isLate && queues[of]?.waits === true ? own.map((each) => ({ ...each, isWaiting: true as const })) : inOrder(own);
            }),
            tree.usage,
            (waiting) => {
              nominated.push(...waiting.map(({ name }) => name));
              return inOrder(sent.filter(({ name }) => waiting.some((each) => each.name === name)));
            },
          );
          const names: string[] = [];
          for (let next = order.next(); next !== undefined; next = order.next()) {
            if (names.length === 0) early += nominated.length;
            names.push(next.name);
            if (next.admitted) admit(next, tree.usage);
          }
          expect(new Set(nominated).size).toBe(nominated.length);
          all += nominated.length;
          return names;
        };
        expect(world(true)).toEqual(world(false));
      }),
      { numRuns: 500 },
    );
    // A cycle that ended after its first turn would have nominated few.
    expect(early / all).toBeLessThan(0.7);
  });
});
