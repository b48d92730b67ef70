import { describe, expect, test } from 'vitest';
import { createWeightedFairQueue, type WeightedFairQueue } from '../../../../manager/submission/weighted-fair-queue.ts';

const everybody = (): boolean => true;
/** Whose items are taken out, one after the other. */
function turns(order: WeightedFairQueue<string>, count: number, mayGo: (item: string) => boolean = everybody): string {
  return Array.from({ length: count }, () => order.next(mayGo) ?? '-').join('');
}
function ordering(lines: Record<string, { readonly weight?: number; readonly items: number }>): WeightedFairQueue<string> {
  const order = createWeightedFairQueue<string>();
  for (const [key, { weight = 1, items }] of Object.entries(lines)) for (let n = 0; n < items; n++) order.add(key, weight, key);
  return order;
}
const countOf = (letter: string, text: string): number => text.split(letter).length - 1;

describe('turns', () => {
  test('go round, however much each has waiting', () => {
    expect(turns(ordering({ a: { items: 3_000 }, b: { items: 3 } }), 8)).toBe('abababaa');
  });

  test('are shared by weight, without bursts', () => {
    const taken = turns(ordering({ a: { items: 3_000, weight: 3 }, b: { items: 3_000 } }), 400);
    expect(countOf('a', taken)).toBe(300);
    expect(taken).not.toContain('aaaaa');
  });

  test('come at once to whoever comes anew, behind a backlog of 3,000 and whatever its weight', () => {
    for (const weight of [1, 1_000]) {
      const order = ordering({ a: { items: 3_000, weight } });
      turns(order, 1_000);
      order.add('b', 1, 'b');
      expect(turns(order, 2)).toContain('b');
    }
  });

  test('are not gained by leaving and coming back', () => {
    const order = ordering({ a: { items: 3_000 } });
    let taken = '';
    for (let n = 0; n < 100; n++) {
      // One at a time, so that its line is empty after each turn.
      if (![...order.keys()].includes('b')) order.add('b', 1, 'b');
      taken += turns(order, 1);
    }
    expect(countOf('b', taken)).toBe(50);
  });

  test('pass by whoever may not go, who keeps his place', () => {
    const order = ordering({ a: { items: 10 }, b: { items: 10 } });
    expect(turns(order, 3, (item) => item !== 'a')).toBe('bbb');
    expect(turns(order, 3)).toBe('aaa');
    expect(turns(order, 3, () => false)).toBe('---');
  });

  test('of one key go in the order in which they were asked for, however many', () => {
    const order = createWeightedFairQueue<number>();
    for (let n = 0; n < 2_500; n++) order.add('a', 1, n);
    expect(Array.from({ length: 2_500 }, () => order.next(everybody as () => boolean))).toEqual(Array.from({ length: 2_500 }, (_, n) => n));
    expect(order.next(everybody as () => boolean)).toBeUndefined();
  });

  test('of a key can all be taken back', () => {
    const order = ordering({ a: { items: 2 }, b: { items: 1 } });
    expect(order.remove('a')).toEqual(['a', 'a']);
    expect(order.remove('a')).toEqual([]);
    expect(turns(order, 2)).toBe('b-');
  });
});
