import { describe, expect, test } from 'vitest';
import { parseIndexes } from '../../../../worker/job/indexes.ts';
import { matchSuccessPolicy } from '../../../../worker/job/success-policy.ts';

const match = (rules: { succeededIndexes?: string; succeededCount?: number }[], done: string) =>
  matchSuccessPolicy({ rules }, 10, parseIndexes(done, 10));

describe('success policy', () => {
  test('all of the listed indexes', () => {
    expect(match([{ succeededIndexes: '0,2-3' }], '0,2,3')).toBe('Matched rules at index 0');
    expect(match([{ succeededIndexes: '0,2-3' }], '0,2')).toBeUndefined();
  });
  test('a count within the listed indexes', () => {
    expect(match([{ succeededIndexes: '1-3', succeededCount: 2 }], '1,3')).toBe('Matched rules at index 0');
    expect(match([{ succeededIndexes: '1-3', succeededCount: 2 }], '1,4-9')).toBeUndefined();
  });
  test('a count of any indexes', () => {
    expect(match([{ succeededCount: 3 }], '1,5,9')).toBe('Matched rules at index 0');
    expect(match([{ succeededCount: 3 }], '1,5')).toBeUndefined();
  });
  test('the first rule that matches is named', () => {
    expect(match([{ succeededIndexes: '9' }, { succeededCount: 1 }], '0')).toBe('Matched rules at index 1');
  });
  test('a rule without any valid index is passed over', () => {
    expect(match([{ succeededIndexes: '' }], '0')).toBeUndefined();
    expect(match([{ succeededIndexes: '50', succeededCount: 0 }], '0')).toBeUndefined();
  });
  test('nothing matches before the first success, not even a count of 0', () => {
    expect(match([{ succeededCount: 0 }], '')).toBeUndefined();
    expect(match([{ succeededCount: 0 }], '4')).toBe('Matched rules at index 0');
  });
  test('no policy, no match', () => {
    expect(matchSuccessPolicy(undefined, 10, parseIndexes('0-9', 10))).toBeUndefined();
  });
});
