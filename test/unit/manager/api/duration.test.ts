import { expect, test } from 'vitest';
import { DURATION_PATTERN, formatDurationMs, parseDurationMs } from '../../../../manager/api/duration.ts';

test.each([
  ['90s', 90_000, '1m30s'],
  ['10m', 600_000, '10m'],
  ['1h30m', 5_400_000, '1h30m'],
  ['2h0m1s', 7_201_000, '2h1s'],
  ['0s', 0, '0s'],
])('%s is a duration', (text, ms, shortest) => {
  expect(parseDurationMs(text)).toBe(ms);
  expect(formatDurationMs(ms)).toBe(shortest);
  expect(new RegExp(DURATION_PATTERN).test(text)).toBe(true);
});

test.each(['', '10', '-1s', '1.5h', '5 m', '10s5m', 'forever', '1d', '99999999s'])('%j is none', (text) => {
  expect(parseDurationMs(text)).toBeUndefined();
});

test('what is less than a second counts as one', () => {
  expect(formatDurationMs(1)).toBe('1s');
});
