import type { Clock } from '../runtime/clock.ts';
import { onAbort } from '../runtime/tasks.ts';

type IdleGuard = { readonly signal: AbortSignal; alive(): void; expired(): boolean; stop(): void };

/** Aborts its signal when `alive` is not called for so long, or with one of `outer`. Stopped, it aborts it, too: nobody reads on. */
export function idleGuard(clock: Clock, limitMs: number, outer: readonly AbortSignal[]): IdleGuard {
  const controller = new AbortController();
  const abort = (): void => controller.abort(outer.find(({ aborted }) => aborted)?.reason);
  for (const each of outer) onAbort(each, abort);
  let aliveAtMs = clock.monotonic();
  let silent = false;
  // Looking at the time of the last sign of life when the timer fires is cheaper than a new timer for every event.
  const check = (): void => {
    const quietMs = clock.monotonic() - aliveAtMs;
    if (quietMs < limitMs) timer = clock.schedule(check, limitMs - quietMs);
    else {
      silent = true;
      controller.abort(new Error(`no sign of life for ${limitMs} ms`));
    }
  };
  let timer = clock.schedule(check, limitMs);
  return {
    signal: controller.signal,
    alive: () => {
      aliveAtMs = clock.monotonic();
    },
    expired: () => silent && !outer.some(({ aborted }) => aborted),
    stop: () => {
      timer.cancel();
      for (const each of outer) each.removeEventListener('abort', abort);
      controller.abort(new Error('the watch is over'));
    },
  };
}
