import { expect, test } from 'vitest';
import { contentDigest, contentOf } from '../../../../manager/api/content-digest.ts';

test('the digest of an object is that of its content, whatever the order of keys, and empty maps are none', () => {
  const digest = contentDigest({ data: { a: '1', b: '2' } });
  expect(digest).toMatch(/^[0-9a-f]{32}$/);
  expect(contentDigest({ data: { b: '2', a: '1' }, binaryData: {} })).toBe(digest);
  expect(contentDigest({ data: { a: '1' } })).not.toBe(digest);
  expect(contentDigest({ binaryData: { a: '1', b: '2' } })).not.toBe(digest);
  expect(contentDigest({ data: { a: '1', b: '2' }, type: 'Opaque' })).not.toBe(digest);
  expect(contentOf({ data: {}, binaryData: { b: 'Yg==', a: 'YQ==' } })).toEqual({ binaryData: { a: 'YQ==', b: 'Yg==' } });
});
