import { fieldOf, isJsonObject, jsonEquals } from '../apimachinery/json.ts';

/**
 * The order of a list after a strategic merge: elements of the patch in the order of the patch, the others in the order
 * of the live list, and the two interleaved as the live list had them.
 */
export function orderElements(
  merged: readonly unknown[],
  order: readonly unknown[],
  live: readonly unknown[],
  mergeKey: string | undefined,
): unknown[] {
  const rank = (list: readonly unknown[], item: unknown): number => list.findIndex((each) => sameKey(each, item, mergeKey));
  const byRank = (list: readonly unknown[], items: unknown[]): unknown[] =>
    items
      .map((item) => ({ item, rank: rank(list, item) }))
      .sort((left, right) => (left.rank < 0 || right.rank < 0 ? 0 : left.rank - right.rank))
      .map(({ item }) => item);
  const ordered = byRank(
    order,
    merged.filter((item) => rank(order, item) >= 0),
  );
  const others = byRank(
    live,
    merged.filter((item) => rank(order, item) < 0),
  );
  return interleave(others, ordered, (item) => rank(live, item));
}

/** Puts each of `others` before the first of `ordered` that stood behind it in the live list. */
function interleave(others: readonly unknown[], ordered: readonly unknown[], liveRank: (item: unknown) => number): unknown[] {
  const result: unknown[] = [];
  let at = 0;
  for (const item of ordered) {
    const rank = liveRank(item);
    while (at < others.length && rank >= 0 && isBefore(liveRank(others[at]), rank)) result.push(others[at++]);
    result.push(item);
  }
  return [...result, ...others.slice(at)];
}

const isBefore = (rank: number, other: number): boolean => rank >= 0 && rank < other;

/** The union of two lists of scalars, without repetitions. */
export const mergeScalars = (existing: readonly unknown[], patch: readonly unknown[]): unknown[] => [...new Set([...existing, ...patch])];

/** Whether two list elements are the same one: by the merge key, or, for scalars, by value. */
export function sameKey(left: unknown, right: unknown, mergeKey: string | undefined): boolean {
  if (mergeKey === undefined) return jsonEquals(left, right);
  if (!isJsonObject(left) || !isJsonObject(right) || !Object.hasOwn(left, mergeKey)) return false;
  return jsonEquals(fieldOf(left, mergeKey), fieldOf(right, mergeKey));
}
