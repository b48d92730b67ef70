import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { seededRandom } from '../../shared/runtime/random.ts';
import { chooseMutants } from './choice.ts';
import type { Equivalent } from './equivalents.ts';
import { importersOf, importGraph, type ImportGraph } from './import-graph.ts';
import { changeOf, mutantsOf, mutate, type Mutant } from './mutants.ts';
import { runTests } from './run-tests.ts';
import type { StaticChecks } from './static-checks.ts';

export type StudyOptions = {
  readonly root: string;
  /** Patterns of the files to break. */
  readonly files: readonly string[];
  /** Only mutants of this line. */
  readonly line: number | undefined;
  readonly count: number;
  readonly seed: number;
  /** Mutants tried at once. */
  readonly parallel: number;
  /** Longest time for the tests of one mutant. */
  readonly limitMs: number;
  /** How much of a mutant's tests is run, by what they take without it. A mutant that others would notice survives then. */
  readonly budgetMs: number;
  readonly equivalents: readonly Equivalent[];
  readonly checks: StaticChecks;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
};

export type Verdict =
  | { readonly kind: 'Killed'; readonly by: string }
  | { readonly kind: 'TimedOut' }
  | { readonly kind: 'Refused'; readonly by: 'compiler' | 'linter' }
  | { readonly kind: 'Equivalent'; readonly why: string }
  | { readonly kind: 'Survived'; readonly why: string };
export type Result = { readonly mutant: Mutant; readonly change: string; readonly verdict: Verdict };

/** A study that cannot be made; the message says what to do. */
export class StudyError extends Error {
  override readonly name = 'StudyError';
}

/**
 * 1. Find the ways to break the files, and choose some of them by the seed.
 * 2. Run the tests of these files as they are: all must pass, and each says how long it takes.
 * 3. Run the tests of each mutant's file with the mutant in its place, until one fails.
 * 4. Show the survivors to compiler and linter, which are part of `npm test`.
 */
export async function runStudy(options: StudyOptions): Promise<Result[]> {
  const { root, files, line, count, seed, parallel, signal, print } = options;
  // 1.
  const sources = readSources(root);
  const broken = globSync([...files], { cwd: root })
    .toSorted()
    .filter((file) => sources.has(file));
  if (broken.length === 0)
    throw new StudyError(`--files: no source file matches ${files.join(',')}; quote the pattern, and write it from the root`);
  const textOf = (file: string): string => sources.get(file) ?? '';
  const possible = broken.flatMap((file) => mutantsOf(file, textOf(file))).filter((mutant) => line === undefined || mutant.line === line);
  const mutants = chooseMutants(possible, count, seededRandom(seed));
  print(`${mutants.length} of ${possible.length} mutants in ${broken.length} files, seed ${seed}`);
  // 2.
  const related = relatedTests(importGraph(sources), mutants);
  const durations = await timeTests(options, [...new Set([...related.values()].flat())]);
  // 3. and 4.
  const results: Result[] = [];
  const queue = mutants.entries();
  const work = async (): Promise<void> => {
    for (const [position, mutant] of queue) {
      if (signal.aborted) return;
      const text = textOf(mutant.file);
      const change = changeOf(text, mutant);
      const known = options.equivalents.find(
        (each) => each.file === mutant.file && each.change === change && each.line === lineOf(text, mutant),
      );
      const tests = inOrder(related.get(mutant.file) ?? [], mutant.file, durations, options.budgetMs);
      const verdict: Verdict =
        known === undefined ? await judge(options, mutant, text, tests, durations) : { kind: 'Equivalent', why: known.why };
      results.push({ mutant, change, verdict });
      print(`${String(position + 1).padStart(4)} ${formatResult({ mutant, change, verdict })}`);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  signal.throwIfAborted();
  return results;
}

/**
 * A file's own unit test knows most about it, then those of its folder; the others follow by their speed. As many as the budget has room
 * for, and one in any case.
 */
function inOrder(tests: readonly string[], file: string, durations: ReadonlyMap<string, number>, budgetMs: number): string[] {
  const own = `test/unit/${file.replace(/\.ts$/, '.test.ts')}`;
  const durationOf = (test: string): number => durations.get(test) ?? 0;
  const farness = (test: string): number => (test === own ? 0 : path.dirname(test) === path.dirname(own) ? 1 : 2);
  let leftMs = budgetMs;
  return tests
    .toSorted((a, b) => farness(a) - farness(b) || durationOf(a) - durationOf(b))
    .filter((test, position) => (leftMs -= durationOf(test)) >= 0 || position === 0);
}

export const formatResult = ({ mutant, change, verdict }: Result): string =>
  `${verdict.kind.padEnd(10)} ${mutant.file}:${mutant.line}  ${change}${'why' in verdict ? `  (${verdict.why})` : ''}${'by' in verdict ? `  (${verdict.by})` : ''}`;

const lineOf = (text: string, { line }: Mutant): string => text.split('\n')[line - 1]?.trim() ?? '';

async function judge(
  { root, limitMs, checks, signal }: StudyOptions,
  mutant: Mutant,
  text: string,
  tests: readonly string[],
  durations: ReadonlyMap<string, number>,
): Promise<Verdict> {
  if (tests.length > 0) {
    const usualMs = tests.reduce((sum, test) => sum + (durations.get(test) ?? 0), 0);
    const run = await runTests({ root, mutant, tests }, { limitMs: Math.min(limitMs, START_UP_MS + SLOWER * usualMs), signal });
    if (run.kind === 'Failed') return { kind: 'Killed', by: run.by };
    if (run.kind === 'TimedOut') return { kind: 'TimedOut' };
    if (!run.loaded) return { kind: 'Survived', why: 'no test has loaded the file' };
  }
  const by = checks.refusedBy(mutant.file, mutate(text, mutant), text);
  if (by !== undefined) return { kind: 'Refused', by };
  return { kind: 'Survived', why: tests.length === 0 ? 'no test imports the file' : `${tests.length} test files` };
}

/** A mutant may take so much longer than its original, on a machine that others use, too. */
const SLOWER = 5;
const START_UP_MS = 30_000;
/** For the tests as they are, which must not be cut short. */
const BASELINE_LIMIT_MS = 1_800_000;

async function timeTests({ root, signal, print }: StudyOptions, tests: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (tests.length === 0) return new Map();
  const run = await runTests({ root, mutant: undefined, tests }, { limitMs: BASELINE_LIMIT_MS, signal });
  if (run.kind === 'TimedOut') throw new StudyError(`the tests take longer than ${BASELINE_LIMIT_MS / 60_000} minutes without any mutant`);
  if (run.kind === 'Failed') throw new StudyError(`a test fails without any mutant; mend it first: ${run.by}`);
  const totalMs = [...run.durationsMs.values()].reduce((sum, ms) => sum + ms, 0);
  print(`${tests.length} test files pass without a mutant, in ${Math.round(totalMs / 1000)} s`);
  return run.durationsMs;
}

function relatedTests(graph: ImportGraph, mutants: readonly Mutant[]): ReadonlyMap<string, readonly string[]> {
  // Those of e2e/ start programs, which read the files on disk.
  const isTest = (name: string): boolean => /^test\/(?!e2e\/).*\.test\.ts$/.test(name);
  return new Map([...new Set(mutants.map(({ file }) => file))].map((file) => [file, importersOf(graph, file, isTest)]));
}

const readSources = (root: string): ReadonlyMap<string, string> =>
  new Map(
    globSync('{shared,worker,manager,scripts,test}/**/*.ts', { cwd: root })
      .toSorted()
      .map((file) => [file, readFileSync(path.join(root, file), 'utf8')]),
  );
