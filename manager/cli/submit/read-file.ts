import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
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

/** The manifests of a directory, by name, or the file itself. Throws {@link CommandError} for a directory without any. */
export function filesOf(file: string): string[] {
  if (file === '-' || !statSync(file, { throwIfNoEntry: false })?.isDirectory()) return [file];
  const files = readdirSync(file)
    .filter((name) => /\.(ya?ml|json)$/.test(name))
    .toSorted();
  if (files.length === 0) throw new CommandError(`${file}: there is no .yaml, .yml or .json in this directory`, ExitCode.Usage);
  return files.map((name) => path.join(file, name));
}
