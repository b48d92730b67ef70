import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareAdmitted, createAdmittedIndex, type Admitted } from '../../../../../manager/admission/workload/admitted-index.ts';
import { admittedOf, type Holding } from '../preemption/preemption-world.ts';

const holding = (name: string, parts: Partial<Holding> = {}): Admitted =>
  admittedOf({ name, queue: 'main', requests: { cpu: '1' }, ...parts });
const names = (list: readonly Admitted[]): string[] => list.map(({ reservation }) => reservation.workload.name);

test('those that leave anyway go first, then by lower priority, then the newer admission, then by UID', () => {
  const index = createAdmittedIndex();
  for (const each of [
    holding('high', { priority: 2, since: 9 }),
    holding('b', { priority: 1, since: 5 }),
    holding('a', { priority: 1, since: 5 }),
    holding('new', { priority: 1, since: 6 }),
    holding('leaving', { priority: 3, leaving: true }),
  ])
    index.set(each);
  expect(names(index.of('main'))).toEqual(['leaving', 'new', 'a', 'b', 'high']);
});

test('each ClusterQueue has its own, and of these each cluster', () => {
  const index = createAdmittedIndex();
  index.set(holding('here', { cluster: 'east' }));
  index.set(holding('there', { cluster: 'west', priority: 1 }));
  index.set(holding('other', { queue: 'other', cluster: 'east' }));
  expect(
    [index.of('main'), index.on('main', 'east'), index.on('main', 'west'), index.on('other', 'west'), index.of('none')].map(names),
  ).toEqual([['here', 'there'], ['here'], ['there'], [], []]);
});

test('one that is told of again is there once, as it was told last', () => {
  const index = createAdmittedIndex();
  index.set(holding('a', { cluster: 'east' }));
  const again = holding('a', { cluster: 'east' });
  index.set(again);
  expect(index.of('main')).toEqual([again]);
  expect(index.on('main', 'east')[0]).toBe(again);
  index.set(holding('a', { cluster: 'west', queue: 'other', priority: 1 }));
  expect(index.of('main')).toEqual([]);
  expect(index.get('team/a')?.priority).toBe(1);
  index.delete('team/a');
  index.delete('team/a');
  expect([index.of('other'), index.get('team/a')]).toEqual([[], undefined]);
});

test('whatever comes and goes, each list is what sorting all would give', () => {
  const step = fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    queue: fc.constantFrom('main', 'other'),
    cluster: fc.constantFrom('east', 'west'),
    priority: fc.integer({ min: 0, max: 2 }),
    since: fc.integer({ min: 0, max: 2 }),
    leaving: fc.boolean(),
    gone: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const index = createAdmittedIndex();
      const present = new Map<string, Admitted>();
      for (const { gone, ...parts } of steps) {
        const entry = holding(parts.name, parts);
        const { key } = entry.reservation.workload;
        if (gone) index.delete(key);
        else index.set(entry);
        if (gone) present.delete(key);
        else present.set(key, entry);
      }
      for (const queue of ['main', 'other']) {
        const all = [...present.values()].filter(({ reservation }) => reservation.record.clusterQueue === queue).toSorted(compareAdmitted);
        expect(index.of(queue)).toEqual(all);
        for (const cluster of ['east', 'west']) {
          const there = all.filter(({ reservation }) => reservation.record.cluster === cluster);
          expect(index.on(queue, cluster)).toEqual(there);
          for (const upTo of [-1, 0, 1, Number.POSITIVE_INFINITY]) {
            const counted = (list: readonly Admitted[]): number => 1000 * list.filter(({ priority }) => priority <= upTo).length;
            expect(index.quotaHeld(queue, cluster, 'default/cpu', upTo)).toBe(counted(there));
            expect(index.quotaHeld(queue, undefined, 'default/cpu', upTo)).toBe(counted(all));
            expect(index.roomHeld(queue, cluster, 'cpu', upTo)).toBe(counted(there));
          }
        }
      }
    }),
  );
});
