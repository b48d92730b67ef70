/**
 * Passes over all items in slices, so that the event loop is not blocked. Items that are added during a pass are visited too, or need no
 * visit.
 */
export interface SlicedPass<T> {
  /** Schedules a visit to every item, after the passes scheduled before. `begins` is called when the pass starts. */
  enqueue(visit: (each: T) => void, begins?: () => void): void;
  /** Continues until every item is visited or `hasEnded`. True while visits remain. */
  runUntil(hasEnded: () => boolean): boolean;
}

/** `crowd`: all items, in an order that visits do not change. */
export function createSlicedPass<T>(crowd: () => Iterator<T>): SlicedPass<T> {
  const asked: { readonly visit: (each: T) => void; readonly begins: (() => void) | undefined }[] = [];
  let under: { readonly visit: (each: T) => void; readonly rest: Iterator<T> } | undefined;

  const nextWalk = (): typeof under => {
    const walk = asked.shift();
    walk?.begins?.();
    return walk && { visit: walk.visit, rest: crowd() };
  };

  return {
    enqueue: (visit, begins) => void asked.push({ visit, begins }),
    runUntil: (hasEnded) => {
      for (let visits = 1; ; visits++) {
        under ??= nextWalk();
        if (under === undefined) return false;
        const next = under.rest.next();
        if (next.done === true) under = undefined;
        else under.visit(next.value);
        // Reading the clock costs more than most visits.
        if (visits % VISITS === 0 && hasEnded()) return true;
      }
    },
  };
}

const VISITS = 32;
