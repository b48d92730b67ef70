import type { Environment } from '@marcbachmann/cel-js';
import { matches, patternOf } from './string-functions.ts';

/** What Kubernetes adds to CEL's strings and cel-js lacks: regular expressions, and the rest of the strings extension. */
export function registerStringLibrary(environment: Environment): void {
  environment
    .registerFunction('string.find(string): string', (text: string, pattern: string) => patternOf(pattern).exec(text)?.[0] ?? '')
    .registerFunction('string.findAll(string): list<string>', (text: string, pattern: string) => findAll(text, pattern, undefined))
    .registerFunction('string.findAll(string, int): list<string>', (text: string, pattern: string, limit: bigint) =>
      findAll(text, pattern, Number(limit)),
    )
    .registerFunction('string.charAt(int): string', charAt)
    .registerFunction('matches(string, string): bool', matches)
    .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) => text.replaceAll(from, () => to))
    .registerFunction('string.replace(string, string, int): string', (text: string, from: string, to: string, limit: bigint) =>
      replaceSome(text, from, to, Number(limit)),
    );
}

function charAt(text: string, at: bigint): string {
  const characters = Array.from(text);
  if (at < 0n || at > BigInt(characters.length)) throw new Error(`index out of range: ${at}`);
  return characters[Number(at)] ?? '';
}

const findAll = (text: string, pattern: string, limit: number | undefined): string[] => {
  const found = [...text.matchAll(new RegExp(patternOf(pattern), 'gu'))].map(([match]) => match);
  return limit === undefined || limit < 0 ? found : found.slice(0, limit);
};

function replaceSome(text: string, from: string, to: string, limit: number): string {
  if (limit < 0) return text.replaceAll(from, () => to);
  let result = '';
  let rest = text;
  for (let done = 0; done < limit; done++) {
    const at = rest.indexOf(from);
    if (at < 0) break;
    result += rest.slice(0, at) + to;
    rest = rest.slice(at + from.length);
  }
  return result + rest;
}
