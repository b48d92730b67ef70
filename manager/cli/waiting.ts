import { CommandError } from './command-error.ts';
import { ExitCode } from './exit-codes.ts';
import type { Session } from './session.ts';

export type Waiting = {
  readonly session: Pick<Session, 'signal'>;
  /** 0: for ever. */
  readonly timeoutMs: number;
  /** Said when the time is over: "x is not done yet". */
  readonly what: string;
};

/**
 * Waits until `work` has called `done`, with which exit code it may say. It is to end once its signal aborts, which happens then, when the
 * time is over, and when the session is interrupted. Resolves with the exit code. Throws CommandError when the time is over.
 */
export async function waitingFor(
  { session, timeoutMs, what }: Waiting,
  work: (signal: AbortSignal, done: (code?: number) => void) => Promise<void>,
): Promise<number> {
  const end = new AbortController();
  let code: number | undefined;
  const done = (of: number = ExitCode.Done): void => {
    code ??= of;
    end.abort();
  };
  let isLate = false;
  const timer = timeoutMs === 0 ? undefined : setTimeout(() => ((isLate = true), end.abort()), timeoutMs);
  try {
    await work(AbortSignal.any([end.signal, session.signal]), done);
  } catch (error) {
    if (!end.signal.aborted && !session.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
  if (code !== undefined) return code;
  if (isLate) throw new CommandError(`${what} after ${timeoutMs / 1000} s; --timeout gives it more time`, ExitCode.TimedOut);
  return ExitCode.Interrupted;
}
