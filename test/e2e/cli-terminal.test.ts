/**
 * Goal: at a terminal of 80 columns commands ask before they do much, colour what says how something is, and fit; in a pipe they do none of
 * that. Played by script(1).
 */
import { spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { writeFileSync } from 'node:fs';
import { QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { NAMESPACE } from '../scenario/whole-world.ts';
import { createCliWorld, type CliWorld } from './cli-world.ts';

const LIMIT_MS = 300_000;
const COLUMNS = 80;
const MAIN = path.join(import.meta.dirname, '..', '..', 'manager', 'cli', 'main.ts');
/** That of util-linux: others take their command in another way. */
const hasScript =
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true &&
  spawnSync('stty', ['--version']).status === 0;

const jobOf = (name: string): object => {
  const containers = [{ name: 'main', image: 'busybox', command: ['true'] }];
  const metadata = { name, namespace: NAMESPACE, labels: { [QUEUE_NAME_LABEL]: 'main' } };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { template: { spec: { restartPolicy: 'Never', containers } } } };
};

test.runIf(!hasScript)('commands at a terminal', ({ skip }) => skip('no script of util-linux, or no stty, on the PATH'));

describe.runIf(hasScript)('at a terminal', { timeout: LIMIT_MS }, () => {
  let cli: CliWorld;
  beforeAll(async () => {
    cli = await createCliWorld();
  }, LIMIT_MS);
  afterAll(() => cli.close(), LIMIT_MS);

  /** What the terminal was given; `answer` is typed once the question is there. */
  async function session(
    line: string,
    {
      question,
      answer,
      environment = {},
    }: { readonly question?: RegExp; readonly answer?: string; readonly environment?: Readonly<Record<string, string>> } = {},
  ) {
    const command = `stty cols ${COLUMNS} rows 24; exec ${process.execPath} ${MAIN} ${line}`;
    const { NO_COLOR: _none, FORCE_COLOR: _neither, CI: _nor, ...inherited } = process.env;
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { ...inherited, TERM: 'xterm-256color', SHELL: '/bin/sh', KUBECONFIG: cli.kubeconfig, ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let painted = '';
    let asked = question === undefined;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      painted += text;
      if (asked || question?.test(painted) !== true) return;
      asked = true;
      child.stdin.write(`${answer ?? ''}\n`);
    });
    let code: number | null | undefined;
    child.once('close', (status) => (code = status));
    await cli.until(() => code !== undefined);
    return { code, painted, lines: stripVTControlCharacters(painted).replaceAll('\r', '').split('\n') };
  }

  test('states are coloured, unless NO_COLOR says otherwise, and nothing is wider than the terminal', async () => {
    await cli.world.submit(`long-${'name-'.repeat(7)}end`, { seconds: 100_000 });
    await cli.until(async () => (await cli.run(['get', 'jobs', '-A'])).stdout.includes('Running'));
    const coloured = await session('get jobs -A');
    expect(coloured.code).toBe(0);
    expect(coloured.painted).toContain('\u001b[36mRunning\u001b[39m');
    expect(coloured.lines.filter((line) => line.length > COLUMNS)).toEqual([]);
    expect(coloured.lines[0]).toMatch(/^NAMESPACE +NAME .*CLUSTER +STATE/);
    expect((await session('get jobs -A', { environment: { NO_COLOR: '1' } })).painted).not.toContain('\u001b');
    expect((await cli.run(['get', 'jobs', '-A'])).stdout).not.toContain('\u001b');
    for (const line of ['--help', 'clusters join --help', 'doctor', 'queues', 'top'])
      expect(
        (await session(line)).lines.filter((each) => each.length > COLUMNS),
        line,
      ).toEqual([]);
  });

  test('how far several Jobs are that are waited for is shown in a line that is rewritten, and is gone at the end', async () => {
    const jobs = ['first', 'second'].map((name) => stringify(jobOf(name)));
    const file = path.join(cli.folder, 'two.yaml');
    writeFileSync(file, jobs.join('---\n'));
    const { code, painted } = await session(`submit ${file} --wait`);
    expect(code).toBe(0);
    const eraseLine = '\r\u001b[K';
    const bars = painted.split(eraseLine).slice(1);
    expect(bars[0]).toMatch(/^\[[=> ]{24}\] 1\/2 looked at/);
    expect(bars.filter((bar) => /^\[[=> ]{24}\] [01]\/2 \d run, \d wait/.test(bar))).not.toEqual([]);
    expect(painted.endsWith(eraseLine)).toBe(true);
    const piped = await cli.run(['submit', file, '--wait', '-n', NAMESPACE, '--dry-run']);
    expect(piped.stderr).not.toContain('\u001b');
  });

  test('several Jobs are cancelled only after a yes', async () => {
    for (const name of ['a', 'b']) await cli.world.submit(name, { seconds: 100_000 });
    const question = /Cancel 2 Jobs \(team\/a, team\/b\)\? \[y\/N\] $/;
    const no = await session(`cancel a b -n ${NAMESPACE}`, { question, answer: 'n' });
    expect({ code: no.code, said: no.lines.join('\n') }).toEqual({ code: 1, said: expect.stringContaining('Nothing was done.') });
    expect((await cli.run(['get', 'jobs', 'a', 'b', '-n', NAMESPACE, '-o', 'name'])).stdout).toBe('job.batch/a\njob.batch/b\n');
    const yes = await session(`cancel a b -n ${NAMESPACE}`, { question, answer: 'y' });
    expect({ code: yes.code, said: yes.lines.join('\n') }).toEqual({ code: 0, said: expect.stringContaining('team/b cancelled') });
  });
});
