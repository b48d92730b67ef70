import { sleep, type Clock } from './clock.ts';

/** Long work in slices, so that whoever waits for the event loop is not kept. */
export interface TimeSlices {
  /** The one that has begun has had its time. */
  hasEnded(): boolean;
  /** Has everybody else have a turn, then begins another one. Look at the signal afterwards. */
  next(signal?: AbortSignal): Promise<void>;
  /** The same, where that is over. */
  nextWhenOver(signal?: AbortSignal): Promise<void>;
}

/** The first one begins now. */
export function createTimeSlices(clock: Clock, sliceMs: number): TimeSlices {
  let sinceMs = clock.monotonic();
  const hasEnded = (): boolean => clock.monotonic() - sinceMs >= sliceMs;
  const next = async (signal?: AbortSignal): Promise<void> => {
    await sleep(clock, 0, signal);
    sinceMs = clock.monotonic();
  };
  return {
    hasEnded,
    next,
    nextWhenOver: async (signal) => {
      if (hasEnded()) await next(signal);
    },
  };
}
