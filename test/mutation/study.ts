import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { seededRandom } from '../../shared/runtime/random.ts';
import { chooseMutants } from './choice.ts';
import type { Equivalent } from './equivalents.ts';
import { importersOf, importGraph, type ImportGraph } from './import-graph.ts';
import { judge, StudyError, testsOfFile, type JudgeOptions, type TestsOfFile, type Verdict } from './judge.ts';
import { changeOf, isProgram, mutantsOf, type Mutant } from './mutants.ts';
import { runTests } from './run-tests.ts';

export type StudyOptions = JudgeOptions & {
  /** Patterns of the files to break. */
  readonly files: readonly string[];
  /** Only mutants of this line. */
  readonly line: number | undefined;
  readonly count: number;
  readonly seed: number;
  /** Mutants tried at once. */
  readonly parallel: number;
  readonly equivalents: readonly Equivalent[];
  readonly print: (line: string) => void;
};

export type Result = { readonly mutant: Mutant; readonly change: string; readonly verdict: Verdict };

/**
 * 1. Find the ways to break the files, and choose some of them by the seed.
 * 2. Run the tests near these files as they are, and the compiler: all must pass, and each test says how long it takes.
 * 3. Judge one mutant after the other.
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
  const mutants = chooseMutants(possible, count, seededRandom(seed), (mutant) => isProgram(textOf(mutant.file), mutant));
  print(`${mutants.length} of ${possible.length} mutants in ${broken.length} files, seed ${seed}`);
  // 2.
  const related = relatedTests(importGraph(sources), mutants);
  const durations = await timeTests(options, [...new Set([...related.values()].flatMap(({ near }) => near))]);
  if (!options.checks.takesOriginal()) throw new StudyError('the compiler refuses the project without any mutant; mend it first');
  // 3.
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
      const tests = related.get(mutant.file) ?? { near: [], far: [] };
      const usualMs = tests.near.reduce((sum, test) => sum + (durations.get(test) ?? 0), 0);
      const verdict: Verdict =
        known === undefined ? await judge(options, mutant, text, tests, usualMs) : { kind: 'Equivalent', why: known.why };
      results.push({ mutant, change, verdict });
      print(`${String(position + 1).padStart(4)} ${formatResult({ mutant, change, verdict })}`);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  signal.throwIfAborted();
  return results;
}

export const formatResult = ({ mutant, change, verdict }: Result): string =>
  `${verdict.kind.padEnd(10)} ${mutant.file}:${mutant.line}  ${change}${'why' in verdict ? `  (${verdict.why})` : ''}${'by' in verdict ? `  (${verdict.by})` : ''}`;

const lineOf = (text: string, { line }: Mutant): string => text.split('\n')[line - 1]?.trim() ?? '';

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

function relatedTests(graph: ImportGraph, mutants: readonly Mutant[]): ReadonlyMap<string, TestsOfFile> {
  const isTest = (name: string): boolean => /^test\/.*\.test\.ts$/.test(name);
  const files = new Set(mutants.map(({ file }) => file));
  return new Map([...files].map((file) => [file, testsOfFile(file, importersOf(graph, file, isTest))]));
}

const readSources = (root: string): ReadonlyMap<string, string> =>
  new Map(
    globSync('{shared,worker,manager,scripts,test}/**/*.ts', { cwd: root })
      .toSorted()
      .map((file) => [file, readFileSync(path.join(root, file), 'utf8')]),
  );
