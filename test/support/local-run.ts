import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '..', '..');

/** The quick start as a user runs it, in a child process with its output in a pipe. */
export class LocalRun implements AsyncDisposable {
  readonly directory = mkdtempSync(path.join(tmpdir(), 'switchyard-test-'));
  readonly #child: ChildProcess;
  #output = '';
  #watchers: (() => void)[] = [];
  readonly exitCode: Promise<number | null>;

  constructor(args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}) {
    const command = [path.join(ROOT, 'manager', 'cli', 'local.ts'), '--dir', path.join(this.directory, 'run'), ...args];
    this.#child = spawn(process.execPath, command, {
      cwd: ROOT,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
        for (const watcher of this.#watchers) watcher();
      });
    }
    this.exitCode = new Promise((resolve) => this.#child.once('close', (code) => resolve(code)));
  }

  get output(): string {
    return this.#output;
  }

  file(name: string): string {
    return path.join(this.directory, 'run', name);
  }

  /** Process IDs of Redis, manager and workers as they run now. */
  pids(): Record<string, number> {
    return JSON.parse(readFileSync(this.file('pids.json'), 'utf8')) as Record<string, number>;
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
    rmSync(this.directory, { recursive: true, force: true });
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
