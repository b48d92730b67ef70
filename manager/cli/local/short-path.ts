import path from 'node:path';

/** A path as the user may write it: from the working directory, where it is below that. */
export function shortPath(file: string): string {
  const relative = path.relative(process.cwd(), file);
  return relative.startsWith('..') ? file : relative;
}
