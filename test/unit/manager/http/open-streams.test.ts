import { expect, test } from 'vitest';
import { createOpenStreams } from '../../../../manager/http/open-streams.ts';

test('one token has its share, all together have theirs, and what is closed may be opened again', () => {
  const streams = createOpenStreams({ all: 3, perToken: 2 });
  const [first, second] = [streams.open('Bearer a'), streams.open('Bearer a')];
  expect(streams.open('Bearer a')).toBeUndefined();
  expect(streams.open('Bearer b')).toBeDefined();
  expect(streams.open('Bearer c')).toBeUndefined();
  expect(streams.size).toBe(3);
  first?.();
  first?.();
  expect(streams.size).toBe(2);
  expect(streams.open('Bearer c')).toBeDefined();
  second?.();
  expect(streams.open('Bearer a')).toBeDefined();
  expect(streams.open('Bearer a')).toBeUndefined();
});
