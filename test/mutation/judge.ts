import path from 'node:path';
import { mutate, type Mutant } from './mutants.ts';
import { runTests, type TestRun } from './run-tests.ts';
import type { StaticChecks } from './static-checks.ts';

export type Verdict =
  /** `near`: by a test of the unit folder of its file. */
  | { readonly kind: 'Killed'; readonly by: string; readonly near: boolean }
  | { readonly kind: 'TimedOut' }
  | { readonly kind: 'Refused'; readonly by: 'compiler' | 'linter' }
  | { readonly kind: 'Equivalent'; readonly why: string }
  | { readonly kind: 'Survived'; readonly why: string };

/** A study that cannot be made; the message says what to do. */
export class StudyError extends Error {
  override readonly name = 'StudyError';
}

/** The tests that import a file, in the order in which they are run. */
export type TestsOfFile = {
  /** Those of the unit folder of the file, its own one first. */
  readonly near: readonly string[];
  readonly far: readonly string[];
};

/** `related`: all tests that run the file, those that are the fewest imports away first. */
export function testsOfFile(file: string, related: readonly string[]): TestsOfFile {
  const own = `test/unit/${file.replace(/\.ts$/, '.test.ts')}`;
  const isNear = (test: string): boolean => path.dirname(test) === path.dirname(own);
  const isUnit = (test: string): boolean => test.startsWith('test/unit/');
  const far = related.filter((test) => !isNear(test));
  return {
    near: related.filter(isNear).toSorted((a, b) => Number(b === own) - Number(a === own)),
    // Scenarios know more, and take a hundred times as long.
    far: [...far.filter(isUnit), ...far.filter((test) => !isUnit(test))],
  };
}

export type JudgeOptions = {
  readonly root: string;
  /** Longest time for the tests near a mutant, and for the far ones. */
  readonly limitMs: number;
  readonly budgetMs: number;
  readonly checks: StaticChecks;
  readonly signal: AbortSignal;
};

/**
 * 1. Run the tests near the mutant, until one fails.
 * 2. Show what survives them to compiler and linter, which are part of `npm test`.
 * 3. Run the far tests, until one fails that does not fail without the mutant, or the budget is spent.
 */
export async function judge(options: JudgeOptions, mutant: Mutant, text: string, tests: TestsOfFile, usualMs: number): Promise<Verdict> {
  // 1.
  const limitMs = Math.min(options.limitMs, START_UP_MS + SLOWER * usualMs);
  const near = await runSure(options, mutant, tests.near, limitMs, ({ late }) => !late);
  if (near.kind === 'Failed') return { kind: 'Killed', by: near.by, near: true };
  if (near.kind === 'TimedOut') {
    const original = await runTests({ root: options.root, mutant: undefined, tests: tests.near }, { limitMs, signal: options.signal });
    if (original.kind === 'TimedOut')
      throw new StudyError(`the tests of ${mutant.file} are too slow here without any mutant, too; try later`);
    return { kind: 'TimedOut' };
  }
  // 2.
  const by = options.checks.refusedBy(mutant.file, mutate(text, mutant), text);
  if (by !== undefined) return { kind: 'Refused', by };
  // 3.
  const far = await runSure(options, mutant, tests.far, options.budgetMs, () => false);
  if (far.kind === 'Failed') return { kind: 'Killed', by: far.by, near: false };
  if (tests.near.length + tests.far.length === 0) return { kind: 'Survived', why: 'no test imports the file' };
  if (far.kind === 'TimedOut') return { kind: 'Survived', why: `the budget is spent on ${tests.far.length} far test files` };
  if (!near.loaded && !far.loaded) return { kind: 'Survived', why: 'no test has loaded the file' };
  return { kind: 'Survived', why: `${tests.near.length + tests.far.length} test files` };
}

/** A mutant may take so much longer than its original, on a machine that others use, too. */
const SLOWER = 10;
const START_UP_MS = 60_000;

type Failure = Extract<TestRun, { kind: 'Failed' }>;

/**
 * Failures that are not sure are looked at without the mutant: tests that fail there too are left out, and the others run again, in what is
 * left of the time.
 */
async function runSure(
  options: Pick<JudgeOptions, 'root' | 'signal'>,
  mutant: Mutant,
  tests: readonly string[],
  limitMs: number,
  isSure: (failure: Failure) => boolean,
): Promise<TestRun> {
  if (tests.length === 0) return { kind: 'Passed', loaded: false, durationsMs: new Map() };
  const { root, signal } = options;
  const startMs = performance.now();
  const run = await runTests({ root, mutant, tests }, { limitMs, signal });
  if (run.kind !== 'Failed' || isSure(run)) return run;
  const suspects = run.file === undefined ? tests : [run.file];
  const original = await runTests({ root, mutant: undefined, tests: suspects }, { limitMs, signal });
  if (original.kind === 'Passed') return run;
  const leftMs = limitMs - (performance.now() - startMs);
  if (leftMs <= 0) return { kind: 'TimedOut' };
  const others = tests.filter((test) => !suspects.includes(test));
  return runSure(options, mutant, others, leftMs, isSure);
}
