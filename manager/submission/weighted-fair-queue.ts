/**
 * Who is next of those that wait, each with a weight: shares of the turns are in proportion to the weights, and whoever comes anew waits
 * for a turn of each of the others at most. Start-time fair queuing (Goyal, Vin, Cheng 1996) with turns of one size: the least virtual time
 * goes first, a turn adds the inverse of the weight, and whoever comes anew begins at the time of the turn before. Round robin by deficits
 * would give the same shares in bursts as long as a weight.
 */
export interface WeightedFairQueue<T> {
  add(key: string, weight: number, item: T): void;
  /** Takes out the next item of one that may go now; undefined when nobody may. Those of one key go in the order in which they came. */
  next(mayGo: (item: T, key: string) => boolean): T | undefined;
  /** Takes out all of a key. */
  remove(key: string): readonly T[];
  /** Those of which something waits. */
  keys(): Iterable<string>;
}

type Line<T> = { items: T[]; taken: number; weight: number; virtualTime: number };

export function createWeightedFairQueue<T>(): WeightedFairQueue<T> {
  const lines = new Map<string, Line<T>>();
  /** When a key that is gone comes back soon, it goes on where it was: leaving would be worth a turn otherwise. */
  const left = new Map<string, number>();
  let now = 0;

  function take(key: string, line: Line<T>): T | undefined {
    now = line.virtualTime;
    line.virtualTime += 1 / line.weight;
    const item = line.items[line.taken++];
    if (line.taken === line.items.length) {
      lines.delete(key);
      left.set(key, line.virtualTime);
      for (const [each, virtualTime] of left) if (virtualTime <= now) left.delete(each);
    } else if (line.taken > 1_000) {
      line.items = line.items.slice(line.taken);
      line.taken = 0;
    }
    return item;
  }

  return {
    add(key, weight, item) {
      const line = lines.get(key);
      if (line === undefined) lines.set(key, { items: [item], taken: 0, weight, virtualTime: Math.max(now, left.get(key) ?? now) });
      else {
        line.items.push(item);
        line.weight = weight;
      }
      left.delete(key);
    },
    next(mayGo) {
      let first: { readonly key: string; readonly line: Line<T> } | undefined;
      for (const [key, line] of lines) {
        if (first !== undefined && first.line.virtualTime <= line.virtualTime) continue;
        const item = line.items[line.taken];
        if (item !== undefined && mayGo(item, key)) first = { key, line };
      }
      return first && take(first.key, first.line);
    },
    remove(key) {
      const line = lines.get(key);
      lines.delete(key);
      return line === undefined ? [] : line.items.slice(line.taken);
    },
    keys: () => lines.keys(),
  };
}
