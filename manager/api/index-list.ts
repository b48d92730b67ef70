/**
 * Whether an API server accepts these two lists of indexes (`0,2-5`) for a Job with this number of completions. It parses completedIndexes
 * and failedIndexes strictly, and they must not share an index.
 */
export function areIndexLists(completed: string, failed: string, completions: number): boolean {
  const [done, lost] = [intervalsOf(completed, completions), intervalsOf(failed, completions)];
  return done !== undefined && lost !== undefined && !overlap(done, lost);
}

/** The indexes below `completions` of a list; none where the list is malformed. */
export function indexesBelow(text: string, completions: number): Indexes {
  const intervals: number[] = [];
  for (const [from, to] of pairs(intervalsOf(text, Number.POSITIVE_INFINITY) ?? [])) {
    if (from < completions) intervals.push(from, Math.min(to, completions - 1));
  }
  return intervals;
}

/** A set of indexes: first and last of each interval in turn, ascending. */
export type Indexes = readonly number[];

export function unionOf(a: Indexes, b: Indexes): Indexes {
  const united: number[] = [];
  for (const [from, to] of [...pairs(a), ...pairs(b)].toSorted(([x], [y]) => x - y)) {
    const end = united.at(-1);
    if (end !== undefined && from <= end + 1) united[united.length - 1] = Math.max(end, to);
    else united.push(from, to);
  }
  return united;
}

/** The indexes of `a` that are not in `b`. */
export function without(a: Indexes, b: Indexes): Indexes {
  const left: number[] = [];
  const others = pairs(b);
  let next = 0;
  for (const [from, to] of pairs(a)) {
    let start = from;
    while ((others[next]?.[1] ?? Number.POSITIVE_INFINITY) < start) next++;
    for (let other = others[next]; other !== undefined && other[0] <= to; other = others[next]) {
      if (other[0] > start) left.push(start, other[0] - 1);
      start = other[1] + 1;
      if (other[1] >= to) break;
      next++;
    }
    if (start <= to) left.push(start, to);
  }
  return left;
}

export const isSubset = (a: Indexes, b: Indexes): boolean => without(a, b).length === 0;
export const sizeOf = (indexes: Indexes): number => pairs(indexes).reduce((sum, [from, to]) => sum + to - from + 1, 0);
/** The list in the format of the Job controller: `0,2-5`. */
export const textOf = (indexes: Indexes): string =>
  pairs(indexes)
    .map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`))
    .join(',');

const pairs = (indexes: Indexes): [from: number, to: number][] =>
  Array.from({ length: indexes.length / 2 }, (_, pair) => [indexes[2 * pair] ?? 0, indexes[2 * pair + 1] ?? 0]);

/** Undefined when the list is malformed. */
function intervalsOf(text: string, completions: number): Indexes | undefined {
  if (text === '') return [];
  const ends: number[] = [];
  for (const fragment of text.split(',')) {
    const [, first, last] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(fragment) ?? [];
    if (first === undefined) return undefined;
    const [from, to] = [Number(first), Number(last ?? first)];
    const increasing = from > (ends.at(-1) ?? -1) && (last === undefined || to > from);
    if (!increasing || to >= completions) return undefined;
    ends.push(from, to);
  }
  return ends;
}

function overlap(a: readonly number[], b: readonly number[]): boolean {
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const [aFrom = 0, aTo = 0, bFrom = 0, bTo = 0] = [a[i], a[i + 1], b[j], b[j + 1]];
    if (aFrom <= bTo && bFrom <= aTo) return true;
    if (aTo < bTo) i += 2;
    else j += 2;
  }
  return false;
}
