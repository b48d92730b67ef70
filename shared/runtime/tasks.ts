import { sleep, type Clock } from './clock.ts';
import { firstAbort } from './first-abort.ts';
import type { Logger } from './logger.ts';

/** Work that goes on until its signal aborts. */
export type Task = (signal: AbortSignal) => Promise<unknown>;

/** Runs all of them until `signal` aborts. When one fails the others are stopped, and the failure is thrown when all have ended. */
export async function allOrNone(signal: AbortSignal, tasks: readonly Task[]): Promise<void> {
  const failure = new AbortController();
  const either = AbortSignal.any([signal, failure.signal]);
  await Promise.all(
    tasks.map((task) =>
      task(either).catch((error: unknown) => {
        // What a task throws because it was asked to stop is no failure.
        if (!either.aborted) failure.abort(error);
      }),
    ),
  );
  if (failure.signal.aborted) throw failure.signal.reason;
}

export type Persistence = {
  /** What is logged of each failure, such as 'the user name cannot be read yet'. */
  readonly trouble: string;
  readonly retryMs: number;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Tries again and again. Undefined when `signal` aborted first. */
export async function untilItWorks<T>(
  attempt: () => Promise<T>,
  { trouble, retryMs, clock, log }: Persistence,
  signal: AbortSignal,
): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      return await attempt();
    } catch (error) {
      if (!signal.aborted) log.warn(trouble, { error });
      await sleep(clock, retryMs, signal);
    }
  }
  return undefined;
}

/**
 * Waits for all, so that nothing is under way any more when what failed is thrown: one error as it is, several together as so many of
 * `what`.
 */
export async function allOrThrow<T>(promises: readonly Promise<T>[], what: string): Promise<T[]> {
  const results = await Promise.allSettled(promises);
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} ${what}`);
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

/** Resolves when `signal` aborts. */
export const aborted = (signal: AbortSignal): Promise<void> => new Promise((resolve) => onAbort(signal, resolve));

/** Runs a call with a signal that aborts when either of these does. For calls that are many, under signals that live long. */
export async function withEither<T>(a: AbortSignal, b: AbortSignal, call: (either: AbortSignal) => Promise<T>): Promise<T> {
  const either = firstAbort([a, b]);
  try {
    return await call(either.signal);
  } finally {
    either.release();
  }
}

/** Calls back when `signal` aborts, at once if it has. */
export function onAbort(signal: AbortSignal, callback: () => void): void {
  if (signal.aborted) callback();
  else signal.addEventListener('abort', callback, { once: true });
}
