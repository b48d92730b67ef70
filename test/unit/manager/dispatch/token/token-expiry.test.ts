import { describe, expect, test } from 'vitest';
import { nextLookMs, tokenExpiryMs } from '../../../../../manager/dispatch/token/token-expiry.ts';
import { unsignedToken } from '../../../../support/unsigned-token.ts';

describe('a token', () => {
  test('says when it expires, in seconds', () => {
    expect(tokenExpiryMs(unsignedToken('{"exp":1767225600}'))).toBe(Date.UTC(2026, 0, 1));
    expect(tokenExpiryMs(unsignedToken('{"exp":0.5}'))).toBe(500);
  });
  test.each([
    '',
    'opaque',
    'a.b',
    'a.b.c',
    'a.b.c.d',
    unsignedToken('{}'),
    unsignedToken('null'),
    unsignedToken('[1]'),
    unsignedToken('{"exp":"1767225600"}'),
    unsignedToken('{"exp":1e999}'),
    unsignedToken(`{"exp":1,"pad":"${'x'.repeat(16_384)}"}`),
  ])('does not say: %.40s', (token) => {
    expect(tokenExpiryMs(token)).toBeUndefined();
  });
});

describe('a Secret is read again', () => {
  const NOW = Date.UTC(2026, 0, 1);
  const look = (token: string | undefined) => nextLookMs(token, NOW, { usualMs: 60_000, leastMs: 1_000 });
  const endingIn = (seconds: number) => unsignedToken(JSON.stringify({ exp: NOW / 1000 + seconds }));

  test('as usual where its token does not say when it ends, or ends later', () => {
    expect([look(undefined), look('opaque'), look(endingIn(3600)), look(endingIn(70))]).toEqual([60_000, 60_000, 60_000, 60_000]);
  });
  test('ten seconds before its token ends', () => {
    expect(look(endingIn(40))).toBe(30_000);
  });
  test('never more often than it may be, also when its token has ended', () => {
    expect([look(endingIn(10)), look(endingIn(0)), look(endingIn(-3600))]).toEqual([1_000, 1_000, 1_000]);
  });
});
