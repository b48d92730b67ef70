/** What is read from the errors of a simulated program: whose fault they are. */

/** Mistakes of the program itself, as opposed to what a network or a server does to it. */
const BLUNDERS = [TypeError, RangeError, ReferenceError, SyntaxError];
export const isBlunder = (cause: Error): boolean => BLUNDERS.some((type) => cause instanceof type);

export function hasCause(error: unknown, matches: (cause: Error) => boolean): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (matches(cause)) return true;
  return false;
}

/** Its own cluster was restored from a backup: it starts anew, because what it remembers did not happen. */
export const isFreshStart = (error: unknown): boolean => error instanceof Error && error.message.includes('went back in time');

export const isEndOfLeadership = (error: unknown): boolean => error instanceof Error && error.message === 'leadership was lost';

export const describeError = (error: unknown): string =>
  error instanceof Error ? `${error.message}${error.cause === undefined ? '' : ` <- ${describeError(error.cause)}`}` : String(error);
