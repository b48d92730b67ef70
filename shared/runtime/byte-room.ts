import { sleep, type Clock } from './clock.ts';

/** Room for a number of bytes that several share. Whoever comes first is first to get its share. */
export interface ByteRoom {
  /**
   * Waits `waitMs` at most for room for `bytes` and returns how to give it back; undefined when there was none in time. More than the whole
   * is never given.
   */
  take(bytes: number, waitMs?: number): Promise<(() => void) | undefined>;
}

export type ByteRoomOptions = {
  readonly bytes: number;
  /** Where none is named. */
  readonly waitMs: number;
  readonly clock: Clock;
};

export function createByteRoom({ bytes: total, waitMs: usualWaitMs, clock }: ByteRoomOptions): ByteRoom {
  let free = total;
  const waiting = new Set<{ readonly bytes: number; readonly granted: AbortController }>();
  const giveOut = (): void => {
    for (const each of waiting) {
      if (each.bytes > free) return;
      free -= each.bytes;
      waiting.delete(each);
      each.granted.abort();
    }
  };
  return {
    async take(bytes, waitMs = usualWaitMs) {
      const place = { bytes, granted: new AbortController() };
      waiting.add(place);
      giveOut();
      await sleep(clock, waitMs, place.granted.signal);
      if (!place.granted.signal.aborted) {
        waiting.delete(place);
        // It may have kept smaller ones behind it waiting.
        giveOut();
        return undefined;
      }
      let returned = false;
      return () => {
        if (returned) return;
        returned = true;
        free += bytes;
        giveOut();
      };
    },
  };
}
