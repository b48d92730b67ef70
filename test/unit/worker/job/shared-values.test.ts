import { describe, expect, test } from 'vitest';
import { createSharedValues } from '../../../../worker/job/shared-values.ts';

describe('a value', () => {
  test('is made once for its key', () => {
    const shared = createSharedValues();
    const first = { node: 'a' };
    expect(shared.value('a', () => first)).toBe(first);
    expect(shared.value('a', () => ({ node: 'a' }))).toBe(first);
    expect(shared.value('b', () => ({ node: 'b' }))).toEqual({ node: 'b' });
  });

  test('under a name that every object inherits is its own', () => {
    const shared = createSharedValues();
    const first = { node: 'x' };
    for (const key of ['__proto__', 'constructor', 'toString']) {
      expect(shared.value(key, () => first)).toBe(first);
      expect(shared.text(key)).toBe(key);
    }
  });

  test('is not mistaken for a text of the same key', () => {
    const shared = createSharedValues();
    expect(shared.text('a')).toBe('a');
    expect(shared.value('a', () => ({ node: 'a' }))).toEqual({ node: 'a' });
  });
});

test('sharing starts anew when ten thousand are known, and what was shared stays with its users', () => {
  const shared = createSharedValues();
  const kept = shared.value('0', () => ({ n: 0 }));
  for (let n = 1; n < 10_000; n++) shared.value(`${n}`, () => ({ n }));
  expect(shared.value('0', () => ({ n: 0 }))).toBe(kept);
  shared.value('one more', () => ({ n: -1 }));
  const anew = shared.value('0', () => ({ n: 0 }));
  expect(anew).not.toBe(kept);
  expect(anew).toEqual(kept);
});
