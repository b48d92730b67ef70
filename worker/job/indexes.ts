/**
 * Sets of completion indexes, kept as intervals: a Job of 100,000 completions is a handful of numbers until its
 * successes are scattered. The text form is that of `status.completedIndexes`: `0,2,3,5-7` (runs of three and more as `a-b`).
 */
export type IndexSet = {
  /** Inclusive, increasing, and neither touching nor overlapping. */
  readonly intervals: readonly Interval[];
  /** How many indexes are in the set. */
  readonly size: number;
};
export type Interval = readonly [first: number, last: number];

export const EMPTY_INDEXES: IndexSet = { intervals: [], size: 0 };

/**
 * Reads the text form as the controller does: pieces that are no numbers are skipped, and everything from the first
 * piece that starts at or beyond `completions` on is dropped - this is how scaling an Indexed Job down forgets indexes.
 * Unlike upstream, a text out of order is put in order, so that no index is counted twice.
 */
export function parseIndexes(text: string | null | undefined, completions: number): IndexSet {
  if (text === undefined || text === null || text === '') return EMPTY_INDEXES;
  const intervals: Interval[] = [];
  for (const piece of text.split(',')) {
    const interval = parseInterval(piece);
    if (interval === undefined) continue;
    if (interval[0] >= completions) break;
    intervals.push([interval[0], Math.min(interval[1], completions - 1)]);
  }
  return fromIntervals(intervals);
}

/** Whether every piece of the text is an index or an interval, in increasing order. Controllers write no other. */
export function isIndexText(text: string): boolean {
  let previous = -1;
  return (
    text === '' ||
    text.split(',').every((piece) => {
      const interval = parseInterval(piece);
      if (interval === undefined || interval[0] <= previous) return false;
      previous = interval[1];
      return piece.split('-').length <= 2;
    })
  );
}

function parseInterval(piece: string): Interval | undefined {
  const [firstText = '', lastText] = piece.split('-');
  const first = parseIndex(firstText);
  const last = lastText === undefined ? first : parseIndex(lastText);
  return first === undefined || last === undefined || last < first ? undefined : [first, last];
}

/** A completion index as written in an annotation or an interval; undefined when the text is none. */
export function parseIndex(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  const index = Number(text);
  return Number.isSafeInteger(index) ? index : undefined;
}

export const formatIndexes = (set: IndexSet): string =>
  set.intervals
    .map(([first, last]) => (first === last ? `${first}` : last === first + 1 ? `${first},${last}` : `${first}-${last}`))
    .join(',');

export function hasIndex(set: IndexSet, index: number): boolean {
  let low = 0;
  let high = set.intervals.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const interval = set.intervals[middle];
    if (interval === undefined) return false;
    if (index < interval[0]) high = middle - 1;
    else if (index > interval[1]) low = middle + 1;
    else return true;
  }
  return false;
}

/** The set with these indexes added. They may come in any order and more than once. */
export function addIndexes(set: IndexSet, indexes: readonly number[]): IndexSet {
  return indexes.length === 0 ? set : uniteIndexes(set, fromIntervals(indexes.map((index): Interval => [index, index])));
}

export function uniteIndexes(...sets: readonly IndexSet[]): IndexSet {
  const filled = sets.filter((set) => set.size > 0);
  return filled.length === 1 && filled[0] !== undefined ? filled[0] : fromIntervals(filled.flatMap((set) => set.intervals));
}

/** How many indexes two sets share. */
export function countShared(left: IndexSet, right: IndexSet): number {
  let shared = 0;
  for (let l = 0, r = 0; ; ) {
    const a = left.intervals[l];
    const b = right.intervals[r];
    if (a === undefined || b === undefined) return shared;
    shared += Math.max(0, Math.min(a[1], b[1]) - Math.max(a[0], b[0]) + 1);
    if (a[1] < b[1]) l++;
    else r++;
  }
}

/** The `count` lowest indexes below `completions` that are not in `taken`. */
export function firstFreeIndexes(taken: IndexSet, count: number, completions: number): number[] {
  const free: number[] = [];
  let next = 0;
  for (const [first, last] of [...taken.intervals, [completions, completions] as const]) {
    for (; next < first && next < completions && free.length < count; next++) free.push(next);
    if (free.length >= count) break;
    next = last + 1;
  }
  return free;
}

function fromIntervals(intervals: readonly Interval[]): IndexSet {
  const ordered = isOrdered(intervals) ? intervals : intervals.toSorted((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  let size = 0;
  for (const [first, last] of ordered) {
    const previous = merged.at(-1);
    if (previous === undefined || first > previous[1] + 1) {
      merged.push([first, last]);
      size += last - first + 1;
    } else if (last > previous[1]) {
      size += last - previous[1];
      previous[1] = last;
    }
  }
  return { intervals: merged, size };
}

const isOrdered = (intervals: readonly Interval[]): boolean =>
  intervals.every((interval, position) => position === 0 || (intervals[position - 1]?.[0] ?? 0) <= interval[0]);
