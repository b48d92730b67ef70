import { expect, test } from 'vitest';
import { createPageSize } from '../../../../shared/kube/page-size.ts';

test('pages become smaller until they fit, down to one object, and then there is no smaller one', () => {
  const size = createPageSize();
  const seen = [size.current()];
  while (size.tooMuch('AnswerTooLarge')) seen.push(size.current());
  expect(seen).toEqual([500, 100, 20, 4, 1]);
  expect(size.current()).toBe(1);
});

test('they become larger again step by step, each after ten that fitted', () => {
  const size = createPageSize();
  size.tooMuch('AnswerTooLarge');
  size.tooMuch('AnswerTooLarge');
  for (let count = 0; count < 9; count++) size.fitted();
  expect(size.current()).toBe(20);
  size.fitted();
  expect(size.current()).toBe(100);
  for (let count = 0; count < 100; count++) size.fitted();
  expect(size.current()).toBe(500);
});

test('a slow server is asked for less the next time, and not at once', () => {
  const size = createPageSize();
  expect(size.tooMuch('AnswerTooSlow')).toBe(false);
  expect(size.current()).toBe(100);
});

test('what is no list does not become one by being shorter', () => {
  const size = createPageSize();
  expect(size.tooMuch('NotKubernetes')).toBe(false);
  expect(size.current()).toBe(500);
});
