/** So much work at once, an eighth of it for one owner at most. What waits of one owner waits behind that owner's own work alone. */
export interface FairSlots {
  /** Rejects with {@link TooMuchWaits} where too much of that owner waits already. */
  run<T>(owner: string, work: () => Promise<T>): Promise<T>;
}

export class TooMuchWaits extends Error {
  override readonly name = 'TooMuchWaits';
}

/** `waitingMax`: of one owner. */
export function createFairSlots({ all, waitingMax }: { readonly all: number; readonly waitingMax: number }): FairSlots {
  const each = all / 8;
  const running = new Map<string, number>();
  /** By owner; the one that was served last stands at the end. */
  const waiting = new Map<string, (() => void)[]>();
  let busy = 0;

  const isFree = (owner: string): boolean => busy < all && (running.get(owner) ?? 0) + 1 <= each;
  const begin = (owner: string): void => {
    busy++;
    running.set(owner, (running.get(owner) ?? 0) + 1);
  };
  const end = (owner: string): void => {
    busy--;
    const left = (running.get(owner) ?? 1) - 1;
    if (left === 0) running.delete(owner);
    else running.set(owner, left);
    for (const [next, queue] of waiting) {
      if (!isFree(next)) continue;
      const go = queue.shift();
      waiting.delete(next);
      if (queue.length > 0) waiting.set(next, queue);
      begin(next);
      return go?.();
    }
  };

  return {
    async run(owner, work) {
      if (isFree(owner)) begin(owner);
      else {
        const queue = waiting.get(owner) ?? [];
        if (queue.length >= waitingMax) throw new TooMuchWaits('too much is asked at once; try again');
        const turn = Promise.withResolvers<void>();
        queue.push(turn.resolve);
        waiting.set(owner, queue);
        await turn.promise;
      }
      try {
        return await work();
      } finally {
        end(owner);
      }
    },
  };
}
