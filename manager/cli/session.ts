import type { Readable } from 'node:stream';

/** Where a command's text goes. */
export interface Output {
  /** Resolves when it has been taken: the process may end right after, and a pipe takes only so much at once. */
  write(text: string): Promise<void>;
  readonly isTerminal: boolean;
  /** Columns; infinite where nothing is to be wrapped or cut. */
  readonly width: number;
  /** Whether words may be coloured. */
  readonly colours: boolean;
}

/** All that a command may see of the process that it runs in. */
export type Session = {
  readonly output: Output;
  readonly errors: Output;
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted when whoever called it does not want to wait any more (Ctrl-C). */
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  readonly now: () => number;
};
