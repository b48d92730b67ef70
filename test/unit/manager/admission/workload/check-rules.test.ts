import { expect, test } from 'vitest';
import { checksFor } from '../../../../../manager/admission/workload/check-rules.ts';

test('a check without flavors is for all, one with flavors for those that use one of them', () => {
  const rules = [
    { name: 'licence', onFlavors: [] },
    { name: 'budget', onFlavors: ['spot', 'reserved'] },
  ];
  expect(checksFor(rules, new Set(['default', 'spot']))).toEqual(['budget', 'licence']);
  expect(checksFor(rules, new Set(['default']))).toEqual(['licence']);
  expect(checksFor([], new Set(['default']))).toEqual([]);
});
