/** The clock of one process: when the process is killed, its timers die with it. */
import type { Clock, Timer } from '../../shared/runtime/clock.ts';

export type MortalClock = Clock & { kill(): void };

export function createMortalClock(clock: Clock): MortalClock {
  const pending = new Set<Timer>();
  let dead = false;
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    schedule(callback, delayMs) {
      if (dead) return { cancel: () => undefined };
      const timer = clock.schedule(() => {
        pending.delete(timer);
        callback();
      }, delayMs);
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
