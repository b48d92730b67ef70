/**
 * The clock of one process: when the process is killed, its timers die with it. What its machine takes for the time of day may be wrong.
 */
import type { Clock, Timer } from '../../shared/runtime/clock.ts';

export type MortalClock = Clock & { kill(): void };

/** `errorMs`: by how much the time of day of its machine is wrong now. */
export function createMortalClock(clock: Clock, errorMs: () => number = () => 0): MortalClock {
  const pending = new Set<Timer>();
  /** A process that has started anew cannot compare with what it saw before. */
  const startedMs = clock.monotonic();
  let dead = false;
  return {
    now: () => clock.now() + errorMs(),
    monotonic: () => clock.monotonic() - startedMs,
    schedule(callback, delayMs) {
      if (dead) return { cancel: () => undefined };
      const timer = clock.schedule(() => {
        pending.delete(timer);
        callback();
        // Whole milliseconds, as those of setTimeout: with fractions, what is due and what the time is could differ for ever by less than a
        // clock can tell.
      }, Math.ceil(delayMs));
      pending.add(timer);
      return {
        cancel: () => {
          pending.delete(timer);
          timer.cancel();
        },
      };
    },
    kill() {
      dead = true;
      for (const timer of pending) timer.cancel();
      pending.clear();
    },
  };
}
