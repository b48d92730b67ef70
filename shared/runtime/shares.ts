/** How much of something is in use, and by whom, where nobody may have more than an eighth of it. */
export interface Shares {
  readonly size: number;
  /** Counts one more for this owner and returns how to give it back; undefined where the owner has an eighth, or nothing is left. */
  take(owner: string): (() => void) | undefined;
}

export function createShares(all: number): Shares {
  const each = all / 8;
  const owned = new Map<string, number>();
  let size = 0;
  return {
    get size() {
      return size;
    },
    take(owner) {
      const own = owned.get(owner) ?? 0;
      if (size >= all || own + 1 > each) return undefined;
      size++;
      owned.set(owner, own + 1);
      let isReturned = false;
      return () => {
        if (isReturned) return;
        isReturned = true;
        size--;
        const left = (owned.get(owner) ?? 1) - 1;
        if (left === 0) owned.delete(owner);
        else owned.set(owner, left);
      };
    },
  };
}
