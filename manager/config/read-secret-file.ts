import { closeSync, openSync, readSync } from 'node:fs';
import { FlagError } from '../../shared/runtime/flags.ts';

/** The text of the file that a flag names. Throws a {@link FlagError}, which quotes nothing of it. */
export function readSecretFile(flag: string, file: string, bytesMax: number): string {
  let text: string | undefined;
  try {
    text = readAtMost(file, bytesMax);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new FlagError(`${flag}: ${JSON.stringify(file)} cannot be read (${code}); name a file that is there and readable`, {
      cause: error,
    });
  }
  if (text !== undefined) return text;
  throw new FlagError(`${flag}: ${JSON.stringify(file)} holds more than ${bytesMax / 1024} KiB; name the file that holds this alone`);
}

/** The one line in such a file, without white space around it. `remedy` says what to write into it. */
export function readSecretLine(flag: string, file: string, remedy: string): string {
  const line = readSecretText(flag, file, remedy);
  if (/[\r\n]/.test(line)) throw new FlagError(`${flag}: ${JSON.stringify(file)} holds more than one line; ${remedy}`);
  return line;
}

/** The one word in such a file, without white space around it. `remedy` as above. */
export function readSecretWord(flag: string, file: string, remedy: string): string {
  const word = readSecretText(flag, file, remedy);
  if (/\s/.test(word)) throw new FlagError(`${flag}: ${JSON.stringify(file)} holds more than one word; ${remedy}`);
  return word;
}

function readSecretText(flag: string, file: string, remedy: string): string {
  const text = readSecretFile(flag, file, WORD_BYTES_MAX).trim();
  if (text === '') throw new FlagError(`${flag}: ${JSON.stringify(file)} is empty; ${remedy}`);
  return text;
}

const WORD_BYTES_MAX = 8 * 1024;

/** undefined: there is more. A device or a pipe has no size that could be asked for before. */
function readAtMost(file: string, bytesMax: number): string | undefined {
  const bytes = Buffer.alloc(bytesMax + 1);
  const descriptor = openSync(file, 'r');
  try {
    let length = 0;
    for (let read = 1; read > 0 && length <= bytesMax; length += read)
      read = readSync(descriptor, bytes, length, bytes.length - length, null);
    return length > bytesMax ? undefined : bytes.toString('utf8', 0, length);
  } finally {
    closeSync(descriptor);
  }
}
