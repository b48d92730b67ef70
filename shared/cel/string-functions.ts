import { compilePattern } from './go-pattern.ts';
import { patternProblem } from './go-pattern-problem.ts';
import { same } from './list-library.ts';

/** A function on a value that the interpreter has otherwise than cel-go, by its name. */
export type OwnFunction = (receiver: unknown, args: readonly unknown[]) => unknown;

const text = (value: unknown): string => {
  if (typeof value !== 'string') throw new Error('no such overload');
  return value;
};
const place = (value: unknown): number => {
  if (typeof value !== 'bigint') throw new Error('no such overload');
  return Number(value);
};

/** Patterns are Go's, letters ASCII, and places those of code points. */
export const OWN_FUNCTIONS: ReadonlyMap<string, OwnFunction> = new Map<string, OwnFunction>([
  ['matches', (subject, [pattern]) => matches(text(subject), text(pattern))],
  ['lowerAscii', (subject) => text(subject).replace(/[A-Z]/g, (letter) => letter.toLowerCase())],
  ['upperAscii', (subject) => text(subject).replace(/[a-z]/g, (letter) => letter.toUpperCase())],
  ['substring', (subject, [start, end]) => substring(text(subject), place(start), end === undefined ? undefined : place(end))],
  ['indexOf', (subject, [wanted, from = 0n]) => indexOf(subject, wanted, place(from))],
  ['lastIndexOf', (subject, [wanted, from]) => lastIndexOf(subject, wanted, from)],
]);

export const matches = (subject: string, pattern: string): boolean => patternOf(pattern).test(subject);

/** Throws with what Go says of a pattern that it cannot compile. */
export function patternOf(pattern: string): RegExp {
  try {
    return compilePattern(pattern);
  } catch (error) {
    throw new Error(patternProblem(pattern) ?? String(error), { cause: error });
  }
}

function substring(subject: string, start: number, end: number | undefined): string {
  const characters = Array.from(subject);
  const last = end ?? characters.length;
  if (end !== undefined && start > end) throw new Error(`invalid substring range. start: ${start}, end: ${end}`);
  const outside = [start, last].find((at) => at < 0 || at > characters.length);
  if (outside !== undefined) throw new Error(`index out of range: ${outside}`);
  return characters.slice(start, last).join('');
}

function indexOf(subject: unknown, wanted: unknown, from: number): bigint {
  if (Array.isArray(subject)) return BigInt(subject.findIndex((each) => same(each, wanted)));
  if (text(wanted) === '') return BigInt(from);
  if (from < 0) throw new Error(`index out of range: ${from}`);
  const characters = Array.from(text(subject));
  const sought = Array.from(text(wanted));
  return BigInt(characters.findIndex((_, i) => i >= from && startsAt(characters, sought, i)));
}

function lastIndexOf(subject: unknown, wanted: unknown, from: unknown): bigint {
  if (Array.isArray(subject)) return BigInt(subject.findLastIndex((each) => same(each, wanted)));
  const characters = Array.from(text(subject));
  const sought = Array.from(text(wanted));
  const last = from === undefined ? characters.length : place(from);
  if (sought.length === 0) return BigInt(last);
  if (last < 0) throw new Error(`index out of range: ${last}`);
  if (from !== undefined && last >= characters.length) return -1n;
  return BigInt(characters.findLastIndex((_, i) => i <= last && startsAt(characters, sought, i)));
}

const startsAt = (characters: readonly string[], sought: readonly string[], at: number): boolean =>
  sought.every((each, i) => characters[at + i] === each);
