import type { Clock } from '../../../shared/runtime/clock.ts';
import { createWakeUp } from '../../../shared/runtime/wake-up.ts';

export type ReconciliationDeps = {
  /** The fence token that the worker asks to have confirmed; undefined while none is asked for, or the cluster cannot be judged now. */
  readonly asked: () => string | undefined;
  /** Whether every known copy of a Job there is in place. */
  readonly inPlace: (localKey: string) => boolean;
  /** Keys of Jobs with a copy out of place, by a list of all copies; undefined when the list fails. */
  readonly outOfPlace: (signal: AbortSignal) => Promise<readonly string[] | undefined>;
  /** All copies are to be listed though no worker asks. */
  readonly isListDue: () => boolean;
  /** Every copy is in place: confirm this token to the worker now. */
  readonly confirm: (token: string) => void;
  readonly clock: Clock;
};

/**
 * Confirms to a worker that asks for it that no copy is left on its cluster that must not run. Copies are listed only while the worker
 * asks, and while a list is due. Jobs found out of place are checked again when they change, or after some time.
 */
export interface Reconciliation {
  /** A copy of this Job has changed. */
  copyChanged(localKey: string): void;
  /** The worker may ask for another token, or some time has passed. */
  wake(): void;
  run(signal: AbortSignal): Promise<void>;
}

export function createReconciliation({ asked, inPlace, outOfPlace, isListDue, confirm, clock }: ReconciliationDeps): Reconciliation {
  const keysOutOfPlace = new Set<string>();
  const wakeUp = createWakeUp(clock);

  async function round(signal: AbortSignal): Promise<void> {
    const token = asked();
    if (token === undefined) {
      keysOutOfPlace.clear();
      // Nobody asks: the list is made for what else it finds.
      if (isListDue()) await outOfPlace(signal);
      return;
    }
    for (const key of keysOutOfPlace) if (inPlace(key)) keysOutOfPlace.delete(key);
    if (keysOutOfPlace.size > 0) return;
    const found = await outOfPlace(signal);
    if (found === undefined) return;
    for (const key of found) keysOutOfPlace.add(key);
    if (keysOutOfPlace.size === 0 && asked() === token && !signal.aborted) confirm(token);
  }

  return {
    copyChanged: (key) => {
      if (keysOutOfPlace.has(key)) wakeUp.wake();
    },
    wake: () => wakeUp.wake(),
    run: (signal) => wakeUp.run(() => round(signal), signal),
  };
}
