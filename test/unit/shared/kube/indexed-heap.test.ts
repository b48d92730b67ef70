import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IndexedHeap } from '../../../../shared/kube/indexed-heap.ts';

type Entry = { readonly key: string; readonly rank: number };
const aHeap = (): IndexedHeap<Entry> =>
  new IndexedHeap<Entry>(
    ({ key }) => key,
    (a, b) => a.rank - b.rank,
  );

function drained(heap: IndexedHeap<Entry>): Entry[] {
  const entries: Entry[] = [];
  for (let top = heap.peek(); top !== undefined; top = heap.peek()) {
    entries.push(top);
    heap.delete(top.key);
  }
  return entries;
}

test('the least entry is on top', () => {
  const heap = aHeap();
  for (const rank of [3, 1, 2]) heap.set({ key: `k${rank}`, rank });
  expect(drained(heap).map(({ rank }) => rank)).toEqual([1, 2, 3]);
});

test('an entry under a known key replaces the one before, whether it comes earlier or later than that', () => {
  const heap = aHeap();
  heap.set({ key: 'a', rank: 2 });
  heap.set({ key: 'b', rank: 3 });
  heap.set({ key: 'b', rank: 1 });
  expect(heap.peek()?.key).toBe('b');
  heap.set({ key: 'b', rank: 4 });
  expect(heap.peek()?.key).toBe('a');
  expect(heap.size).toBe(2);
});

test('an empty heap has nothing on top, and forgets nothing it does not know', () => {
  const heap = aHeap();
  expect(heap.peek()).toBeUndefined();
  expect(heap.delete('a')).toBeUndefined();
  heap.set({ key: 'a', rank: 1 });
  heap.clear();
  expect([heap.size, heap.has('a'), heap.get('a')]).toEqual([0, false, undefined]);
});

test('whatever is added, replaced and removed, it keeps what a sorted map would', () => {
  const step = fc.record({ remove: fc.boolean(), key: fc.integer({ min: 0, max: 12 }).map(String), rank: fc.integer({ min: 0, max: 20 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const heap = aHeap();
      const model = new Map<string, Entry>();
      for (const { remove, key, rank } of steps) {
        if (remove) expect(heap.delete(key)).toEqual(model.get(key));
        else heap.set({ key, rank });
        if (remove) model.delete(key);
        else model.set(key, { key, rank });
        expect(heap.get(key)).toEqual(model.get(key));
        expect(heap.size).toBe(model.size);
        expect(heap.peek()?.rank).toBe([...model.values()].map((entry) => entry.rank).toSorted((a, b) => a - b)[0]);
      }
      const byKey = (a: Entry, b: Entry): number => (a.key < b.key ? -1 : 1);
      expect([...heap.values()].toSorted(byKey)).toEqual([...model.values()].toSorted(byKey));
      const ranks = drained(heap).map(({ rank }) => rank);
      expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
    }),
    { seed: 7 },
  );
});
