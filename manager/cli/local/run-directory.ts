import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Says that a directory is ours to empty. */
const MARKER = '.switchyard-run';

/** Makes an empty directory for the run. Never empties one that somebody else has filled. */
export function prepareDirectory(directory: string): string {
  try {
    const marker = path.join(directory, MARKER);
    if (existsSync(directory) && readdirSync(directory).length > 0 && !existsSync(marker))
      throw new Error('it holds files of something else');
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true });
    writeFileSync(marker, '');
    return directory;
  } catch (error) {
    throw new Error(`--dir ${directory} cannot be used: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
