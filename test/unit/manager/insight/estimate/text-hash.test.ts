import { expect, test } from 'vitest';
import { textHash } from '../../../../../manager/insight/estimate/text-hash.ts';

test('it is FNV-1a, of 32 bits', () => {
  expect([textHash(''), textHash('a'), textHash('foobar')]).toEqual([0x811c9dc5, 0xe40c292c, 0xbf9cf968]);
});
