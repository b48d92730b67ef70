import { expect, test } from 'vitest';
import { keyHash, shortPayloadHash } from '../../../../manager/submission/ledger-hash.ts';

test('a payload is the same in whatever order its fields are, and however often it was signed', () => {
  const hash = shortPayloadHash({ manifest: { a: 1, b: [{ c: 2, d: 3 }] } });
  expect(shortPayloadHash({ signature: 'x', manifest: { b: [{ d: 3, c: 2 }], a: 1 } })).toBe(hash);
  expect(shortPayloadHash({ manifest: { a: 1, b: [{ c: 2, d: 3 }] }, options: { retry: true } })).not.toBe(hash);
  expect(shortPayloadHash(undefined)).not.toBe(hash);
  expect(hash).toMatch(/^[-\w]{22}$/);
});

test('a key may be of any length and have any character, and the name of a field in a ConfigMap may not', () => {
  expect(keyHash('repeat:nightly:17'.repeat(100))).toMatch(/^[-\w]{22}$/);
  expect(keyHash('a')).not.toBe(keyHash('A'));
});
