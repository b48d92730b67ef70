import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sortedInParts } from '../../../../manager/dashboard/sorted-in-parts.ts';

const sorted = <T>(items: readonly T[], compare: (a: T, b: T) => number, part?: number) => {
  const steps = sortedInParts(items, compare, part);
  for (let number = 0; ; number++) {
    const step = steps.next();
    if (step.done === true) return { sorted: step.value, steps: number };
  }
};

test('in parts everything comes into the order that it would have at once, and equal ones stay as they came', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ value: fc.nat(9), place: fc.nat() })), fc.integer({ min: 1, max: 7 }), (items, part) => {
      const compare = (a: { value: number }, b: { value: number }) => a.value - b.value;
      const before = [...items];
      expect(sorted(items, compare, part).sorted).toEqual(items.toSorted(compare));
      expect(items).toEqual(before);
    }),
  );
});

test('with many items there are many steps, with few one', () => {
  const items = Array.from({ length: 10_000 }, (_, number) => -number);
  expect(sorted(items, (a, b) => a - b).steps).toBeGreaterThan(10);
  expect(sorted([2, 1], (a, b) => a - b)).toEqual({ sorted: [1, 2], steps: 1 });
  expect(sorted([], () => 0)).toEqual({ sorted: [], steps: 0 });
});
