import { spawnSync } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, rmSync, unlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';

/** One pipe: a process writes to `input` as long as it likes, `output` is what it wrote. */
export type OutputPipe = {
  /** For the child process; closed by {@link OutputPipe.started}. */
  readonly input: number;
  readonly output: Socket;
  /** The child has its own descriptor now, or never will: from now on the output ends when the child does. */
  started(): void;
};

/** Making one costs a process, so they are made by the dozen. */
const BATCH = 32;

/**
 * Pipes of the operating system. Those that Node makes for its children are sockets, on which a script's `echo oops > /dev/stderr` fails; a
 * real container has a pipe there. `directory` is theirs alone, and holds only those that are not in use yet.
 */
export class OutputPipes {
  readonly #directory: string;
  #made = 0;
  #spare: string[] = [];

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Throws when the operating system has none. */
  open(): OutputPipe {
    if (this.#spare.length === 0) this.#make();
    const path = this.#spare.pop();
    if (path === undefined) throw new Error('no pipe was made');
    // In this order: without a reader, opening for writing would wait.
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const input = openSync(path, constants.O_WRONLY);
    unlinkSync(path);
    let held = true;
    const started = (): void => {
      if (held) closeSync(input);
      held = false;
    };
    return { input, output: new Socket({ fd: reader, readable: true, writable: false }), started };
  }

  close(): void {
    rmSync(this.#directory, { recursive: true, force: true });
    this.#spare = [];
  }

  #make(): void {
    // What an earlier program left there is in nobody's way, unless it has the same name.
    if (this.#made === 0) rmSync(this.#directory, { recursive: true, force: true });
    mkdirSync(this.#directory, { recursive: true });
    const paths = Array.from({ length: BATCH }, () => join(this.#directory, String(this.#made++)));
    const { status, error, stderr } = spawnSync('mkfifo', ['-m', '600', ...paths], { encoding: 'utf8' });
    if (error !== undefined) throw new Error(`no pipes for the output of containers: mkfifo: ${error.message}`);
    if (status !== 0) throw new Error(`no pipes for the output of containers: ${stderr.trim()}`);
    this.#spare = paths;
  }
}
