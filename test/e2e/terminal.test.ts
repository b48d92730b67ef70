/** The quick start on a terminal of 80 columns and 24 rows, as tmux plays one. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';

const LIMIT_MS = 300_000;
const COLUMNS = 80;
const LOCAL = path.join(import.meta.dirname, '..', '..', 'manager', 'cli', 'local.ts');
const hasTmux = spawnSync('tmux', ['-V']).status === 0;

test.runIf(!hasTmux)('the quick start on a terminal', ({ skip }) => skip('no tmux on the PATH'));

describe.runIf(hasTmux)('the quick start on a terminal', () => {
  test('fits its width, says what it is doing and why nothing happens, and bears that Redis dies', { timeout: LIMIT_MS }, async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-terminal-'));
    const run = path.join(directory, 'run');
    const stream = path.join(directory, 'stream');
    const tmux = (...args: string[]): string =>
      spawnSync('tmux', ['-S', path.join(directory, 'socket'), '-f', '/dev/null', ...args], { encoding: 'utf8' }).stdout;
    onTestFinished(() => {
      tmux('kill-server');
      rmSync(directory, { recursive: true, force: true });
    });
    const painted = (): string => (existsSync(stream) ? readFileSync(stream, 'utf8') : '');
    const paints = (words: RegExp): Promise<void> => expect.poll(painted, { timeout: LIMIT_MS }).toMatch(words);

    // Starts only when everything it paints is recorded.
    const command = `read -r go; ${process.execPath} ${LOCAL} --dir ${run}; echo "exit status $?"; read -r go`;
    tmux('new-session', '-d', '-x', String(COLUMNS), '-y', '24', 'sh', '-c', command);
    tmux('pipe-pane', `cat >> ${stream}`);
    tmux('send-keys', 'Enter');
    // The last that goes through Redis: both submissions are in.
    await paints(/\nfailure-policy /);
    const { redis = 0 } = JSON.parse(readFileSync(path.join(run, 'pids.json'), 'utf8')) as { redis?: number };
    process.kill(redis, 'SIGKILL');
    await paints(/exit status \d/);

    const everything = stripVTControlCharacters(painted()).replaceAll('\r', '');
    expect(everything.split('\n').filter((line) => line.length >= COLUMNS)).toEqual([]);
    expect(everything).toMatch(/waiting for .*switchyard-manager/);
    expect(everything).toMatch(/\n {4}waits \d+ s for its next try\n/);
    expect(everything.match(/the submitter has lost Redis/g)).toHaveLength(1);
    expect(everything).not.toMatch(/node_modules|ECONNREFUSED|\n +at /);

    const screen = tmux('capture-pane', '-p', '-S', '-');
    expect(screen.match(/^JOB +CLUSTER +STATE +ACTIVE +SUCCEEDED +FAILED +AGE$/gm)).toHaveLength(1);
    expect(screen).toMatch(/^failure-policy +BullMQ +(east|west) +Failed +0 +1 .*\n {4}PodFailurePolicy$/m);
    expect(screen).toMatch(/^Every Job ended as expected, after .* in all\.$/m);
    expect(screen).toContain('exit status 0');
  });
});
