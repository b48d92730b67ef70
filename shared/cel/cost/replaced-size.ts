import { multiply, add, type Range } from './estimate-range.ts';

/** How long a text may be after all occurrences of another in it are replaced. */
export function replacedSize(text: Range, replaced: Range, by: Range): Range {
  const longest = longestReplacement(text.max, replaced.min, by.max);
  const shortest = shortestReplacement(text.min, replaced.max, by.min);
  const times: Range = { min: shortest.times, max: longest.times };
  return add(multiply(times, by), { min: shortest.kept, max: longest.kept });
}

type Replacement = {
  /** How often it happens. */
  readonly times: number;
  /** How much of the text stays. */
  readonly kept: number;
};

function longestReplacement(length: number, replaced: number, by: number): Replacement {
  // What replaces nothing is put around every character.
  if (replaced === 0) return { times: length + 1, kept: length };
  if (by <= replaced) return { times: 0, kept: length };
  return { times: Math.ceil(length / replaced), kept: 0 };
}

function shortestReplacement(length: number, replaced: number, by: number): Replacement {
  if (replaced === 0) return { times: length + 1, kept: length };
  if (replaced <= by) return { times: 0, kept: length };
  return { times: Math.ceil(length / replaced), kept: 0 };
}
