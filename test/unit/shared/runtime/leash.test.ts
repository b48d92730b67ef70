import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { signalGroup, spawnLeashed } from '../../../../shared/runtime/leash.ts';

const LIMIT_MS = 30_000;
const LEASH_MODULE = new URL('../../../../shared/runtime/leash.ts', import.meta.url);
const SCRIPT = new URL('../../../../shared/runtime/leash.sh', import.meta.url).pathname;

const isAlive = (groupId: number): boolean => signalGroup(groupId, 0 as never);
const gone = (groupId: number): Promise<void> => expect.poll(() => isAlive(groupId), { timeout: LIMIT_MS }).toBe(false);

/** What a program prints that starts commands, until it is killed without warning. */
async function outputOfKilled(body: string): Promise<string> {
  const source = `
    import { openSync } from 'node:fs';
    import { spawnLeashed } from '${LEASH_MODULE.href}';
    const start = (script) => spawnLeashed(['sh', '-c', script], { env: process.env, output: openSync('/dev/null', 'a') });
    ${body}
  `;
  const program = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  program.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  await once(program, 'close');
  return output;
}

function scratch(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-leash-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

describe('a command on a leash', () => {
  test('ends with all it has started when the starter is killed, even in the moment of the start', { timeout: LIMIT_MS }, async () => {
    const output = await outputOfKilled(`
      const groups = [1, 2, 3].map(() => start('sleep 600 & trap "" TERM HUP INT; sleep 600; sleep 600').pid);
      console.log(groups.join(' '));
      process.kill(process.pid, 'SIGKILL');
    `);
    const groups = output.trim().split(' ').map(Number);
    expect(groups).toHaveLength(3);
    await Promise.all(groups.map(gone));
  });

  test('leaves nothing behind when it ends by itself, and its exit code comes back', { timeout: LIMIT_MS }, async () => {
    const child = spawnLeashed(['sh', '-c', 'exit 7'], { env: process.env, output: openSync('/dev/null', 'a') });
    expect(await once(child, 'exit')).toEqual([7, null]);
    await gone(child.pid ?? 0);
  });

  test('has no children but its own, and no descriptor of ours', { timeout: LIMIT_MS }, async () => {
    const file = path.join(scratch(), 'output');
    // A program that waits for every child it has, as small init programs do.
    const source = 'import os; print(sorted(int(n) for n in os.listdir("/proc/self/fd"))[:4]); print(os.waitpid(-1, os.WNOHANG))';
    const python = spawnSync('python3', ['--version']).status === 0;
    const script = python ? `exec python3 -c '${source}'` : 'exit 0';
    const child = spawnLeashed(['sh', '-c', script], { env: process.env, output: openSync(file, 'a') });
    expect(await once(child, 'exit')).toEqual([python ? 1 : 0, null]);
    if (python) expect(readFileSync(file, 'utf8')).toMatch(/^\[0, 1, 2, 3\]\n[^]*ChildProcessError/);
  });

  test('that is killed by somebody else leaves nothing behind either', { timeout: LIMIT_MS }, async () => {
    const child = spawnLeashed(['sleep', '600'], { env: process.env, output: openSync('/dev/null', 'a') });
    process.kill(child.pid ?? 0, 'SIGKILL');
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
    await gone(child.pid ?? 0);
  });

  test('a program that is missing, or may not be executed, is named', () => {
    const output = openSync('/dev/null', 'a');
    const start = (program: string) => () => spawnLeashed([program], { env: { PATH: '/usr/bin:/bin' }, output });
    expect(start('no-such-program')).toThrow('there is no program no-such-program (ENOENT)');
    const file = path.join(scratch(), 'data');
    writeFileSync(file, '', { mode: 0o600 });
    expect(start(file)).toThrow(`${file} may not be executed (EACCES)`);
  });
});

test('with a signal for the process alone, the command may end in its own way', { timeout: LIMIT_MS }, async () => {
  const file = path.join(scratch(), 'output');
  const source = `
    import { spawn } from 'node:child_process';
    const child = spawn('/bin/sh', ['${SCRIPT}', 'TERM', 'process', 'sh', '-c', 'trap "echo in order > ${file}; exit" TERM; echo ready; while :; do sleep 0.05; done'],
      { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] });
    child.stdout.once('data', () => process.kill(process.pid, 'SIGKILL'));
  `;
  await once(spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: 'inherit' }), 'exit');
  await expect.poll(() => readFileSync(file, { encoding: 'utf8', flag: 'a+' }), { timeout: LIMIT_MS }).toBe('in order\n');
});
