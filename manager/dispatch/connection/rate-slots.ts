/** Rate limit with reservations: a key gets the next free slot and the time to come back for it. No call waits. */
export interface RateSlots {
  /** Zero: `key` has its slot, which is used up. Else the milliseconds until its slot; an earlier call changes nothing. */
  waitMs(key: string, nowMs: number): number;
}

/** Reservations kept at a time; further keys get none. */
const WAITING_MAX = 10_000;
const RESERVATION_MS = 60_000;
/** Removing expired reservations costs as much as there are, so it is done at this interval. */
const CLEANUP_INTERVAL_MS = 1_000;

export function createRateSlots({ perSecond, burst }: { readonly perSecond: number; readonly burst: number }): RateSlots {
  const everyMs = 1000 / perSecond;
  const dueMs = new Map<string, number>();
  let lastDueMs = Number.NEGATIVE_INFINITY;
  let cleanedMs = Number.NEGATIVE_INFINITY;
  return {
    waitMs(key, nowMs) {
      const known = dueMs.get(key);
      if (known !== undefined) {
        if (known <= nowMs) dueMs.delete(key);
        return Math.max(0, known - nowMs);
      }
      // Drops reservations that no call has used in time.
      if (dueMs.size >= WAITING_MAX && nowMs - cleanedMs >= CLEANUP_INTERVAL_MS) {
        cleanedMs = nowMs;
        for (const [each, due] of dueMs) if (due + RESERVATION_MS < nowMs) dueMs.delete(each);
      }
      if (dueMs.size >= WAITING_MAX) return RESERVATION_MS;
      lastDueMs = Math.max(lastDueMs + everyMs, nowMs - burst * everyMs);
      if (lastDueMs <= nowMs) return 0;
      dueMs.set(key, lastDueMs);
      return lastDueMs - nowMs;
    },
  };
}
