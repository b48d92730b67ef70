import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { realControlPlaneAssets } from './real-control-plane.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
const LOCAL = path.join(ROOT, 'manager', 'cli', 'local.ts');

export type LocalRunOptions = {
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Default: a directory of its own, given as --dir. */
  readonly directory?: string;
  /** Default: `node manager/cli/local.ts`. */
  readonly command?: readonly [string, ...string[]];
  readonly cwd?: string;
};

/** The quick start as a user runs it, with KUBEBUILDER_ASSETS on real control planes, in a child process with its output in a pipe. */
export class LocalRun implements AsyncDisposable {
  readonly #scratch = mkdtempSync(path.join(tmpdir(), 'switchyard-test-'));
  readonly directory: string;
  readonly #child: ChildProcess;
  #output = '';
  #watchers: (() => void)[] = [];
  readonly exitCode: Promise<number | null>;

  constructor(options: LocalRunOptions = {}) {
    const { args = [], environment, directory, command = [process.execPath, LOCAL], cwd = ROOT } = options;
    this.directory = directory ?? path.join(this.#scratch, 'run');
    const [program, ...fixed] = command;
    const assets = realControlPlaneAssets();
    this.#child = spawn(
      program,
      [
        ...fixed,
        ...(directory === undefined ? ['--dir', this.directory] : []),
        ...(assets === undefined ? [] : ['--assets', assets]),
        ...args,
      ],
      {
        cwd,
        env: { ...process.env, ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
        for (const watcher of this.#watchers) watcher();
      });
    }
    this.exitCode = new Promise((resolve) => this.#child.once('close', (code) => resolve(code)));
  }

  /** Of the process that was started; those that it has started in turn have others. */
  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error('the run was not started');
    return pid;
  }

  get output(): string {
    return this.#output;
  }

  file(name: string): string {
    return path.join(this.directory, name);
  }

  /** Process IDs of Redis, manager and workers as they run now. */
  pids(): Record<string, number> {
    return JSON.parse(readFileSync(this.file('pids.json'), 'utf8')) as Record<string, number>;
  }

  /** Kills the present incarnation of a program without warning; waits for it while it is being started again. */
  async kill(name: string): Promise<void> {
    for (;;) {
      const pid = this.pids()[name];
      if (pid === undefined) throw new Error(`no process of ${name} in ${JSON.stringify(this.pids())}`);
      if (isAlive(pid)) return void process.kill(pid, 'SIGKILL');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Waits for a line; fails with everything printed so far when the process ends before. */
  async waitFor(pattern: RegExp): Promise<void> {
    const seen = new Promise<void>((resolve) => {
      const look = (): void => {
        if (pattern.test(this.#output)) resolve();
      };
      this.#watchers.push(look);
      look();
    });
    const ended = this.exitCode.then((code) => {
      if (!pattern.test(this.#output)) throw new Error(`ended with ${code} and never printed ${pattern}:\n${this.#output}`);
    });
    await Promise.race([seen, ended]);
  }

  interrupt(): void {
    this.#child.kill('SIGINT');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.exitCode;
    rmSync(this.#scratch, { recursive: true, force: true });
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // ESRCH: there is no such process
  }
}
