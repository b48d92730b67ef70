import { describe, expect, test } from 'vitest';
import { coloured, paintFor } from '../../../../manager/cli/colours.ts';
import { formatTable, type Table } from '../../../../manager/cli/text-table.ts';
import { formatAge } from '../../../../manager/cli/time-text.ts';

const TABLE: Table = {
  heads: ['NAME', 'STATE', 'AGE'],
  spare: ['AGE'],
  rows: [
    { cells: ['train', 'Running', '3m'], note: '' },
    { cells: ['a-long-name', 'Waiting', '12s'], note: 'short of 1 cpu' },
  ],
};

test('columns are as wide as their widest cell', () => {
  expect(formatTable({ ...TABLE, rows: TABLE.rows.map((row) => ({ ...row, note: '' })) }, 80)).toEqual([
    'NAME         STATE    AGE',
    'train        Running  3m',
    'a-long-name  Waiting  12s',
  ]);
});

test('what is spare goes when lines are too long, and notes go below', () => {
  expect(formatTable(TABLE, 24)).toEqual(['NAME         STATE', 'train        Running', 'a-long-name  Waiting', '    short of 1 cpu']);
});

test('a cell that would steer the terminal is shown by its numbers', () => {
  const rows = [{ cells: ['\u001b[2J', 'x\ny', ''], note: '' }];
  expect(formatTable({ ...TABLE, rows }, 80)[1]).toBe('\\u{1b}[2J  x\\u{a}y');
});

test('colours change no width, and are there only where they are wanted', () => {
  const painted = formatTable(TABLE, 80, paintFor({ colours: true }));
  expect(painted[1]).toBe(`train        ${coloured('Running')}  3m`);
  expect(coloured('Running')).toBe('\u001b[36mRunning\u001b[39m');
  expect(coloured('anything')).toBe('anything');
  expect(formatTable(TABLE, 80, paintFor({ colours: false }))).toEqual(formatTable(TABLE, 80));
});

describe('ages', () => {
  test.each([
    [-5, '0s'],
    [119_000, '119s'],
    [200_000, '3m20s'],
    [1_200_000, '20m'],
    [9_000_000, '2h30m'],
    [100_000_000, '27h'],
    [200_000_000, '2d7h'],
    [2_000_000_000, '23d'],
  ])('%d ms is %s', (ms, text) => {
    expect(formatAge(ms)).toBe(text);
  });
});
