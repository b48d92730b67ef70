/** Sorting a part of this size takes a few milliseconds. */
const PART = 2_000;

/**
 * The items in order; equal ones keep their order. Yields after each part, so that the caller can let other work go first. `items` must not
 * change meanwhile.
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
    // Past the end of one list only the other is left; an item itself may be undefined.
    const isFirst = b >= second.length || (a < first.length && compare(x as T, y as T) <= 0);
    merged.push((isFirst ? x : y) as T);
    if (isFirst) a++;
    else b++;
    if (merged.length % part === 0) yield;
  }
  return merged;
}
