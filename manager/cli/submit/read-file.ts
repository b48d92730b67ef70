import { readFileSync } from 'node:fs';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';

/** The text of a file; `-` is standard input. Throws {@link CommandError}. */
export function textOf(file: string): string {
  try {
    return readFileSync(file === '-' ? process.stdin.fd : file, 'utf8');
  } catch (error) {
    throw new CommandError(
      `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}; name a file that you may read`,
      ExitCode.Usage,
      { cause: error },
    );
  }
}
