import { expect, test } from 'vitest';
import { createShares } from '../../../../shared/runtime/shares.ts';

test('one owner has an eighth of all, and others have theirs', () => {
  const shares = createShares(16);
  expect([shares.take('ann'), shares.take('ann')].every((back) => back !== undefined)).toBe(true);
  expect(shares.take('ann')).toBeUndefined();
  expect(shares.take('bob')).toBeDefined();
  expect(shares.size).toBe(3);
});

test('when everything is taken nobody gets more, until something is given back', () => {
  const shares = createShares(8);
  const backs = Array.from({ length: 8 }, (_, index) => shares.take(`user-${index}`));
  expect(shares.take('late')).toBeUndefined();
  backs[3]?.();
  expect(shares.take('late')).toBeDefined();
});

test('what is given back twice counts once', () => {
  const shares = createShares(16);
  const first = shares.take('ann');
  const second = shares.take('ann');
  first?.();
  first?.();
  expect(shares.size).toBe(1);
  expect(shares.take('ann')).toBeDefined();
  expect(shares.take('ann')).toBeUndefined();
  second?.();
});
