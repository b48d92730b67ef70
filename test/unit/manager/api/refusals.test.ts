import { expect, test } from 'vitest';
import { isRefusalOf, refusalOf } from '../../../../manager/api/refusals.ts';

test('a refusal says which placement it ends, and ends no other', () => {
  const refusal = refusalOf(1, { reason: 'NameTaken', message: 'placement 12: it says' });
  expect(refusal).toEqual({ reason: 'NameTaken', message: 'placement 1: placement 12: it says' });
  expect([1, 12, 2, 11].map((epoch) => isRefusalOf(epoch, refusal))).toEqual([true, false, false, false]);
});

test('what says nothing of a placement, or has another reason, ends none', () => {
  expect(isRefusalOf(1, undefined)).toBe(false);
  expect(isRefusalOf(1, { reason: 'NameTaken' })).toBe(false);
  expect(isRefusalOf(1, { reason: 'NameTaken', message: 'cluster "eu-1" still has the copy of another Job' })).toBe(false);
  expect(isRefusalOf(1, { reason: 'ClusterUnreachable', message: 'placement 1: cannot be reached' })).toBe(false);
});
