import { expect, test } from 'vitest';
import { seededRandom } from '../../../shared/runtime/random.ts';
import { chooseMutants } from '../../mutation/choice.ts';
import type { Mutant } from '../../mutation/mutants.ts';

const onLine = (line: number, start: number): Mutant => ({ file: 'a.ts', line, start, end: start, replacement: '' });
const MUTANTS = [onLine(1, 0), onLine(2, 10), onLine(2, 11), onLine(2, 12), onLine(3, 20)];

test('the same seed chooses the same mutants, another one others', () => {
  const many = Array.from({ length: 100 }, (_, line) => onLine(line, line));
  expect(chooseMutants(many, 10, seededRandom(1))).toEqual(chooseMutants(many, 10, seededRandom(1)));
  expect(chooseMutants(many, 10, seededRandom(1))).not.toEqual(chooseMutants(many, 10, seededRandom(2)));
});

test('every line has one before any has two', () => {
  const lines = chooseMutants(MUTANTS, 3, seededRandom(1)).map(({ line }) => line);
  expect(new Set(lines)).toEqual(new Set([1, 2, 3]));
});

test('what is not wanted gives way to another one', () => {
  const isWanted = ({ start }: Mutant): boolean => start > 10;
  expect(new Set(chooseMutants(MUTANTS, 2, seededRandom(1), isWanted).map(({ line }) => line))).toEqual(new Set([2, 3]));
});

test('when there are fewer than asked for, all are chosen, each once', () => {
  expect(new Set(chooseMutants(MUTANTS, 50, seededRandom(1)))).toEqual(new Set(MUTANTS));
  expect(chooseMutants(MUTANTS, 50, seededRandom(1))).toHaveLength(5);
});
