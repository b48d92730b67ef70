import { spawn, type ChildProcess } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import type { Duplex } from 'node:stream';

export type LeashedOptions = {
  readonly cwd?: string;
  /** Its PATH is where the program is looked for. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** File descriptor of the standard output and error. */
  readonly output: number;
};

/**
 * Starts a command in a process group of its own that is killed when this process ends, however it ends. Throws when there is no such
 * program.
 */
export function spawnLeashed(command: readonly [string, ...string[]], { cwd, env, output }: LeashedOptions): ChildProcess {
  const [program, ...args] = command;
  const file = findProgram(program, env['PATH'] ?? '', cwd);
  const child = spawn('/bin/sh', [SCRIPT, 'KILL', 'group', file, ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env,
    // In a session of its own: a Ctrl-C meant for this process reaches the command by this process alone.
    detached: true,
    stdio: ['ignore', output, output, 'pipe'],
  });
  // As asked for in `stdio`; a pipe of Node's goes both ways.
  const leash = child.stdio[3] as Duplex & { unref(): void };
  // Only what watches reads from it. When that is gone, the command is, too, and there is nothing to release.
  leash.on('error', () => leash.destroy());
  leash.unref();
  child.once('exit', () => leash.end('\n'));
  return child;
}

const SCRIPT = path.join(import.meta.dirname, 'leash.sh');

/** Signals a whole process group. False when there is none left. */
export function signalGroup(groupId: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-groupId, signal);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}

/** As execvp looks for it: a name without a slash in the search path, any other in the working directory. */
function findProgram(program: string, searched: string, cwd = process.cwd()): string {
  const candidates = program.includes('/')
    ? [path.resolve(cwd, program)]
    : searched.split(path.delimiter).map((directory) => path.resolve(cwd, directory, program));
  const problems = candidates.map((file) => problemOf(file));
  const found = candidates[problems.indexOf(undefined)];
  if (found !== undefined) return found;
  throw new Error(problems.includes('EACCES') ? `${program} may not be executed (EACCES)` : `there is no program ${program} (ENOENT)`);
}

function problemOf(file: string): string | undefined {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile() ? undefined : 'EACCES';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'ENOENT';
  }
}
