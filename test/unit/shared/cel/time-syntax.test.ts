import { expect, test } from 'vitest';
import { isDate, isDateTime, isGoDuration, isRfc3339Time } from '../../../../shared/cel/time-syntax.ts';

test('a day is one that its month has', () => {
  expect(['2024-02-29', '2023-02-29', '2024-02-30', '2024-13-01', '2024-1-1'].map(isDate)).toEqual([true, false, false, false, false]);
});

test('a time is on a day, and has a zone', () => {
  expect(['2024-02-29T12:00:00Z', '2024-02-30T12:00:00Z', '2024-02-29T24:00:00Z', '2024-02-29T12:00:00'].map(isRfc3339Time)).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect(['2024-02-29t12:00:00z', '2024-02-29 12:00:00Z', '2024-02-30T12:00:00Z'].map(isDateTime)).toEqual([true, false, false]);
});

test('a duration has units', () => {
  expect(['1h30m', '-1.5s', '0', '5', '', '1d', '9999999h'].map(isGoDuration)).toEqual([true, true, true, false, false, false, false]);
});
