/**
 * The most that each sharer may keep of `room`: a sharer below it loses nothing, and the others share what it leaves. Infinite where there
 * is room for all.
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
