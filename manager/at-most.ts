import { sleep, type Clock } from '../shared/runtime/clock.ts';

/** Waits for something, but not longer than `limitMs`. Leaves no timer behind. */
export async function atMost(clock: Clock, limitMs: number, something: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  try {
    await Promise.race([something, sleep(clock, limitMs, done.signal)]);
  } finally {
    done.abort();
  }
}
