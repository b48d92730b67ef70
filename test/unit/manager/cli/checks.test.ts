import { describe, expect, test } from 'vitest';
import { areFine, checkLines, clockCheck, note, ok, versionCheck, wrong, wrongFirst } from '../../../../manager/cli/checks.ts';

test('checks stand below one another, with remedies below them, and fit the terminal', () => {
  const checks = [
    ok('cluster', 'none that has joined'),
    wrong('rights', `may not ${'list jobs, '.repeat(8)}`, `look ${'there '.repeat(20)}`),
    note('x', 'a\u001b[2J'),
  ];
  const lines = checkLines(checks, { width: 60, colours: false });
  expect(lines[0]).toBe('ok     cluster  none that has joined');
  expect(lines[1]).toMatch(/^wrong {2}rights {3}may not list jobs/);
  expect(lines.find((line) => line.includes('->'))).toMatch(/^ {9}-> look there/);
  expect(lines.at(-1)).toBe('note   x        a\\u{1b}[2J');
  expect(lines.filter((line) => line.length > 60)).toEqual([]);
  expect(areFine(checks)).toBe(false);
  expect(areFine([ok('a', 'b'), note('c', 'd', 'e')])).toBe(true);
  expect(checkLines([ok('a', 'b')], { width: 60, colours: true })[0]).toBe('\u001b[32mok\u001b[39m     a  b');
});

test('what is wrong stands first, and in one line with its remedy where lines have no end', () => {
  const checks = wrongFirst([note('a', 'b', 'c'), wrong('d', 'e', 'f', 'G'), ok('h', 'i'), wrong('jj', 'k', 'l')]);
  expect(checkLines(checks, { width: Infinity, colours: false })).toEqual([
    'wrong  d   e  -> f  (runbook: docs/runbooks/G.md)',
    'wrong  jj  k  -> l',
    'note   a   b  -> c',
    'ok     h   i',
  ]);
});

describe('clocks', () => {
  test.each([
    [10_000, 10_500, 11_000, 'ok'],
    [4_100, 10_000, 10_100, 'ok'],
    [3_000, 10_000, 10_100, 'note'],
    [16_000, 10_000, 10_100, 'note'],
  ])('theirs %d, ours from %d to %d: %s', (theirs, before, after, result) => {
    expect(clockCheck('clock', theirs, before, after).result).toBe(result);
  });
});

describe('versions', () => {
  test.each([
    ['v1.36.0', 'ok'],
    ['v1.32.1-eks-abc', 'ok'],
    ['v1.31.9', 'wrong'],
    ['v2.0.0', 'ok'],
    ['unknown', 'note'],
  ])('%s: %s', (version, result) => {
    expect(versionCheck('version', version).result).toBe(result);
  });
});
