import { describe, expect, test } from 'vitest';
import { cookieScope, readCookie, setCookies, VALUE_CHARACTERS_MAX } from '../../../../manager/sign-in/cookies.ts';

const scope = cookieScope('https://switchyard.example/');
const sent = (set: readonly string[]): string =>
  set
    .filter((each) => !each.includes('Max-Age=0'))
    .map((each) => each.split(';')[0])
    .join('; ');

describe('a cookie', () => {
  test('is of the host over HTTPS alone, of a path where the dashboard has one, and without HTTPS on a loopback address', () => {
    expect(setCookies('s', 'abc', 60, scope, 1)).toEqual(['__Host-s-0=abc; Max-Age=60; Path=/; HttpOnly; SameSite=Lax; Secure']);
    expect(setCookies('s', 'abc', 60, cookieScope('https://a.example/yard/'), 1)).toEqual([
      '__Secure-s-0=abc; Max-Age=60; Path=/yard/; HttpOnly; SameSite=Lax; Secure',
    ]);
    expect(setCookies('s', 'abc', 60, cookieScope('http://127.0.0.1:8444/'), 1)).toEqual([
      's-0=abc; Max-Age=60; Path=/; HttpOnly; SameSite=Lax',
    ]);
  });

  test('that is long is stored in parts that browsers accept, and read as it was', () => {
    const value = 'a'.repeat(VALUE_CHARACTERS_MAX - 1) + 'z';
    const set = setCookies('s', value, 60, scope);
    expect(set.every((each) => each.length < 4_096)).toBe(true);
    expect(readCookie(sent(set), 's', scope)).toBe(value);
    expect(sent(set).length).toBeLessThan(12_000);
    const short = setCookies('s', 'abc', 60, scope);
    expect(short.slice(1)).toEqual([1, 2].map((index) => `__Host-s-${index}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure`));
    expect(setCookies('s', '', 60, scope)[0]).toContain('__Host-s-0=; Max-Age=0');
  });

  test('is read by its whole name, once', () => {
    expect(readCookie('a=1; __Host-s-0=abc;b=2', 's', scope)).toBe('abc');
    for (const header of [undefined, '', 's-0=abc', '__Host-s-1=abc', '__Host-s-0=', '__Host-s-0=a; __Host-s-0=b', 'x__Host-s-0=a'])
      expect(readCookie(header, 's', scope)).toBeUndefined();
  });
});
