/** A whole study of a project of two files, with vitest as its own process. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { StudyError } from '../../mutation/judge.ts';
import { runStudy, type Result, type StudyOptions } from '../../mutation/study.ts';

const LIMITS = `export const isFull = (count: number): boolean => count >= 10;
export const isEmpty = (count: number): boolean => count <= 0;
export const isOdd = (count: number): boolean => count === 5;
`;
const LOOP = `export function countTo(end: number): number {
  let count = 0;
  while (count < end) {
    count++;
  }
  return count;
}
`;
const TESTS = `import { expect, test } from 'vitest';
import { isEmpty, isFull, isOdd } from '../../../shared/limits.ts';
import { countTo } from '../../../shared/loop.ts';
test('ten are full, nine are not', () => expect([isFull(9), isFull(10)]).toEqual([false, true]));
test('three are not empty', () => expect(isEmpty(3)).toBe(false));
test('four are not odd', () => expect(isOdd(4)).toBe(false));
test('counts', () => expect(countTo(3)).toBe(3));
`;
const SCENARIO = `import { expect, test } from 'vitest';
import { isEmpty, isOdd } from '../../shared/limits.ts';
test('five are odd', () => expect(isOdd(5)).toBe(true));
test('none are empty, on one machine', () => expect(isEmpty(0)).toBe(!FAILS));
`;
/** Starting programs takes its time where many others do. */
const PATIENCE_MS = 300_000;

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'switchyard-study-'));
  symlinkSync(path.resolve(import.meta.dirname, '../../../node_modules'), path.join(root, 'node_modules'));
  for (const folder of ['shared', 'test/unit/shared', 'test/scenario']) mkdirSync(path.join(root, folder), { recursive: true });
  writeFileSync(path.join(root, 'package.json'), '{ "type": "module" }');
  writeFileSync(path.join(root, 'shared/limits.ts'), LIMITS);
  writeFileSync(path.join(root, 'shared/loop.ts'), LOOP);
  writeFileSync(path.join(root, 'test/unit/shared/limits.test.ts'), TESTS);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function study(options: Partial<StudyOptions> = {}): Promise<string[]> {
  const results = await runStudy({
    root,
    files: ['shared/*.ts'],
    line: undefined,
    count: 100,
    seed: 1,
    parallel: 2,
    limitMs: PATIENCE_MS,
    budgetMs: PATIENCE_MS,
    equivalents: [],
    checks: { takesOriginal: () => true, refusedBy: () => undefined, close: () => undefined },
    signal: new AbortController().signal,
    print: () => undefined,
    ...options,
  });
  const kindOf = ({ verdict }: Result): string => (verdict.kind === 'Killed' && !verdict.near ? 'Elsewhere' : verdict.kind);
  return results.map((result) => `${kindOf(result)} ${result.mutant.line}: ${result.change}`).toSorted();
}

test('tells what the tests notice from what they do not, and leaves the files alone', { timeout: PATIENCE_MS }, async () => {
  const results = await study({
    files: ['shared/limits.ts'],
    equivalents: [{ file: 'shared/limits.ts', line: LIMITS.split('\n')[1] ?? '', change: '0 → 1', why: 'nobody counts by halves' }],
    checks: {
      takesOriginal: () => true,
      refusedBy: (_file, text) => (text.includes('count < 0') ? 'compiler' : undefined),
      close: () => undefined,
    },
  });
  expect(results).toEqual([
    'Equivalent 2: 0 → 1',
    'Killed 1: 10 → 20',
    'Killed 1: >= → >',
    'Killed 3: === → !==',
    'Refused 2: <= → <',
    'Survived 3: 5 → 10',
  ]);
  expect(readFileSync(path.join(root, 'shared/limits.ts'), 'utf8')).toBe(LIMITS);
});

test('what only tests of other folders notice is said apart, and a test that fails in any case notices nothing', {
  timeout: PATIENCE_MS,
}, async () => {
  const scenario = (fails: boolean): void =>
    writeFileSync(path.join(root, 'test/scenario/limits.test.ts'), SCENARIO.replace('FAILS', String(fails)));
  scenario(false);
  const noticed = await study({ files: ['shared/limits.ts'] });
  expect(noticed.filter((line) => !line.includes(' 1:'))).toEqual([
    'Elsewhere 2: <= → <',
    'Elsewhere 3: 5 → 10',
    'Killed 3: === → !==',
    'Survived 2: 0 → 1',
  ]);
  scenario(true);
  expect(await study({ files: ['shared/limits.ts'], line: 3 })).toEqual(['Killed 3: === → !==', 'Survived 3: 5 → 10']);
});

test('ends a mutant that never ends', { timeout: PATIENCE_MS }, async () => {
  expect(await study({ files: ['shared/loop.ts'], line: 4, limitMs: 5_000 })).toEqual([
    'TimedOut 4: count++ → count--',
    'TimedOut 4: count++; → (dropped)',
  ]);
});

test('is not made where a test fails or the compiler refuses without any mutant, or where no file matches', {
  timeout: PATIENCE_MS,
}, async () => {
  await expect(study({ files: ['worker/*.ts'] })).rejects.toThrow(/^--files: no source file matches worker/);
  const checks = { takesOriginal: () => false, refusedBy: () => undefined, close: () => undefined };
  await expect(study({ line: 1, checks })).rejects.toThrow('the compiler refuses the project without any mutant; mend it first');
  writeFileSync(path.join(root, 'test/unit/shared/limits.test.ts'), TESTS.replace('toBe(3)', 'toBe(4)'));
  const failing = study({ line: 1 });
  await expect(failing).rejects.toThrow(StudyError);
  await expect(failing).rejects.toThrow('a test fails without any mutant; mend it first: test/unit/shared/limits.test.ts: counts');
});
