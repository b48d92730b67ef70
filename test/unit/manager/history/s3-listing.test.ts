import { expect, test } from 'vitest';
import { readListing } from '../../../../manager/history/s3-listing.ts';

test('a listing is read, whoever wrote its names', () => {
  const object = (key: string, size: string) => `<Contents>\n<Key>${key}</Key><ETag>x</ETag><Size>${size}</Size></Contents>`;
  expect(
    readListing(
      `<ListBucketResult>${object('j%2Fa+b', '3')}${object('j/a&amp;b', '0')}${object('100%', 'x')}<Contents></Contents></ListBucketResult>`,
    ),
  ).toEqual([
    { key: 'j/a b', bytes: 3 },
    { key: 'j/a&b', bytes: 0 },
    { key: '100%', bytes: 0 },
  ]);
  expect(readListing('')).toEqual([]);
});
