import { expect, test } from 'vitest';
import { canonicalJson, payloadHash } from '../../../../shared/api/payload-hash.ts';

test('the order of keys does not matter, at any depth, and that of lists does', () => {
  expect(payloadHash({ manifest: { b: 1, a: [{ d: 1, c: 2 }] } })).toBe(payloadHash({ manifest: { a: [{ c: 2, d: 1 }], b: 1 } }));
  expect(payloadHash({ a: [1, 2] })).not.toBe(payloadHash({ a: [2, 1] }));
});

test('what has no value is as if it were not there, as JSON has it', () => {
  expect(canonicalJson({ a: undefined, b: null, c: [undefined, 'x'] })).toBe('{"b":null,"c":[null,"x"]}');
});

test('a signature is no part of what is asked for', () => {
  expect(payloadHash({ manifest: {}, signature: { key: 'a' } })).toBe(payloadHash({ manifest: {} }));
  expect(payloadHash({ manifest: { signature: 1 } })).not.toBe(payloadHash({ manifest: {} }));
});

test('data that are no object have a hash, too', () => {
  expect(new Set([payloadHash(null), payloadHash('a'), payloadHash(['a']), payloadHash({})]).size).toBe(4);
});
