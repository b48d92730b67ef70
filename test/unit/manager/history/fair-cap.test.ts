import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fairCap } from '../../../../manager/history/fair-cap.ts';

test.each([
  [[], 10, Number.POSITIVE_INFINITY],
  [[4, 6], 10, Number.POSITIVE_INFINITY],
  [[100], 10, 10],
  [[100, 100], 10, 5],
  [[1, 100, 3], 10, 6],
  [[100, 2, 100], 10, 4],
])('of %j with room for %d each keeps %d', (sizes, room, cap) => expect(fairCap(sizes, room)).toBe(cap));

test('what all keep fits, fills the room where somebody goes without, and is nobody’s loss who has less than an equal share', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1_000), { minLength: 1, maxLength: 20 }), fc.nat(5_000), (sizes, room) => {
      const cap = fairCap(sizes, room);
      const kept = sizes.reduce((sum, size) => sum + Math.min(size, cap), 0);
      const all = sizes.reduce((sum, size) => sum + size, 0);
      expect(kept).toBeCloseTo(Math.min(all, room), 3);
      expect(cap).toBeGreaterThanOrEqual(room / sizes.length - 1e-9);
    }),
  );
});
