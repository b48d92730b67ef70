/**
 * Walks over a crowd, done a part at a time, so that whoever waits for the event loop is not kept. What comes to the crowd meanwhile is visited too, or
 * came as it should be.
 */
export interface SlicedPass<T> {
  /** Has everybody visited, after what was asked for before. `begins`: it is about to. */
  enqueue(visit: (each: T) => void, begins?: () => void): void;
  /** Goes on until everybody has been visited or `hasEnded`. True while something is left. */
  runUntil(hasEnded: () => boolean): boolean;
}

/** `crowd`: everybody, in an order that visits do not change. */
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
        // Asking for the time costs more than most visits.
        if (visits % VISITS === 0 && hasEnded()) return true;
      }
    },
  };
}

const VISITS = 32;
