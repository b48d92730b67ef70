/**
 * How much each may keep where there is room for `room` in all: whoever keeps no more than that loses nothing, and what he leaves is shared by the others. Infinite where there is room
 * for all.
 */
export function fairCap(sizes: Iterable<number>, room: number): number {
  const ascending = [...sizes].toSorted((a, b) => a - b);
  let [left, sharers] = [room, ascending.length];
  for (const size of ascending) {
    const share = left / sharers;
    if (size > share) return share;
    left -= size;
    sharers--;
  }
  return Number.POSITIVE_INFINITY;
}
