import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { prepareDirectory } from '../../../../../manager/cli/local/run-directory.ts';

const MODULE = new URL('../../../../../manager/cli/local/run-directory.ts', import.meta.url);

function scratch(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-runs-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Prepares a directory in a process of its own, which then does what `then` says. */
async function elsewhere(
  wanted: string | undefined,
  runs: string,
  then: string,
): Promise<{ readonly directory: string; stop(): Promise<void> }> {
  const source = `
    import { prepareDirectory } from '${MODULE.href}';
    console.log(prepareDirectory(${JSON.stringify(wanted)}, ${JSON.stringify(runs)}));
    ${then}
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  if (then === DIES) await ended;
  return {
    directory: line.trim(),
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
const DIES = 'process.kill(process.pid, "SIGKILL");';
const LIVES = 'setInterval(() => undefined, 1000);';

describe('the directory of a run', () => {
  test('is the first number that no living run has', async () => {
    const runs = scratch();
    const other = await elsewhere(undefined, runs, LIVES);
    expect(other.directory).toBe(path.join(runs, '1'));
    expect(prepareDirectory(undefined, runs)).toBe(path.join(runs, '2'));
    await other.stop();
    expect(prepareDirectory(undefined, runs)).toBe(path.join(runs, '1'));
  });

  test('is empty, and what dead runs have left is gone; other things are not touched', async () => {
    const runs = scratch();
    for (const name of ['1', '2']) {
      const { directory } = await elsewhere(path.join(runs, name), runs, DIES);
      writeFileSync(path.join(directory, 'old.log'), 'old');
    }
    mkdirSync(path.join(runs, '3'));
    writeFileSync(path.join(runs, '3', 'mine'), 'kept');
    expect(prepareDirectory(undefined, runs)).toBe(path.join(runs, '1'));
    expect(readdirSync(path.join(runs, '1'))).toEqual(['.switchyard-run']);
    expect(existsSync(path.join(runs, '2'))).toBe(false);
    expect(readFileSync(path.join(runs, '3', 'mine'), 'utf8')).toBe('kept');
  });

  test('goes to one of several that want it at the same moment', async () => {
    const runs = scratch();
    await elsewhere(undefined, runs, DIES);
    const all = await Promise.all(Array.from({ length: 6 }, () => elsewhere(undefined, runs, LIVES)));
    onTestFinished(async () => void (await Promise.all(all.map(({ stop }) => stop()))));
    expect(new Set(all.map(({ directory }) => directory)).size).toBe(6);
  });

  test('of a run that died while it took the directory over can be had', () => {
    const wanted = path.join(scratch(), 'run');
    mkdirSync(wanted);
    // No process has such a number.
    writeFileSync(path.join(wanted, '.switchyard-run.999999999'), '');
    writeFileSync(path.join(wanted, 'old.log'), 'old');
    expect(prepareDirectory(wanted, 'unused')).toBe(wanted);
    expect(readdirSync(wanted)).toEqual(['.switchyard-run']);
  });

  test('of a process whose number came round again belongs to nobody', () => {
    const wanted = path.join(scratch(), 'run');
    mkdirSync(wanted);
    writeFileSync(path.join(wanted, '.switchyard-run'), JSON.stringify({ pid: process.pid, started: 'long ago' }));
    expect(prepareDirectory(wanted, 'unused')).toBe(wanted);
  });
});

describe('a directory that was asked for', () => {
  test('and holds something else is left alone', () => {
    const wanted = scratch();
    writeFileSync(path.join(wanted, 'mine'), 'kept');
    expect(() => prepareDirectory(wanted, 'unused')).toThrow(`--dir ${wanted} cannot be used: it holds files of something else`);
    expect(readdirSync(wanted)).toEqual(['mine']);
  });

  test('and is used by a living run is refused, naming its process', () => {
    const wanted = path.join(scratch(), 'run');
    prepareDirectory(wanted, 'unused');
    expect(() => prepareDirectory(wanted, 'unused')).toThrow(`--dir ${wanted} is used by the run of process ${process.pid}`);
  });
});
