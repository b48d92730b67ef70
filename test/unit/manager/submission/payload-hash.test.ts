import { expect, test } from 'vitest';
import { keyHash, payloadHash } from '../../../../manager/submission/payload-hash.ts';

test('a payload is the same in whatever order its fields are, and however often it was signed', () => {
  const hash = payloadHash({ manifest: { a: 1, b: [{ c: 2, d: 3 }] } });
  expect(payloadHash({ manifest: { b: [{ d: 3, c: 2 }], a: 1 } })).toBe(hash);
  expect(payloadHash({ signature: 'x', manifest: { a: 1, b: [{ c: 2, d: 3 }] } })).toBe(hash);
  expect(hash).toMatch(/^[-\w]{22}$/);
});

test.each([
  [{ manifest: { a: 1, b: [{ d: 3, c: 2 }, 4] } }],
  [{ manifest: { a: 1, b: [{ c: 2, d: 3 }] }, options: { retry: true } }],
  [{ manifest: { a: '1', b: [{ c: 2, d: 3 }] } }],
  [null],
  [undefined],
  ['text'],
])('%j is another', (data) => {
  expect(payloadHash(data)).not.toBe(payloadHash({ manifest: { a: 1, b: [{ c: 2, d: 3 }] } }));
});

test('the signature of a bare manifest is none of its payload, either', () => {
  expect(payloadHash({ kind: 'Job', signature: 'x' })).toBe(payloadHash({ kind: 'Job', signature: 'y' }));
});

test('a key may be of any length and have any character, and the name of a field in a ConfigMap may not', () => {
  expect(keyHash('repeat:nightly:17'.repeat(100))).toMatch(/^[-\w]{22}$/);
  expect(keyHash('a')).not.toBe(keyHash('A'));
});
