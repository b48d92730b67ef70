import type { Clock } from '../../../shared/runtime/clock.ts';
import { createWakeUp } from '../../../shared/runtime/wake-up.ts';

export type ReconciliationDeps = {
  /** The fence token that the worker asks to be answered; undefined while it has been, or nothing can be said of the cluster now. */
  readonly asked: () => string | undefined;
  /** Whether what is known of the copies of a Job there is all in place. */
  readonly inPlace: (localKey: string) => boolean;
  /** Keys of the Jobs of which a copy there is not in place, all copies looked at; undefined when they cannot be. */
  readonly outOfPlace: (signal: AbortSignal) => Promise<readonly string[] | undefined>;
  /** Every copy there is in place: the worker may be told so, at once. */
  readonly confirm: (token: string) => void;
  readonly clock: Clock;
};

/**
 * Tells a worker that asks for it that no copy is left on its cluster that must not run. Copies are looked at only while it asks, and those in the way
 * again only when they have changed or some time has passed.
 */
export interface Reconciliation {
  /** Something of this Job has changed there. */
  copyChanged(localKey: string): void;
  /** The worker may ask for something else, or it has been a while. */
  wake(): void;
  run(signal: AbortSignal): Promise<void>;
}

export function createReconciliation({ asked, inPlace, outOfPlace, confirm, clock }: ReconciliationDeps): Reconciliation {
  const inTheWay = new Set<string>();
  const wakeUp = createWakeUp(clock);

  async function round(signal: AbortSignal): Promise<void> {
    const token = asked();
    if (token === undefined) return inTheWay.clear();
    for (const key of inTheWay) if (inPlace(key)) inTheWay.delete(key);
    if (inTheWay.size > 0) return;
    const found = await outOfPlace(signal);
    if (found === undefined) return;
    for (const key of found) inTheWay.add(key);
    if (inTheWay.size === 0 && asked() === token && !signal.aborted) confirm(token);
  }

  return {
    copyChanged: (key) => {
      if (inTheWay.has(key)) wakeUp.wake();
    },
    wake: () => wakeUp.wake(),
    run: (signal) => wakeUp.run(() => round(signal), signal),
  };
}
