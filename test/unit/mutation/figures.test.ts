import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { figuresRow, withFiguresRow } from '../../mutation/figures.ts';
import type { Verdict } from '../../mutation/judge.ts';
import type { Result } from '../../mutation/study.ts';

const DOCUMENT = readFileSync(path.join(import.meta.dirname, '../../../docs/testing.md'), 'utf8');
const result = (verdict: Verdict): Result => ({
  mutant: { file: 'a.ts', line: 1, start: 0, end: 1, replacement: '' },
  change: '1 → 2',
  verdict,
});
const RESULTS = [
  result({ kind: 'Killed', by: 'a test', near: true }),
  result({ kind: 'Killed', by: 'a scenario', near: false }),
  result({ kind: 'TimedOut' }),
  result({ kind: 'Survived', why: '3 test files' }),
];

test('a study is a row of the document, with its date and its seed', () => {
  expect(figuresRow(RESULTS, { count: 4, seed: 9, budgetMs: 20_000 }, '2026-11-27')).toBe(
    '| 2026-11-27 | `--count 4 --seed 9 --budget 20s` | 4 | 1 | 1 | 0 | 0 | 1 | 1 (25.0 %) | 2 (50.0 %) |',
  );
});

test('the row of the same study takes the place of an earlier one, and another stands below it', () => {
  const rows = ['2030-01-01', '2030-01-02'].map((date) => figuresRow(RESULTS, { count: 4, seed: 9, budgetMs: 1_000 }, date));
  const other = figuresRow(RESULTS, { count: 4, seed: 10, budgetMs: 1_000 }, '2030-01-03');
  const document = [...rows, other].reduce(withFiguresRow, DOCUMENT);
  expect(document.split('\n').filter((line) => line.startsWith('| 2030-'))).toEqual([rows[1], other]);
  expect(document.length - DOCUMENT.length).toBe(`${rows[1]}\n${other}\n`.length);
});

test('a document without the table is not touched', () => {
  expect(() => withFiguresRow('# Tests\n', '| a | b |')).toThrow('no table of figures');
});
