import { expect, test } from 'vitest';
import { countIndexes, firstCommonIndex } from '../../../../../shared/controlplane/kinds/completion-indexes.ts';

test.each([
  ['', 0],
  ['3', 1],
  ['0,2-4,9', 5],
  ['0-1,2', 3],
  ['0,1,2', 3],
  ['01', 1],
])('%j names %i indexes', (text, count) => expect(countIndexes(text, 10)).toEqual({ count }));

test.each([
  ['10', 'too large index: "10"'],
  ['8-12', 'too large index: "12"'],
  ['4-2', 'non-increasing order, previous: 4, current: 2'],
  ['1-1', 'non-increasing order, previous: 1, current: 1'],
  ['1-3,3', 'non-increasing order, previous: 3, current: 3'],
  ['1, 2', 'cannot convert string to integer for index: " 2"'],
  ['1,', 'cannot convert string to integer for index: ""'],
  ['1-2-3', 'the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by \'-\''],
])('%j cannot be read: %s', (text, problem) => expect(countIndexes(text, 10)).toEqual({ problem }));

test.each([
  ['0-3,7', '5,7-8', 7],
  ['0-5', '2', 2],
  ['0-1', '2-3', undefined],
  ['x,4', '4', 4],
])('%j and %j have index %s in common first', (one, other, common) => expect(firstCommonIndex(one, other, 10)).toBe(common));
