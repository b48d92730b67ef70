/** Who may ask next, where only so many may ask in a second. Nobody is kept waiting in a call: each is told when to come again. */
export interface RateSlots {
  /** Zero: it is the turn of `key`, and is used up. Else the milliseconds after which it will be; asking again sooner changes nothing. */
  waitMs(key: string, nowMs: number): number;
}

/** More than these are sent away without a turn. */
const WAITING_MAX = 10_000;
const COME_AGAIN_MS = 60_000;
/** Looking for turns that are over costs as much as there are. */
const LOOK_AGAIN_MS = 1_000;

export function createRateSlots({ perSecond, burst }: { readonly perSecond: number; readonly burst: number }): RateSlots {
  const everyMs = 1000 / perSecond;
  const dueMs = new Map<string, number>();
  let lastDueMs = Number.NEGATIVE_INFINITY;
  let lookedMs = Number.NEGATIVE_INFINITY;
  return {
    waitMs(key, nowMs) {
      const known = dueMs.get(key);
      if (known !== undefined) {
        if (known <= nowMs) dueMs.delete(key);
        return Math.max(0, known - nowMs);
      }
      // Turns that nobody came for any more are over.
      if (dueMs.size >= WAITING_MAX && nowMs - lookedMs >= LOOK_AGAIN_MS) {
        lookedMs = nowMs;
        for (const [each, due] of dueMs) if (due + COME_AGAIN_MS < nowMs) dueMs.delete(each);
      }
      if (dueMs.size >= WAITING_MAX) return COME_AGAIN_MS;
      lastDueMs = Math.max(lastDueMs + everyMs, nowMs - burst * everyMs);
      if (lastDueMs <= nowMs) return 0;
      dueMs.set(key, lastDueMs);
      return lastDueMs - nowMs;
    },
  };
}
