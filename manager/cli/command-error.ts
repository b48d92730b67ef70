import { ExitCode } from './exit-codes.ts';

/** A command cannot go on: what is wrong and what to do about it, in one line, and the exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = ExitCode.Failed, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
