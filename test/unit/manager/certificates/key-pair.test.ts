import { describe, expect, test } from 'vitest';
import { authoritiesIn, bundleOf, coversNames, readKeyPair } from '../../../../manager/certificates/key-pair.ts';
import { makeKeyPair } from '../../../../manager/certificates/make-key-pair.ts';
import { BACKDATED_MS, VALID_MS } from '../../../../manager/certificates/decide-certificates.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const [one, other] = await Promise.all([makeKeyPair(['a.b.svc', 'a.b'], NOW_MS), makeKeyPair(['a.b.svc'], NOW_MS)]);

describe('a key pair', () => {
  test('is good from a day before it is made until 90 days after, and for its names alone', () => {
    expect([one.notBeforeMs, one.notAfterMs]).toEqual([NOW_MS - BACKDATED_MS, NOW_MS + VALID_MS]);
    expect([one.authority.notBeforeMs, one.authority.notAfterMs]).toEqual([one.notBeforeMs, one.notAfterMs]);
    expect([coversNames(one, ['a.b.svc', 'a.b']), coversNames(one, ['a.b.svc', 'c.b.svc']), coversNames(other, ['a.b'])]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('is read with the authority that has signed it, and with no other', () => {
    expect(readKeyPair(one.certPem, one.keyPem, [other.authority, one.authority])).toEqual(one);
    expect(readKeyPair(one.certPem, one.keyPem, [other.authority])).toBeUndefined();
  });

  test.each([
    ['the key of another', one.certPem, other.keyPem],
    ['no certificate', '', one.keyPem],
    ['no key', one.certPem, 'nothing'],
  ])('is none with %s', (_what, certPem, keyPem) => {
    expect(readKeyPair(certPem, keyPem, [one.authority])).toBeUndefined();
  });
});

describe('a bundle', () => {
  test('is read as it was written, each authority once, and what is none is passed over', () => {
    const text = `${bundleOf([one.authority, other.authority])}-----BEGIN CERTIFICATE-----\nbm8=\n-----END CERTIFICATE-----\nwords\n${one.authority.certPem}`;
    expect(authoritiesIn(text)).toEqual([one.authority, other.authority]);
    expect(authoritiesIn('\n')).toEqual([]);
  });
});
