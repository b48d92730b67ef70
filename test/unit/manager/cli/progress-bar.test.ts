import { expect, test } from 'vitest';
import { progressBar } from '../../../../manager/cli/progress-bar.ts';

test('a bar grows with what is done, in one line', () => {
  expect(progressBar({ done: 0, total: 4, words: '4 wait' }, 80)).toBe('[>                       ] 0/4 4 wait');
  expect(progressBar({ done: 2, total: 4, words: '1 failed, 2 run' }, 80)).toBe('[============>           ] 2/4 1 failed, 2 run');
  expect(progressBar({ done: 4, total: 4, words: '' }, 80)).toBe('[========================] 4/4');
});

test('it leaves the last column of the terminal empty', () => {
  const bar = progressBar({ done: 412, total: 1000, words: '3 failed, 96 run, 489 wait' }, 40);
  expect(bar.length).toBeLessThanOrEqual(39);
  expect(bar.endsWith('…')).toBe(true);
});
