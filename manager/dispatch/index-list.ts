/**
 * Whether an API server takes these two lists of indexes (`0,2-5`) for a Job with so many completions: the strict grammar that it applies
 * to completedIndexes and failedIndexes, which may have no index in common.
 */
export function areIndexLists(completed: string, failed: string, completions: number): boolean {
  const [done, lost] = [intervalsOf(completed, completions), intervalsOf(failed, completions)];
  return done !== undefined && lost !== undefined && !overlap(done, lost);
}

/** First and last index of each interval in turn; undefined when the text is no such list. */
function intervalsOf(text: string, completions: number): readonly number[] | undefined {
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
