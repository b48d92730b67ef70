/** So many at once take a few milliseconds. */
const PART = 2_000;

/**
 * The items in order, equal ones as they came; a step at a time, so that whoever takes the steps can have others go first in between. Nothing may be written to
 * `items` meanwhile.
 */
export function* sortedInParts<T>(items: readonly T[], compare: (a: T, b: T) => number, part = PART): Generator<undefined, readonly T[]> {
  let runs: (readonly T[])[] = [];
  for (let from = 0; from < items.length; from += part) {
    runs.push(items.slice(from, from + part).toSorted(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: (readonly T[])[] = [];
    for (let at = 0; at < runs.length; at += 2) merged.push(yield* mergedInParts(runs[at] ?? [], runs[at + 1] ?? [], compare, part));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergedInParts<T>(
  first: readonly T[],
  second: readonly T[],
  compare: (a: T, b: T) => number,
  part: number,
): Generator<undefined, readonly T[]> {
  if (second.length === 0) return first;
  const merged: T[] = [];
  for (let [a, b] = [0, 0]; a < first.length || b < second.length; ) {
    const [x, y] = [first[a], second[b]];
    // Past the end of one there is nothing but the other; an item itself may be undefined.
    const isFirst = b >= second.length || (a < first.length && compare(x as T, y as T) <= 0);
    merged.push((isFirst ? x : y) as T);
    if (isFirst) a++;
    else b++;
    if (merged.length % part === 0) yield;
  }
  return merged;
}
