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

/** `items`: all items, in an order that visits do not change. */
export function createSlicedPass<T>(items: () => Iterator<T>): SlicedPass<T> {
  const scheduled: { readonly visit: (each: T) => void; readonly begins: (() => void) | undefined }[] = [];
  let current: { readonly visit: (each: T) => void; readonly rest: Iterator<T> } | undefined;

  const nextPass = (): typeof current => {
    const pass = scheduled.shift();
    pass?.begins?.();
    return pass && { visit: pass.visit, rest: items() };
  };

  return {
    enqueue: (visit, begins) => void scheduled.push({ visit, begins }),
    runUntil: (hasEnded) => {
      for (let visits = 1; ; visits++) {
        current ??= nextPass();
        if (current === undefined) return false;
        const next = current.rest.next();
        if (next.done === true) current = undefined;
        else current.visit(next.value);
        // Reading the clock costs more than most visits.
        if (visits % VISITS_PER_CHECK === 0 && hasEnded()) return true;
      }
    },
  };
}

const VISITS_PER_CHECK = 32;
