import type { Clock } from '../../shared/runtime/clock.ts';
import { withEither } from '../../shared/runtime/tasks.ts';

/** Runs a call that is aborted after `limitMs`, or with `signal`. A cluster that swallows requests must not hold us up. */
export async function withDeadline<T>(
  clock: Clock,
  limitMs: number,
  signal: AbortSignal,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const timer = clock.schedule(() => controller.abort(new Error(`no answer within ${limitMs} ms`)), limitMs);
  try {
    return await withEither(signal, controller.signal, call);
  } finally {
    timer.cancel();
  }
}
