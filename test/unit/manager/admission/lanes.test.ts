import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Lanes } from '../../../../manager/admission/lanes.ts';

type Entry = { readonly key: string; readonly lane: string; readonly rank: number };
const entry = (key: string, lane: string, rank: number): Entry => ({ key, lane, rank });
const lanesOver = (usage: Readonly<Record<string, number>>) =>
  new Lanes<Entry>({
    keyOf: ({ key }) => key,
    laneOf: ({ lane }) => lane,
    compare: (a, b) => a.rank - b.rank || (a.key < b.key ? -1 : 1),
    usageOf: (lane) => usage[lane] ?? 0,
  });

describe('lanes', () => {
  test('the first of the lane that has used least comes first, whatever its rank', () => {
    const lanes = lanesOver({ frugal: 1, greedy: 5 });
    lanes.set(entry('a', 'greedy', 0));
    lanes.set(entry('b', 'frugal', 9));
    lanes.set(entry('c', 'frugal', 8));
    expect(lanes.peek()?.key).toBe('c');
  });

  test('of lanes that have used as much the better first entry counts', () => {
    const lanes = lanesOver({});
    lanes.set(entry('a', 'one', 2));
    lanes.set(entry('b', 'two', 1));
    expect(lanes.peek()?.key).toBe('b');
    lanes.set(entry('a', 'one', 0));
    expect(lanes.peek()?.key).toBe('a');
  });

  test('what a lane has used is asked for anew when it is said to have changed', () => {
    const usage: Record<string, number> = { one: 1, two: 2 };
    const lanes = lanesOver(usage);
    lanes.set(entry('a', 'one', 0));
    lanes.set(entry('b', 'two', 0));
    usage['one'] = Infinity;
    expect([lanes.peek()?.key, lanes.usageOf('one')]).toEqual(['a', 1]);
    lanes.usageChanged('one');
    expect([lanes.peek()?.key, lanes.usageOf('one'), lanes.usageOf('three')]).toEqual(['b', Infinity, 0]);
    usage['one'] = 0;
    lanes.usageChanged();
    expect(lanes.peek()?.key).toBe('a');
    lanes.usageChanged('nobody');
    lanes.delete('a');
    lanes.delete('nobody');
    expect(lanes.peek()?.key).toBe('b');
  });

  test('an entry that changes its lane is in the new one only', () => {
    const lanes = lanesOver({ one: 1, two: 2 });
    lanes.set(entry('a', 'one', 0));
    lanes.set(entry('a', 'two', 0));
    lanes.set(entry('b', 'two', 1));
    lanes.delete('a');
    expect(lanes.peek()?.key).toBe('b');
    lanes.delete('b');
    expect(lanes.peek()).toBeUndefined();
  });

  test('whatever comes and goes, the first is the least of all by usage, then by rank', () => {
    const name = fc.constantFrom('one', 'two', 'three');
    const step = fc.oneof(
      fc.record({ do: fc.constant('set' as const), key: fc.nat(9).map(String), lane: name, rank: fc.nat(5) }),
      fc.record({ do: fc.constant('delete' as const), key: fc.nat(9).map(String) }),
      fc.record({ do: fc.constant('use' as const), lane: name, usage: fc.nat(3) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const usage: Record<string, number> = {};
        const lanes = lanesOver(usage);
        const known = new Map<string, Entry>();
        for (const each of steps) {
          if (each.do === 'set') {
            const added = entry(each.key, each.lane, each.rank);
            known.set(each.key, added);
            lanes.set(added);
          } else if (each.do === 'delete') {
            known.delete(each.key);
            lanes.delete(each.key);
          } else {
            usage[each.lane] = each.usage;
            lanes.usageChanged(each.lane);
          }
          const [first] = [...known.values()].toSorted(
            (a, b) => (usage[a.lane] ?? 0) - (usage[b.lane] ?? 0) || a.rank - b.rank || (a.key < b.key ? -1 : 1),
          );
          expect(lanes.peek()).toEqual(first);
        }
      }),
    );
  });
});
