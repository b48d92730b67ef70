import { expect, test } from 'vitest';
import { createFinishedCopies } from '../../../../../manager/dispatch/connection/finished-copies.ts';
import { aCondition, aHomeJob } from '../../../../support/jobs.ts';

const ended = aHomeJob({ status: { conditions: [aCondition('Complete')] } });

test('the first of too many goes, and one that has gone makes room', () => {
  const told: string[] = [];
  const finished = createFinishedCopies(2, (key) => told.push(key));
  expect(finished.saw('runs', aHomeJob())).toBe(false);
  expect(['a', 'b'].map((key) => finished.saw(key, ended))).toEqual([true, true]);
  expect(finished.saw('a', ended)).toBe(false);
  expect(told).toEqual([]);
  finished.gone('b');
  finished.saw('c', ended);
  expect(told).toEqual([]);
  finished.saw('d', ended);
  expect(told).toEqual(['a']);
  expect(['a', 'c', 'd'].map((key) => finished.isBeyond(key))).toEqual([true, false, false]);
  expect(finished.saw('a', ended)).toBe(false);
  finished.gone('a');
  expect(finished.isBeyond('a')).toBe(false);
});
