import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

export type ProgramOptions = {
  readonly clock: Clock;
  readonly log: Logger;
  /** How long `run` may take to end after a signal. */
  readonly drainMs?: number;
  /** The process, or in tests something that emits its signals. */
  readonly process?: SignalSource;
};

/** What this module needs of a process. */
export interface SignalSource {
  on(event: 'SIGTERM' | 'SIGINT', listener: () => void): unknown;
  off(event: 'SIGTERM' | 'SIGINT', listener: () => void): unknown;
}

/** Unless a program goes on serving for a while first. */
export const DRAIN_MS = 25_000;

/**
 * Runs a program until it ends by itself or a SIGTERM or SIGINT aborts its signal, and tells the exit code: 0 when it ended
 * as asked, 1 when it failed, did not end within the drain time, or was asked a second time.
 */
export async function runProgram(options: ProgramOptions, run: (signal: AbortSignal) => Promise<void>): Promise<number> {
  const { clock, log, drainMs = DRAIN_MS, process: source = process } = options;
  const controller = new AbortController();
  const hurried = Promise.withResolvers<number>();
  let deadline: { cancel(): void } | undefined;
  const stop = (): void => {
    if (controller.signal.aborted) {
      log.warn('asked to stop again, leaving at once');
      hurried.resolve(1);
      return;
    }
    log.info('stopping', { drainMs });
    deadline = clock.schedule(() => {
      log.error('not everything ended in time, leaving', { drainMs });
      hurried.resolve(1);
    }, drainMs);
    controller.abort(new Error('the program was asked to stop'));
  };
  source.on('SIGTERM', stop);
  source.on('SIGINT', stop);
  try {
    return await Promise.race([hurried.promise, runToEnd(run, controller.signal, log)]);
  } finally {
    deadline?.cancel();
    source.off('SIGTERM', stop);
    source.off('SIGINT', stop);
  }
}

async function runToEnd(run: (signal: AbortSignal) => Promise<void>, signal: AbortSignal, log: Logger): Promise<number> {
  try {
    await run(signal);
    log.info('stopped');
    return 0;
  } catch (error) {
    // What was in flight when the signal came fails with the signal's own reason; that is the end that was asked for.
    if (signal.aborted && error === signal.reason) return 0;
    log.error('the program failed', { error });
    return 1;
  }
}
