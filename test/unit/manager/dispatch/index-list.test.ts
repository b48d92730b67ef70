import { expect, test } from 'vitest';
import { areIndexLists } from '../../../../manager/dispatch/index-list.ts';

test.each([
  ['', ''],
  ['0-9', ''],
  ['0,2-4,9', '1,5-8'],
  ['0,1,2', ''],
  ['0-1,2', '3'],
])('%j and %j are lists of a Job of ten', (completed, failed) => {
  expect(areIndexLists(completed, failed, 10)).toBe(true);
});

test.each([
  ['0-10', 'an index beyond the end'],
  ['3,1', 'a smaller one after a larger one'],
  ['1,1', 'one twice'],
  ['4-2', 'an interval that ends before it begins'],
  ['4-4', 'an interval of one'],
  ['1-2-3', 'three parts'],
  ['1,', 'an empty part'],
  ['-1', 'a negative index'],
  ['99999999999', 'too many digits'],
  ['a', 'no digit'],
])('%j has %s', (text) => {
  expect(areIndexLists(text, '', 10)).toBe(false);
  expect(areIndexLists('', text, 10)).toBe(false);
});

test.each([
  ['0-4', '4'],
  ['4', '0-4'],
  ['0,9', '1-9'],
])('%j and %j have an index in common', (completed, failed) => {
  expect(areIndexLists(completed, failed, 10)).toBe(false);
});
