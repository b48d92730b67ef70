import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** How long a program may take to end after SIGTERM before it is killed. */
const STOP_WITHIN_MS = 20_000;
/** Lines kept to explain why a program has ended. */
const LINES_KEPT = 30;

/** A program in a process of its own, known by what it prints. It does not outlive this process. */
export class ChildProgram implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #name: string;
  readonly #lines: string[] = [];
  readonly #listeners = new Set<(line: string) => void>();
  readonly #ended: Promise<unknown>;

  /** Without `inherit` it has no other variables than these. */
  constructor(
    name: string,
    command: readonly [string, ...string[]],
    environment: Readonly<Record<string, string>> = {},
    { inherit = true }: { readonly inherit?: boolean } = {},
  ) {
    this.#name = name;
    const [file, ...args] = command;
    this.#child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...(inherit ? process.env : {}), ...environment } });
    // A program that cannot be started ends, too: with 'error' in place of 'exit'.
    this.#ended = once(this.#child, 'exit').catch((error: unknown) => this.#hear(String(error)));
    const kill = (): void => void this.#child.kill('SIGKILL');
    process.once('exit', kill);
    void this.#ended.then(() => process.off('exit', kill));
    for (const input of [this.#child.stdout, this.#child.stderr]) {
      if (input !== null) createInterface({ input }).on('line', (line) => this.#hear(line));
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Calls `listener` with every line from now on. */
  onLine(listener: (line: string) => void): void {
    this.#listeners.add(listener);
  }

  /** The first line, already printed or to come, from which `read` makes something. Throws when the program ends before. */
  async find<T>(read: (line: string) => T | undefined): Promise<T> {
    const found = Promise.withResolvers<T>();
    const look = (line: string): void => {
      const value = read(line);
      if (value !== undefined) found.resolve(value);
    };
    this.#listeners.add(look);
    for (const line of this.#lines) look(line);
    try {
      return await Promise.race([found.promise, this.failsWhenEnded()]);
    } finally {
      this.#listeners.delete(look);
    }
  }

  /** Never resolves; rejects when the program has ended. */
  async failsWhenEnded(): Promise<never> {
    await this.#ended;
    throw new Error(`${this.#name} has ended (${this.#child.exitCode ?? this.#child.signalCode}):\n${this.#lines.join('\n')}`);
  }

  /** However it ends. */
  async whenEnded(): Promise<void> {
    await this.#ended;
  }

  hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** It does nothing from now on, as on a machine that is paused. Its connections stay open, and programs that it has started go on. */
  pause(): void {
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    this.#child.kill('SIGCONT');
  }

  /** As the end of its machine, or of its memory. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async stop(): Promise<void> {
    if (!this.hasEnded()) this.#child.kill('SIGTERM');
    this.resume();
    const killing = setTimeout(() => this.#child.kill('SIGKILL'), STOP_WITHIN_MS);
    await this.#ended;
    clearTimeout(killing);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #hear(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > LINES_KEPT) this.#lines.shift();
    for (const listener of this.#listeners) listener(line);
  }
}
