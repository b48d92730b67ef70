import { describe, expect, test } from 'vitest';
import { weightOf } from '../../../../manager/api/fair-weight.ts';

describe('a weight', () => {
  test.each<[string | number | undefined, number]>([
    [undefined, 1],
    [2, 2],
    ['500m', 0.5],
    ['0', 0],
    ['1.5', 1.5],
    ['2n', 2e-9],
    ['1k', 1000],
  ])('%j is %d', (weight, expected) => {
    expect(weightOf(weight === undefined ? undefined : { weight })).toBe(expected);
  });

  test('is 1 where fairSharing says nothing', () => {
    expect(weightOf({})).toBe(1);
  });
});
