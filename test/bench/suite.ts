/** One thing that `npm run bench` can measure. */
export type Suite = {
  /** One line for --help. */
  readonly about: string;
  /** The suite's own options, for --help. */
  readonly usage: string;
  /**
   * Measures and prints. False when a figure is outside its permitted range; throws when nothing could be measured, and
   * {@link UsageError} when it was asked for what it cannot do.
   */
  run(args: readonly string[]): Promise<boolean>;
};

/** Nothing was wrong but what was typed. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
