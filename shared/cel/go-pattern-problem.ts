import { compilePattern } from './go-pattern.ts';

/** What Go's regexp says of a pattern that it cannot compile; undefined for one that it can. */
export function patternProblem(pattern: string): string | undefined {
  const problem = scan(pattern) ?? compileProblem(pattern);
  return problem === undefined ? undefined : `error parsing regexp: ${problem}`;
}

/** Finds the first mistake as Go's parser would, from left to right. */
function scan(pattern: string): string | undefined {
  let open = 0;
  /** Whether there is something that could be repeated, or a repetition right before. */
  let before: 'nothing' | 'atom' | 'repetition' = 'nothing';
  let repetition = '';
  for (let i = 0; i < pattern.length; i++) {
    const rest = pattern.slice(i);
    const character = pattern.charAt(i);
    if (character === '\\') {
      const problem = escapeProblem(rest);
      if (problem !== undefined) return problem;
      i++;
      before = 'atom';
    } else if (character === '[') {
      const set = /^\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]/s.exec(rest)?.[0];
      if (set === undefined) return `missing closing ]: \`${rest}\``;
      const range = badRange(set);
      if (range !== undefined) return `invalid character class range: \`${range}\``;
      i += set.length - 1;
      before = 'atom';
    } else if (character === '(') {
      const syntax = /^\(\?(?:<?[=!]|#|>)/.exec(rest)?.[0];
      if (syntax !== undefined) return `invalid or unsupported Perl syntax: \`${syntax}\``;
      i += (/^\(\?(?:P?<\w+>|[imsU-]*:?)/.exec(rest)?.[0].length ?? 1) - 1;
      open++;
      before = 'nothing';
    } else if (character === ')') {
      if (open === 0) return `unexpected ): \`${pattern}\``;
      open--;
      before = 'atom';
    } else if (character === '|') before = 'nothing';
    else {
      const times = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(rest)?.[0];
      if (times === undefined) {
        before = 'atom';
        continue;
      }
      if (before === 'nothing') return `missing argument to repetition operator: \`${times}\``;
      if (before === 'repetition') return `invalid nested repetition operator: \`${repetition}${times}\``;
      if ((times.match(/\d+/g) ?? []).some((count) => Number(count) > 1000)) return `invalid repeat count: \`${times}\``;
      before = 'repetition';
      repetition = times;
      i += times.length - 1;
    }
  }
  return open > 0 ? `missing closing ): \`${pattern}\`` : undefined;
}

function escapeProblem(rest: string): string | undefined {
  const next = rest.charAt(1);
  if (next === '') return 'trailing backslash at end of expression: ``';
  return /[1-9A-Za-z]/.test(next) && !/[abfnrtvdDsSwWpPxAzBCQE]/.test(next) ? `invalid escape sequence: \`\\${next}\`` : undefined;
}

function badRange(set: string): string | undefined {
  for (const [range, from = '', to = ''] of set
    .replaceAll(/\\./gs, '')
    .slice(1, -1)
    .matchAll(/([^-])-([^-])/g))
    if (from > to) return range;
  return undefined;
}

/** What only the compiler finds is told in its words. */
function compileProblem(pattern: string): string | undefined {
  try {
    compilePattern(pattern);
    return undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return `${error.message}: \`${pattern}\``;
  }
}
