import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Found } from './rights-reader.ts';

/**
 * Runs long work one at a time, with a pause after each as long as it took, so that half of the time is left to other work. Names take
 * turns, so that a name with much work delays itself alone.
 */
export interface FairScheduler {
  /** Undefined, and the work is not run, where too much of the same name waits. */
  take<T>(name: string, work: () => Promise<T>): Promise<T> | undefined;
}

export type FairSchedulerOptions = {
  readonly clock: Clock;
  /** The most work of one name that may wait. */
  readonly waitingMax: number;
};

export function createFairScheduler({ clock, waitingMax }: FairSchedulerOptions): FairScheduler {
  /** Waiting work by name; a name that had its turn goes to the end. */
  const waiting = new Map<string, (() => Promise<void>)[]>();
  let isBusy = false;

  const runAll = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    // No work starts before its caller has the promise.
    await Promise.resolve();
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      const [name, [work, ...others]] = next;
      waiting.delete(name);
      if (others.length > 0) waiting.set(name, others);
      const sinceMs = clock.monotonic();
      await work?.();
      const tookMs = clock.monotonic() - sinceMs;
      if (tookMs > 0) await sleep(clock, tookMs);
    }
    isBusy = false;
  };

  return {
    take<T>(name: string, work: () => Promise<T>) {
      const own = waiting.get(name) ?? [];
      if (own.length >= waitingMax) return undefined;
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      waiting.set(name, [...own, () => work().then(resolve, reject)]);
      void runAll();
      return promise;
    },
  };
}

/** The result of a turn, or a refusal where there was none. */
export const foundInTurn = <T>(value: T | undefined): Found<T> =>
  value === undefined ? { kind: 'Refused', status: 503, why: 'too much is asked at once; try again' } : { kind: 'Found', value };
