import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { runSwitchyard } from '../../../../manager/cli/switchyard.ts';
import { switchyardHere } from '../../../support/switchyard-here.ts';

test.each([
  [['--version'], 0, /^\d+\.\d+\.\d+\n$/, /^$/],
  [['completion', 'bash'], 0, /complete/, /^$/],
  // Nothing was done, so that it is no success.
  [[], 2, /^$/, /^Usage: switchyard /],
  [['queues', '-A'], 2, /^$/, /^switchyard queues: unknown option "-A"; switchyard queues --help lists what there is\n$/],
  [['clusters', 'join', 'east', '--nme', 'west'], 2, /^$/, /^switchyard clusters join: unknown option "--nme"; did you mean --name\?\n$/],
  [['explan'], 2, /^$/, /^switchyard: unknown command "explan"; did you mean explain\?\n$/],
  [['get', 'jobs', '-o', 'poem'], 2, /^$/, /^switchyard get: --output: "poem" is unknown; choose from table, /],
  [['import', 'kueue', '/none.yaml'], 1, /^$/, /\/none\.yaml cannot be read: ENOENT/],
] as const)('%j ends with exit code %i, and says so on one stream', async (args, code, stdout, stderr) => {
  expect(await switchyardHere(args)).toEqual({
    code,
    stdout: expect.stringMatching(stdout) as string,
    stderr: expect.stringMatching(stderr) as string,
  });
});

test('is called what the user has called it', async () => {
  let said = '';
  const output = { isTerminal: false, width: 80, colours: false, write: async (text: string) => void (said += text) };
  const session = {
    output,
    errors: output,
    input: Readable.from([]),
    environment: {},
    signal: new AbortController().signal,
    now: () => 0,
  };
  expect(await runSwitchyard(['--bogus'], 'kubectl switchyard', session)).toBe(2);
  expect(said).toBe('kubectl switchyard: unknown option "--bogus"; kubectl switchyard --help lists what there is\n');
});

test('loads for its help no more than it prints: neither clients, tables nor parsers of YAML', () => {
  const hook = `import { registerHooks } from 'node:module';
    const packages = new Set();
    registerHooks({ load(url, context, next) { const name = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1]; if (name) packages.add(name); return next(url, context); } });
    process.on('exit', () => process.stderr.write(JSON.stringify([...packages])));`;
  const main = path.join(import.meta.dirname, '../../../../manager/cli/main.ts');
  const { stdout, stderr } = spawnSync(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, main, '--help'], {
    encoding: 'utf8',
  });
  expect(stdout).toMatch(/^Usage: switchyard /);
  expect(JSON.parse(stderr)).toEqual(['commander']);
});
