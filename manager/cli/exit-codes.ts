/** Exit codes that mean the same for every command. */
export const ExitCode = {
  Done: 0,
  /** Refused by the cluster, or what was waited for has failed. */
  Failed: 1,
  /** Flags or operands that cannot be used; nothing was done. The same as of every program of ours. */
  Usage: 2,
  /** No answer from the cluster, or it does not know who asks. */
  Unreachable: 3,
  /** What was waited for did not come in time (as of timeout(1)). */
  TimedOut: 124,
  /** Ctrl-C (as of a shell). */
  Interrupted: 130,
} as const;

export const EXIT_CODES: Readonly<Record<number, string>> = {
  [ExitCode.Done]: 'done',
  [ExitCode.Failed]: 'refused, not found, or failed',
  [ExitCode.Usage]: 'wrong usage; nothing was done',
  [ExitCode.Unreachable]: 'the cluster cannot be reached, or does not authenticate you',
  [ExitCode.TimedOut]: 'timed out while waiting',
  [ExitCode.Interrupted]: 'interrupted',
};
