import { describe, expect, test } from 'vitest';
import {
  accountTokenIn,
  chooseToken,
  endpointDigest,
  readRenewed,
  refusedAdvice,
  renewalInMs,
  renewedKey,
  renewedText,
} from '../../../../../manager/dispatch/token/worker-token.ts';
import { unsignedToken } from '../../../../support/unsigned-token.ts';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.UTC(2026, 0, 1);
const SUB = 'system:serviceaccount:switchyard:manager';
/** Issued so many hours from now, and good for so many. */
const aToken = (fromHours: number, forHours: number, sub = SUB): string =>
  unsignedToken({ sub, iat: (NOW_MS + fromHours * HOUR_MS) / 1000, exp: (NOW_MS + (fromHours + forHours) * HOUR_MS) / 1000 });
const legacy = unsignedToken({ sub: SUB });

describe('a token of an account', () => {
  test('says whose it is, and from when until when it is good', () => {
    const token = aToken(-1, 24);
    expect(accountTokenIn(token)).toEqual({
      token,
      namespace: 'switchyard',
      name: 'manager',
      issuedMs: NOW_MS - HOUR_MS,
      expiryMs: NOW_MS + 23 * HOUR_MS,
    });
    expect(accountTokenIn(legacy)).toMatchObject({ issuedMs: undefined, expiryMs: undefined });
  });

  test.each([
    '',
    'opaque',
    'a.b.c',
    unsignedToken(null),
    unsignedToken({ sub: 'system:node:a' }),
    unsignedToken({ sub: 'system:serviceaccount:a/b:c' }),
    `${legacy}.d`,
    unsignedToken({ sub: SUB, pad: 'x'.repeat(20_000) }),
  ])('is none of another kind: %.40s', (token) => expect(accountTokenIn(token)).toBeUndefined());
});

describe('the token to use', () => {
  const endpoint = endpointDigest({ server: 'https://east' });
  const choose = (given: string, renewed: readonly string[], refused: readonly string[] = [], at = endpoint) =>
    chooseToken({ given, endpoint, renewed: renewed.map((token) => ({ endpoint: at, token })), refused: new Set(refused), nowMs: NOW_MS });

  test('is the one that was issued last: also one that somebody puts into the kubeconfig', () => {
    expect(choose(aToken(-13, 24), [aToken(-1, 24)])).toBe(aToken(-1, 24));
    expect(choose(aToken(-1, 24), [aToken(-13, 24)])).toBe(aToken(-1, 24));
    expect(choose(legacy, [aToken(-1, 24)])).toBe(aToken(-1, 24));
  });

  test('is none that has ended or was refused, while there is another', () => {
    expect(choose(legacy, [aToken(-25, 24)])).toBe(legacy);
    expect(choose(aToken(-13, 24), [aToken(-1, 24)], [aToken(-1, 24)])).toBe(aToken(-13, 24));
    expect(choose(aToken(-40, 24), [aToken(-25, 24)])).toBe(aToken(-25, 24));
  });

  test('is never one of another server or account', () => {
    expect(choose(aToken(-13, 24), [aToken(-1, 24)], [], endpointDigest({ server: 'https://west' }))).toBe(aToken(-13, 24));
    expect(choose(aToken(-13, 24), [aToken(-1, 24, 'system:serviceaccount:kube-system:admin')])).toBe(aToken(-13, 24));
    expect(choose('opaque', [aToken(-1, 24)])).toBe('opaque');
  });

  test('is kept as it is read', () => {
    const renewed = { endpoint, token: legacy };
    expect([readRenewed(renewedText(renewed)), renewedKey('kubeconfig')]).toEqual([renewed, 'kubeconfig.renewed']);
    for (const text of [undefined, '', 'null', '{}', '{"endpoint":"a","token":"b c"}', '{"endpoint":"a","token":1}'])
      expect(readRenewed(text)).toBeUndefined();
  });
});

describe('a token is renewed', () => {
  const inHours = (token: string, nowMs = NOW_MS): number =>
    renewalInMs(accountTokenIn(token) ?? ({} as never), nowMs, 24 * HOUR_MS) / HOUR_MS;

  test('at half of its life', () => {
    expect([
      inHours(aToken(0, 24)),
      inHours(aToken(-3, 24)),
      inHours(aToken(-20, 24)),
      inHours(aToken(-30, 24)),
      inHours(aToken(0, 1)),
    ]).toEqual([12, 9, 0, 0, 0.5]);
  });

  test('at once where it never ends, or is good for far too long', () => {
    expect([inHours(legacy), inHours(aToken(0, 24 * 365))]).toEqual([0, 0]);
  });

  test('no later than after half of its life here, whatever the clocks say', () => {
    expect([inHours(aToken(0, 24), NOW_MS - 100 * HOUR_MS), inHours(aToken(0, 24), NOW_MS + 100 * HOUR_MS)]).toEqual([12, 0]);
  });
});

describe('what to do about a cluster that answers 401', () => {
  test('names the end of the token, and the command', () => {
    expect(refusedAdvice(aToken(-25, 24), 'east', NOW_MS)).toBe(
      'its token ended at 2025-12-31T23:00:00.000Z, and no manager was there to renew it in time: run `switchyard clusters join CONTEXT --name east` again, or put a new token into its kubeconfig',
    );
    for (const token of [aToken(0, 24), undefined, 'opaque'])
      expect(refusedAdvice(token, 'east', NOW_MS)).toMatch(
        /^where its token was revoked or its account made anew, run `switchyard clusters join CONTEXT --name east`/,
      );
  });
});
