/** One thing that `npm run bench` can measure. */
export type Suite = {
  /** One line for --help. */
  readonly about: string;
  /** The suite's own options, for --help. */
  readonly usage: string;
  /** Measures and prints. False when a figure is outside its permitted range; throws when nothing could be measured. */
  run(args: readonly string[]): Promise<boolean>;
};
