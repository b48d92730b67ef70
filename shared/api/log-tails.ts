/**
 * The ends of logs, as they travel from a worker to the manager: a ConfigMap for each copy, gzip by the names of the pods, in the namespace
 * of the worker's Lease. Where a manager of an earlier release is at work it is beside the copy.
 */
const NAME_PREFIX = 'switchyard-logs-';

/** Of the copy with this UID. */
export const logTailsName = (copyUid: string): string => `${NAME_PREFIX}${copyUid}`;

/** The reverse; undefined where it is no such name. */
export const copyOfLogTails = (name: string): string | undefined =>
  name.startsWith(NAME_PREFIX) ? name.slice(NAME_PREFIX.length) : undefined;

/** All tails of one copy together, compressed: a ConfigMap may have 1 MiB. */
export const LOG_TAILS_BYTES_MAX = 700 * 1024;

/** What was left of a log when it was cut to its last bytes: whole lines, where there is a line's end to begin after. */
export function cutToTail(log: string, bytesMax: number): string {
  const bytes = Buffer.from(log);
  if (bytes.length <= bytesMax) return log;
  const tail = bytes.subarray(bytes.length - bytesMax);
  const lineEnd = tail.indexOf(0x0a);
  // Without a line's end it begins within a character, perhaps: its bytes are left out.
  const from = lineEnd >= 0 && lineEnd < tail.length - 1 ? lineEnd + 1 : firstCharacter(tail);
  return tail.subarray(from).toString();
}

function firstCharacter(bytes: Buffer): number {
  let from = 0;
  while (from < Math.min(4, bytes.length) && ((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
  return from;
}

/** The last line that says anything, of printable characters, cut; undefined where there is none. */
export function lastLineOf(log: string, lengthMax: number): string | undefined {
  let end = log.length;
  while (end > 0) {
    const start = log.lastIndexOf('\n', end - 1) + 1;
    const line = log
      .slice(Math.max(start, end - LINE_LOOKED_AT), end)
      .replace(ESCAPES, '')
      .replace(UNPRINTABLE, ' ')
      .trim();
    if (line !== '') return line.length > lengthMax ? `${line.slice(0, lengthMax - 1)}…` : line;
    end = start - 1;
  }
  return undefined;
}

const LINE_LOOKED_AT = 4096;
// Colours and movements of a terminal; then whatever else steers it or turns text around.
const ESCAPES = /\p{Cc}\[[0-?]*[ -/]*[@-~]/gu;
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;
