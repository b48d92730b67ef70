import { sleep, type Clock } from './clock.ts';
import { onAbort } from './tasks.ts';

/**
 * Rounds of work that changes ask for. However many changes come before a round begins, they lead to one round; a change that comes
 * while a round is under way leads to another.
 */
export interface WakeUp {
  /** Something has changed. */
  wake(): void;
  /** One round at once, and one whenever there was a change, until `signal` aborts. Errors of a round end it. */
  run(round: () => Promise<void> | void, signal: AbortSignal): Promise<void>;
}

/** Between a change and its round, `gatherMs` pass in which further changes join it. */
export function createWakeUp(clock: Clock, gatherMs = 0): WakeUp {
  let change = Promise.withResolvers<void>();
  let isAwake = false;
  // Under load far more changes come than rounds begin.
  const wake = (): void => {
    if (isAwake) return;
    isAwake = true;
    change.resolve();
  };
  return {
    wake,
    async run(round, signal) {
      onAbort(signal, wake);
      wake();
      while (!signal.aborted) {
        await change.promise;
        if (gatherMs > 0) await sleep(clock, gatherMs, signal);
        change = Promise.withResolvers();
        isAwake = false;
        if (!signal.aborted) await round();
      }
    },
  };
}
