import type { Problem } from './expression.ts';

/** Findings with the line that each is about, in the order of their places. */
export function showProblems(source: string, problems: readonly Problem[]): string {
  return problems
    .toSorted((left, right) => left.at - right.at)
    .map((problem) => showProblem(source, problem))
    .join('\n');
}

function showProblem(source: string, { at, message }: Problem): string {
  const before = source.slice(0, at).split('\n');
  const prefix = Array.from(before.at(-1) ?? '');
  const line = (source.split('\n')[before.length - 1] ?? '').replaceAll('\t', ' ');
  const here = Array.from(line)[prefix.length] ?? '';
  const dots = prefix.map((character) => (isWide(character) ? '．' : '.')).join('');
  return `ERROR: <input>:${before.length}:${prefix.length + 1}: ${message}\n | ${line}\n | ${dots}${isWide(here) ? '＾' : '^'}`;
}

const isWide = (character: string): boolean => (character.codePointAt(0) ?? 0) > 0x7f;
