/**
 * A signal that aborts with the first of several, for the same reason. `release` lets go of them; whoever waits for the signal waits in
 * vain then. AbortSignal.any leaves with each of `signals` a weak reference that is looked at when the next one is made, and stays in
 * memory with all who listen until it aborts: too much for what is made for every call, under signals that live as long as the program.
 */
export function firstAbort(signals: readonly AbortSignal[]): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const release = (): void => {
    for (const each of signals) each.removeEventListener('abort', abort);
  };
  const abort = (): void => {
    release();
    controller.abort(signals.find(({ aborted }) => aborted)?.reason);
  };
  if (signals.some(({ aborted }) => aborted)) abort();
  else for (const each of signals) each.addEventListener('abort', abort, { once: true });
  return { signal: controller.signal, release };
}
