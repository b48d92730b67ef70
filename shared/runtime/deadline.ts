import type { Clock } from './clock.ts';
import { withEither } from './tasks.ts';

/**
 * Runs a call that is aborted after `limitMs`, or with `signal`, where there is one. A server that swallows requests must not hold us up.
 */
export async function withDeadline<T>(
  clock: Clock,
  limitMs: number,
  signal: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const timer = clock.schedule(() => controller.abort(new Error(`no answer within ${limitMs} ms`)), limitMs);
  try {
    return await (signal === undefined ? call(controller.signal) : withEither(signal, controller.signal, call));
  } finally {
    timer.cancel();
  }
}
