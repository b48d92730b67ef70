import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareQueued, type QueuedWorkload } from '../../../../../manager/admission/workload/ordering.ts';
import { isWithin, RequestTree, type Vector } from '../../../../../manager/admission/workload/request-tree.ts';
import { aWorkload, queued } from '../setup.ts';

const change = fc.record({
  name: fc.nat(20),
  priority: fc.nat(2),
  own: fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 6 })),
  remove: fc.boolean(),
});

test('whatever comes and goes: the first within bounds, the least of all and the number of those before are those of a list', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 80 }), fc.tuple(fc.nat(6), fc.nat(6)), fc.nat(20), (changes, bounds, skip) => {
      const tree = new RequestTree();
      const model = new Map<string, { readonly entry: QueuedWorkload; readonly own: Vector }>();
      for (const [index, { name, priority, own, remove }] of changes.entries()) {
        const before = model.get(`${name}`);
        if (before !== undefined) tree.delete(before.entry);
        model.delete(`${name}`);
        if (remove) continue;
        const entry = queued(aWorkload(`${name}`), index, priority);
        tree.insert(entry, own);
        model.set(`${name}`, { entry, own });
      }
      const ranked = [...model.values()].toSorted((a, b) => compareQueued(a.entry, b.entry));
      expect(tree.size).toBe(ranked.length);
      expect(tree.earliest).toBe(ranked[0]?.entry);
      expect(tree.least).toEqual(ranked.length === 0 ? undefined : [0, 1].map((at) => Math.min(...ranked.map(({ own }) => own[at] ?? 0))));
      expect(tree.firstWhere((amounts) => isWithin(amounts, bounds))).toBe(ranked.find(({ own }) => isWithin(own, bounds))?.entry);
      expect(ranked.map(({ entry }) => tree.before(entry))).toEqual(ranked.map((_, position) => position));
      expect([...tree.inOrder()]).toEqual(ranked.map(({ entry }) => entry));
      // Something that holds for earlier ones only.
      const until = ranked[skip]?.entry;
      const found = tree.firstWhere((_, from) => until === undefined || compareQueued(from, until) < 0);
      expect(found).toBe(skip === 0 && until !== undefined ? undefined : ranked[0]?.entry);
    }),
    { numRuns: 300 },
  );
});

test('a hundred thousand that come in order are found without looking at most of them', () => {
  const tree = new RequestTree();
  for (let index = 0; index < 100_000; index++) tree.insert(queued(aWorkload(`${index}`), index), [100_000 - index]);
  let looks = 0;
  const found = tree.firstWhere(([amount = 0]) => {
    looks++;
    return amount <= 10;
  });
  expect(found?.workload.name).toBe('99990');
  expect(looks).toBeLessThan(150);
});
