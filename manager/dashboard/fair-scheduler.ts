import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Found } from './rights-reader.ts';

/** Long work, one after another, with a rest after each as long as it took: half of the time is left to others. Who asks much waits behind himself: those of different names take turns. */
export interface FairScheduler {
  /** Undefined, and never done, where too much of the same name waits already. */
  take<T>(name: string, work: () => Promise<T>): Promise<T> | undefined;
}

export type FairSchedulerOptions = {
  readonly clock: Clock;
  /** Of one name. */
  readonly waitingMax: number;
};

export function createFairScheduler({ clock, waitingMax }: FairSchedulerOptions): FairScheduler {
  /** What is still to be done, by name; who had his turn goes to the end. */
  const waiting = new Map<string, (() => Promise<void>)[]>();
  let isBusy = false;

  const goOn = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    // Nothing is begun before whoever asks has its promise.
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
      void goOn();
      return promise;
    },
  };
}

/** What was worked out in a turn, or that there was none. */
export const foundInTurn = <T>(value: T | undefined): Found<T> =>
  value === undefined ? { kind: 'Refused', status: 503, why: 'too much is asked at once; try again' } : { kind: 'Found', value };
