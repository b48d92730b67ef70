import { describe, expect, test } from 'vitest';
import { nextBackoff, NO_BACKOFF, remainingBackoffMs } from '../../../../worker/job/backoff.ts';

describe('the record', () => {
  test('nothing ended: unchanged', () => {
    const record = { failuresAfterLastSuccess: 2, lastFailureMs: 5 };
    expect(nextBackoff(record, [], [])).toBe(record);
  });
  test('failures add up, and the latest one counts', () => {
    expect(nextBackoff({ failuresAfterLastSuccess: 2, lastFailureMs: 5 }, [], [30, 20])).toEqual({
      failuresAfterLastSuccess: 4,
      lastFailureMs: 30,
    });
  });
  test('a success forgets everything', () => {
    expect(nextBackoff({ failuresAfterLastSuccess: 2, lastFailureMs: 5 }, [10], [])).toEqual(NO_BACKOFF);
  });
  test('only failures strictly after the latest success remain', () => {
    expect(nextBackoff({ failuresAfterLastSuccess: 7, lastFailureMs: 5 }, [20, 10], [20, 21, 40])).toEqual({
      failuresAfterLastSuccess: 2,
      lastFailureMs: 40,
    });
    expect(nextBackoff(NO_BACKOFF, [20], [20])).toEqual(NO_BACKOFF);
  });
});

describe('the delay', () => {
  test.each([
    [0, 0],
    [1, 10],
    [2, 20],
    [3, 40],
    [6, 320],
    [7, 600],
    [2000, 600],
  ])('after %d failures it is %d seconds', (failures, seconds) => {
    expect(remainingBackoffMs(failures, 1000, 1000)).toBe(seconds * 1000);
  });
  test('it runs from the failure, not from now', () => {
    expect(remainingBackoffMs(1, 1000, 7000)).toBe(4000);
    expect(remainingBackoffMs(1, 1000, 11_000)).toBe(0);
    expect(remainingBackoffMs(1, 1000, 60_000)).toBe(0);
  });
  test('a failure dated in the future by another clock waits longer, not for ever', () => {
    expect(remainingBackoffMs(1, 3000, 1000)).toBe(12_000);
  });
});
