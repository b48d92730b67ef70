import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Mutant } from './mutants.ts';

/** What the tests' process is to do. */
export type RunOrder = {
  readonly root: string;
  readonly mutant: Mutant | undefined;
  /** Test files, from the root, in this order. */
  readonly tests: readonly string[];
  /** Made when the mutant's file has been loaded. */
  readonly loadedFile: string;
};

export type TestRun =
  /** `loaded`: the mutant's file took part. Durations by test file, in milliseconds. */
  | { readonly kind: 'Passed'; readonly loaded: boolean; readonly durationsMs: ReadonlyMap<string, number> }
  /** `by` is the first test that failed; no `file`: the error is outside of any test. `late`: it failed because it took too long. */
  | { readonly kind: 'Failed'; readonly by: string; readonly file: string | undefined; readonly late: boolean }
  | { readonly kind: 'TimedOut' };

/** The parts of vitest's JSON report that we read. */
type Report = {
  readonly success: boolean;
  readonly numTotalTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly status: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
};

const CONFIG = fileURLToPath(new URL('vitest.config.ts', import.meta.url));
const VITEST = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));

/**
 * Runs tests, with a mutant in place of its file, in a process group of its own that is killed when `limitMs` is over or `signal` aborts.
 * Throws when the tests could not be run.
 */
export async function runTests(
  order: Omit<RunOrder, 'loadedFile'>,
  { limitMs, signal }: { readonly limitMs: number; readonly signal: AbortSignal },
): Promise<TestRun> {
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-mutant-'));
  const [orderFile, reportFile, loadedFile] = ['order.json', 'report.json', 'loaded'].map((name) => path.join(directory, name)) as [
    string,
    string,
    string,
  ];
  try {
    writeFileSync(orderFile, JSON.stringify({ ...order, loadedFile } satisfies RunOrder));
    const args = [VITEST, 'run', '--config', CONFIG, '--root', order.root, '--reporter=json', `--outputFile=${reportFile}`];
    const { timedOut, output } = await runGroup([...args, ...order.tests], { cwd: order.root, orderFile, limitMs, signal });
    signal.throwIfAborted();
    if (timedOut) return { kind: 'TimedOut' };
    if (!existsSync(reportFile)) throw new Error(`the tests could not be run:\n${output}`);
    return runOf(JSON.parse(readFileSync(reportFile, 'utf8')) as Report, order.root, existsSync(loadedFile));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function runOf({ success, testResults }: Report, root: string, loaded: boolean): TestRun {
  if (success) {
    const durations = testResults.map(({ name, startTime, endTime }) => [path.relative(root, name), endTime - startTime] as const);
    return { kind: 'Passed', loaded, durationsMs: new Map(durations) };
  }
  const failed = testResults.find(({ status }) => status === 'failed');
  if (failed === undefined) return { kind: 'Failed', by: 'an error outside of any test', file: undefined, late: false };
  const test = failed.assertionResults.find(({ status }) => status === 'failed');
  const file = path.relative(root, failed.name);
  const late = test?.failureMessages?.some((message) => / timed out in \d+ms/.test(message)) ?? false;
  return { kind: 'Failed', by: `${file}: ${test?.fullName ?? 'outside of its tests'}`, file, late };
}

type Group = { readonly cwd: string; readonly orderFile: string; readonly limitMs: number; readonly signal: AbortSignal };

function runGroup(args: readonly string[], { cwd, orderFile, limitMs, signal }: Group): Promise<{ timedOut: boolean; output: string }> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, SWITCHYARD_MUTANT_RUN: orderFile };
    const child = spawn(process.execPath, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    let timedOut = false;
    const kill = (): void => {
      // The group's leader may have ended by itself just now.
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    };
    const timer = setTimeout(() => {
      timedOut = true;
      kill();
    }, limitMs);
    signal.addEventListener('abort', kill, { once: true });
    child.on('error', reject);
    child.on('close', () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', kill);
      resolve({ timedOut, output });
    });
  });
}
