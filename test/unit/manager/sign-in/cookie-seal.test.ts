import { describe, expect, test } from 'vitest';
import { createCookieSeal } from '../../../../manager/sign-in/cookie-seal.ts';

const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const of = (current: Buffer, ...others: Buffer[]) => createCookieSeal({ current, others }, ['session', 'a']);

describe('a sealed cookie', () => {
  test('is opened by whoever has the key, and tells nothing of what is in it', () => {
    const sealed = of(first).seal({ name: 'ann' });
    expect(of(first).open(sealed)).toEqual({ name: 'ann' });
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('ann');
    expect(of(first).seal({ name: 'ann' })).not.toBe(sealed);
  });

  test('is opened by an earlier key of the Secret, and not without it', () => {
    const sealed = of(first).seal({ name: 'ann' });
    expect(of(second, first).open(sealed)).toEqual({ name: 'ann' });
    expect(of(second).open(sealed)).toBeUndefined();
  });

  test('of one use is none of another', () => {
    const sealed = of(first).seal({ name: 'ann' });
    for (const use of [['sign-in', 'a'], ['session', 'b'], ['session'], ['session","a']])
      expect(createCookieSeal({ current: first, others: [] }, use).open(sealed)).toBeUndefined();
  });

  test('counts only as it was written', () => {
    const sealed = of(first).seal({ name: 'ann' });
    for (const changed of ['', 'x', `${sealed}=`, `${sealed} `, sealed.slice(0, -4), `AAAA${sealed}`, sealed.replaceAll(/[-_]/g, '+')])
      if (changed !== sealed) expect(of(first).open(changed)).toBeUndefined();
    for (let bit = 0; bit < sealed.length * 6; bit++) {
      const bytes = Buffer.from(sealed, 'base64url');
      const index = Math.floor(bit / 8);
      if (index >= bytes.length) break;
      bytes[index] = (bytes[index] ?? 0) ^ (1 << (bit % 8));
      expect(of(first).open(bytes.toString('base64url'))).toBeUndefined();
    }
  });
});
