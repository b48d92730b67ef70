/** Every program as a user types it: what cannot be read is refused in one line, and nothing that was not done is called a success. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = path.join(import.meta.dirname, '..', '..');
const LIMIT_MS = 120_000;

type Outcome = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

function run(commandLine: string, environment: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  const child = spawn(process.execPath, commandLine.split(' '), {
    cwd: ROOT,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  return new Promise((resolve, reject) => child.once('close', (code) => resolve({ code, ...output })).once('error', reject));
}

describe('every program', () => {
  test.each([
    ['manager/cli/local.ts', 'npm start'],
    ['manager/main.ts', 'switchyard-manager'],
    ['manager/certificates.ts', 'switchyard-certificates'],
    ['worker/main.ts', 'switchyard-worker'],
    ['manager/cli/import-kueue.ts', 'import-kueue'],
    ['shared/controlplane/main.ts', 'switchyard-control-plane'],
    ['test/simulation/main.ts', 'simulate'],
    ['test/bench/main.ts control-plane', 'bench'],
  ])('refuses a flag that it does not have: %s', { timeout: LIMIT_MS }, async (program, name) => {
    expect(await run(`${program} --bogus=1`)).toEqual({
      code: 2,
      stdout: '',
      stderr: `${name}: --bogus is no flag of this program; --help lists the flags\n`,
    });
  });

  test.each(['manager/cli/local.ts', 'manager/cli/import-kueue.ts', 'test/simulation/main.ts', 'test/bench/main.ts'])(
    'tells with --help what it takes: %s',
    { timeout: LIMIT_MS },
    async (program) => {
      const { code, stdout, stderr } = await run(`${program} --help`);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^Usage: npm .*\n\n[^]*\n {2}\S+/);
    },
  );
});

describe('nothing done is no success:', () => {
  test.each([
    ['test/simulation/main.ts --seed abc', 'simulate: --seed: "abc" cannot be used; write a whole number from 0 to 4294967295'],
    ['test/simulation/main.ts --seeds x', 'simulate: --seeds: "x" cannot be used; write a whole number from 1 to 4294967296'],
    [
      'test/bench/main.ts',
      'bench: no suite is named; write npm run bench -- SUITE with one of job-controller, dispatch, restart, hostile-cluster, dark-cluster, flapping-clusters, many-clusters, admission, packing, intake, control-plane, memory, scrape, dashboard, invariants, start-up',
    ],
    [
      'test/bench/main.ts constructor',
      'bench: there is no suite "constructor"; write npm run bench -- SUITE with one of job-controller, dispatch, restart, hostile-cluster, dark-cluster, flapping-clusters, many-clusters, admission, packing, intake, control-plane, memory, scrape, dashboard, invariants, start-up',
    ],
    ['test/bench/main.ts control-plane --writes 0', 'bench: --writes: "0" cannot be used; write a whole number of at least 1'],
    [
      'manager/cli/local.ts --port-base 80',
      'npm start: --port-base: of the ports 80 to 88, browsers and fetch refuse to connect to 87; choose another, such as 18080',
    ],
  ])('%s', { timeout: LIMIT_MS }, async (commandLine, complaint) => {
    expect(await run(commandLine)).toEqual({ code: 2, stdout: '', stderr: `${complaint}\n` });
  });

  test('a variable that stands for a flag', { timeout: LIMIT_MS }, async () => {
    expect(await run('test/simulation/main.ts', { SWITCHYARD_SEED: 'abc' })).toEqual({
      code: 2,
      stdout: '',
      stderr: 'simulate: --seed (from SWITCHYARD_SEED): "abc" cannot be used; write a whole number from 0 to 4294967295\n',
    });
  });

  test('a program that the launcher does not know', { timeout: LIMIT_MS }, async () => {
    const { code, stderr } = await run('scripts/run.mjs strat');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^run: there is no program "strat"; write node scripts\/run\.mjs PROGRAM with one of start, test, .*\n$/);
  });
});
